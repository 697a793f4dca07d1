/** Limits how many runs, or event streams, an endpoint has at once. */

import { PinnaceError } from '../../../src/base/errors.ts';

/** The most runs at once. A plan counts as one while it works, also after its client has left. */
export interface QuotaLimits {
  /** Of one tenant. Default: 16. */
  readonly runsPerTenant: number;
  /** Of one subject of a tenant, so that one person cannot take all of them. Default: half of `runsPerTenant`. */
  readonly runsPerSubject: number;
  /** Of the instance. Default: 200. */
  readonly runs: number;
}

/** The quotas that apply when the composition sets none. */
export const defaultQuotas: QuotaLimits = { runsPerTenant: 16, runsPerSubject: 8, runs: 200 };

/** Counts runs. */
export interface Quotas {
  /**
   * Counts a run of this subject, and returns the function that releases it.
   *
   * @throws PinnaceError `rate_limited` when the subject or its tenant is at its limit, `overloaded` (503) when the instance is.
   */
  enter(caller: { readonly tenant: string; readonly subject: string }): () => void;
}

/** Creates quotas with nothing counted yet; `what` is counted, in errors. */
export function createQuotas(given: Partial<QuotaLimits> = {}, what = 'runs'): Quotas {
  const { runsPerTenant = defaultQuotas.runsPerTenant, runs = defaultQuotas.runs } = given;
  const { runsPerSubject = Math.ceil(runsPerTenant / 2) } = given;
  const open = new Map<string, number>();
  let total = 0;
  const change = (key: string, by: 1 | -1): void => {
    const count = (open.get(key) ?? 0) + by;
    if (count === 0) open.delete(key);
    else open.set(key, count);
  };
  return {
    enter({ tenant, subject }) {
      const keys = [JSON.stringify([tenant]), JSON.stringify([tenant, subject])] as const;
      if (total >= runs) throw instanceFull();
      if ((open.get(keys[0]) ?? 0) >= runsPerTenant) throw full('tenant', { most: runsPerTenant, what });
      if ((open.get(keys[1]) ?? 0) >= runsPerSubject) throw full('subject', { most: runsPerSubject, what });
      total += 1;
      for (const key of keys) change(key, 1);
      let hasLeft = false;
      return () => {
        if (hasLeft) return;
        hasLeft = true;
        total -= 1;
        for (const key of keys) change(key, -1);
      };
    },
  };
}

function instanceFull(): PinnaceError {
  return new PinnaceError('overloaded', 'The endpoint runs as much as it can: try again later', {
    details: { reason: 'instance_quota' },
  });
}

function full(
  of: 'tenant' | 'subject',
  { most, what }: { readonly most: number; readonly what: string },
): PinnaceError {
  const owner = of === 'tenant' ? 'this tenant has' : 'you have';
  return new PinnaceError(
    'rate_limited',
    `Cannot start: ${owner} ${most} ${what} under way, wait for one to end`,
    { details: { reason: `${of}_quota` } },
  );
}
