/** Sweeps plans at intervals: resumes those that are due, or whose process has ended. */

import { checkNames, optional } from '../../src/base/check-options.ts';
import { type Report, reportHidden, unreported } from '../../src/events/report.ts';
import type { Planner } from '../../src/planner/planner.ts';

const everyMs = 15_000;

/** Sweeps at once and then at intervals, one sweep at a time. Returns the function that stops it. A failed sweep is left to the next. */
export function sweepPlans(
  planner: Pick<Planner, 'sweep'>,
  options: { readonly intervalMs?: number; readonly report?: Report } = {},
): () => void {
  checkNames('sweep plans', options, optional('intervalMs', 'report'));
  const { intervalMs = everyMs, report = unreported } = options;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let stopped = false;
  const sweep = async (): Promise<void> => {
    await planner.sweep().catch(reportTo(report));
    if (!stopped) timer = setTimeout(() => void sweep(), intervalMs);
  };
  void sweep();
  return () => {
    stopped = true;
    clearTimeout(timer);
  };
}

/** Returns a function that sweeps if enough time has passed since the last sweep, for platforms where only requests wake a process. */
export function sweepOnRequest(
  planner: Pick<Planner, 'sweep'>,
  options: { readonly now?: () => number; readonly report?: Report } = {},
): () => void {
  checkNames('sweep plans', options, optional('now', 'report'));
  const { now = Date.now, report = unreported } = options;
  let lastAt = -Infinity;
  return () => {
    if (now() - lastAt < everyMs) return;
    lastAt = now();
    void planner.sweep().catch(reportTo(report));
  };
}

/** Returns the handler for a sweep that fails: it is left to the next. */
export function reportTo(report: Report): (error: unknown) => void {
  return (error) => reportHidden(report, error, { kind: 'plan', id: 'sweep' });
}
