/** Measures a page for a while by its performance entries: long tasks, delays of interactions, frames, work of its thread. */

import type { Page } from 'playwright';
import { longestWorkMs } from './own-work.ts';

/** The measurements, in milliseconds. */
export interface Measured {
  /** Tasks of 50 ms or more. */
  readonly longTasks: readonly number[];
  /** The longest task by the thread's own clock. */
  readonly longestWorkMs: number;
  /** From an interaction to the next paint; those under 16 ms are reported as 0. */
  readonly interactions: readonly number[];
  /** Between one frame and the next. */
  readonly frames: readonly number[];
  /** The CPU time of the page's thread, without the work of other processes. */
  readonly workMs: number;
  readonly tookMs: number;
}

interface Probe {
  longTasks: number[];
  interactions: Map<number, number>;
  frames: number[];
}

type Probed = typeof globalThis & { probe?: Probe };

/** Measures the page while `act` runs. */
export async function measurePage(page: Page, act: () => Promise<void>): Promise<Measured> {
  const cdp = await page.context().newCDPSession(page);
  await cdp.send('Performance.enable', { timeDomain: 'threadTicks' });
  const workMs = async (): Promise<number> => {
    const { metrics } = await cdp.send('Performance.getMetrics');
    return (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? NaN) * 1000;
  };
  await page.evaluate(startProbe);
  let [tookMs, work] = [0, 0];
  const longest = await longestWorkMs(page, async () => {
    const [worked, started] = [await workMs(), performance.now()];
    await act();
    [tookMs, work] = [performance.now() - started, await workMs() - worked];
  });
  await cdp.detach();
  return { ...await page.evaluate(end), longestWorkMs: longest, workMs: work, tookMs };
}

function startProbe(): void {
  const probe: Probe = { longTasks: [], interactions: new Map(), frames: [] };
  (globalThis as Probed).probe = probe;
  new PerformanceObserver((list) => probe.longTasks.push(...list.getEntries().map(({ duration }) => duration)))
    .observe({ type: 'longtask' });
  new PerformanceObserver((list) => {
    for (const { interactionId, duration } of list.getEntries() as PerformanceEventTiming[]) {
      if (interactionId) {
        probe.interactions.set(interactionId, Math.max(duration, probe.interactions.get(interactionId) ?? 0));
      }
    }
  }).observe({ type: 'event', durationThreshold: 16 } as PerformanceObserverInit);
  let last = performance.now();
  const onFrame = (now: number): void => {
    if ((globalThis as Probed).probe !== probe) return;
    probe.frames.push(now - last);
    last = now;
    requestAnimationFrame(onFrame);
  };
  requestAnimationFrame(onFrame);
}

/** Runs in the page. The browser delivers entries a moment after their events. */
async function end(): Promise<Pick<Measured, 'longTasks' | 'interactions' | 'frames'>> {
  await new Promise((resolve) => setTimeout(resolve, 300));
  const { longTasks = [], interactions = new Map<number, number>(), frames = [] } = (globalThis as Probed).probe ?? {};
  delete (globalThis as Probed).probe;
  return { longTasks, interactions: [...interactions.values()], frames: frames.slice(1) };
}
