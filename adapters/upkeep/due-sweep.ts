/** Sweeps at intervals: starts what is due, and continues what a process that has ended has left. */

import { checkNames, optional } from '../../src/base/check-options.ts';
import { type Report, reportHidden, unreported } from '../../src/events/report.ts';

/** A runtime, or a planner that was created alone. */
interface Swept {
  sweep(): Promise<unknown>;
}

const everyMs = 15_000;

/**
 * Sweeps at once and then at intervals, one sweep at a time. Returns the function that stops it. A failed sweep is left to the next.
 * What becomes due between two sweeps, the process starts by an alarm.
 *
 * @example
 * const stop = sweepDue(runtime);
 */
export function sweepDue(
  swept: Swept,
  options: { readonly intervalMs?: number; readonly report?: Report } = {},
): () => void {
  checkNames('sweep what is due', options, optional('intervalMs', 'report'));
  const { intervalMs = everyMs, report = unreported } = options;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let stopped = false;
  const sweep = async (): Promise<void> => {
    await swept.sweep().catch(reportTo(report));
    if (!stopped) timer = setTimeout(() => void sweep(), intervalMs);
  };
  void sweep();
  return () => {
    stopped = true;
    clearTimeout(timer);
  };
}

/** @deprecated The name of `sweepDue` in 0.2. */
export function sweepPlans(...given: Parameters<typeof sweepDue>): () => void {
  return sweepDue(...given);
}

/** Returns a function that sweeps if enough time has passed since the last sweep, for platforms where only requests wake a process. */
export function sweepOnRequest(
  swept: Swept,
  options: { readonly now?: () => number; readonly report?: Report } = {},
): () => void {
  checkNames('sweep what is due', options, optional('now', 'report'));
  const { now = Date.now, report = unreported } = options;
  let lastAt = -Infinity;
  return () => {
    if (now() - lastAt < everyMs) return;
    lastAt = now();
    void swept.sweep().catch(reportTo(report));
  };
}

/** Returns the handler for a sweep that fails: it is left to the next. */
export function reportTo(report: Report): (error: unknown) => void {
  return (error) => reportHidden(report, error, { kind: 'due', id: 'sweep' });
}
