/** Limits how many runs, or event streams, an endpoint has at once. */

import { PinnaceError } from '../../../src/base/errors.ts';

/** The most runs at once. */
export interface QuotaLimits {
  readonly runsPerTenant: number;
  readonly runs: number;
}

/** The quotas that apply when the composition sets none. */
export const defaultQuotas: QuotaLimits = { runsPerTenant: 16, runs: 200 };

/** Counts runs. */
export interface Quotas {
  /**
   * Counts a run of this tenant, and returns the function that releases it.
   *
   * @throws PinnaceError `rate_limited` when the tenant is at its limit, `overloaded` (503) when the instance is.
   */
  enter(tenant: string): () => void;
}

/** Creates quotas with nothing counted yet; `what` is counted, in errors. */
export function createQuotas(
  given: Partial<QuotaLimits> = {},
  what = 'runs',
): Quotas {
  const { runsPerTenant, runs } = { ...defaultQuotas, ...given };
  const byTenant = new Map<string, number>();
  let total = 0;
  return {
    enter(tenant) {
      const own = byTenant.get(tenant) ?? 0;
      if (total >= runs) {
        throw new PinnaceError('overloaded', 'The endpoint runs as much as it can: try again later', {
          status: 503,
          retryable: true,
          details: { reason: 'instance_quota' },
        });
      }
      if (own >= runsPerTenant) {
        throw new PinnaceError(
          'rate_limited',
          `Cannot start: this tenant has ${runsPerTenant} ${what} under way, wait for one to end`,
          { details: { reason: 'tenant_quota' } },
        );
      }
      total += 1;
      byTenant.set(tenant, own + 1);
      let left = false;
      return () => {
        if (left) return;
        left = true;
        total -= 1;
        const rest = (byTenant.get(tenant) ?? 1) - 1;
        if (rest === 0) byTenant.delete(tenant);
        else byTenant.set(tenant, rest);
      };
    },
  };
}
