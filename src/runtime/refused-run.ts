/** Counts the runs that were refused before they started. */

import { toPinnaceError } from '../base/errors.ts';
import type { Metrics } from '../base/metrics.ts';

/** Adds to the metric of refused runs, under the error's code and its reason, which are fixed words. */
export function countRefusedRun(metrics: Metrics, thrown: unknown): void {
  const { code, details } = toPinnaceError(thrown);
  const reason = details?.['reason'];
  const isWord = typeof reason === 'string' && /^[a-z_]{1,64}$/.test(reason);
  metrics.count('pinnace_runs_refused_total', { code, reason: isWord ? reason : code });
}
