/** How many runs, and other things that go on, an endpoint lets go on at once. */

import { PinnaceError } from '../../src/errors.ts';

/** The most runs at once. */
export interface QuotaLimits {
  readonly runsPerTenant: number;
  readonly runs: number;
}

/** Counts runs. */
export interface Quotas {
  /**
   * Counts a run of this tenant, and gives the function that counts it off.
   *
   * @throws PinnaceError `rate_limited` when the tenant has as many as it may, `overloaded` (503) when the instance has.
   */
  enter(tenant: string): () => void;
}

/** Gives quotas with nothing running, of runs or of what else goes on. */
export function createQuotas(
  { runsPerTenant = 16, runs = 200 }: Partial<QuotaLimits> = {},
  what = 'runs',
): Quotas {
  const byTenant = new Map<string, number>();
  let total = 0;
  return {
    enter(tenant) {
      const own = byTenant.get(tenant) ?? 0;
      if (total >= runs) {
        throw new PinnaceError('overloaded', 'The endpoint runs as much as it can: try again later', {
          status: 503,
          retryable: true,
          retryAfterMs: jittered(1000),
        });
      }
      if (own >= runsPerTenant) {
        throw new PinnaceError(
          'rate_limited',
          `Cannot start: ${runsPerTenant} ${what} of this tenant go on, wait for one to end`,
          {
            retryAfterMs: jittered(1000),
          },
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

/** So that those who were turned away do not come back all at once. */
function jittered(ms: number): number {
  return Math.round(ms * (0.8 + 0.4 * Math.random()));
}
