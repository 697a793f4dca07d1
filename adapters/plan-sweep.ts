/** Looks now and then for plans whose time has come, or whose process is gone. */

import type { Planner } from '../src/planner/planner.ts';

const everyMs = 15_000;

/** Sweeps at once and from then on, one sweep at a time; gives how to stop. What fails is left to the next. */
export function sweepPlans(
  planner: Pick<Planner, 'sweep'>,
  { intervalMs = everyMs }: { readonly intervalMs?: number } = {},
): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let stopped = false;
  const sweep = async (): Promise<void> => {
    await planner.sweep().catch(() => undefined);
    if (!stopped) timer = setTimeout(() => void sweep(), intervalMs);
  };
  void sweep();
  return () => {
    stopped = true;
    clearTimeout(timer);
  };
}

/** Creates a function that sweeps when enough time has passed since it last did: for platforms where only requests wake a process. */
export function sweepOnRequest(
  planner: Pick<Planner, 'sweep'>,
  { now = Date.now }: { readonly now?: () => number } = {},
): () => void {
  let lastAt = -Infinity;
  return () => {
    if (now() - lastAt < everyMs) return;
    lastAt = now();
    void planner.sweep().catch(() => undefined);
  };
}
