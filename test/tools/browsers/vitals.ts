/** Measures a page by its performance entries, as Lighthouse does: paints, blocking, layout shifts, interaction delays. */

import type { BrowserContext, Page } from 'playwright';

/** Milliseconds since the navigation, or of a duration. */
export interface Vitals {
  readonly firstPaintMs: number;
  readonly largestPaintMs: number;
  /** The longest task of the page's thread; 0 where none took 50 ms. */
  readonly longestTaskMs: number;
  /** What tasks took beyond 50 ms, in all. */
  readonly blockingMs: number;
  /** From what a person did to the next paint, the slowest; 0 below 16 ms. */
  readonly interactionMs: number;
  /** How much moved by itself: 0 nothing, 1 everything in sight by its whole height. */
  readonly layoutShift: number;
}

interface Recorded {
  readonly longTasks: number[];
  largestPaintMs: number;
  interactionMs: number;
  layoutShift: number;
}

type Measured = typeof globalThis & { vitals?: Recorded };

/** Measures every page of the context from its start. */
export async function watchVitals(context: BrowserContext): Promise<void> {
  await context.addInitScript(watch);
}

/** Reads the measurements so far. The browser delivers entries a moment after their events, so wait for two frames. */
export async function vitalsOf(page: Page): Promise<Vitals> {
  return await page.evaluate(read);
}

/** Runs in the page before all else. */
function watch(): void {
  const recorded: Recorded = { longTasks: [], largestPaintMs: NaN, interactionMs: 0, layoutShift: 0 };
  (globalThis as Measured).vitals = recorded;
  const observe = (type: string, take: (entry: PerformanceEntry) => void): void =>
    new PerformanceObserver((list) => list.getEntries().forEach(take))
      .observe({ type, buffered: true, durationThreshold: 16 } as PerformanceObserverInit);
  observe('longtask', ({ duration }) => recorded.longTasks.push(duration));
  observe('largest-contentful-paint', ({ startTime }) => (recorded.largestPaintMs = startTime));
  observe('layout-shift', (entry) => {
    const { value, hadRecentInput } = entry as PerformanceEntry & { value: number; hadRecentInput: boolean }; // safe: what these entries have
    if (!hadRecentInput) recorded.layoutShift += value;
  });
  observe('event', (entry) => {
    const { interactionId, duration } = entry as PerformanceEventTiming;
    if (interactionId) recorded.interactionMs = Math.max(recorded.interactionMs, duration);
  });
}

/** Runs in the page. */
async function read(): Promise<Vitals> {
  for (let i = 0; i < 2; i++) await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 0)));
  const { vitals } = globalThis as Measured;
  if (!vitals) throw new Error('The page was not measured');
  const { longTasks, ...rest } = vitals;
  return {
    ...rest,
    firstPaintMs: performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN,
    longestTaskMs: Math.max(0, ...longTasks),
    blockingMs: longTasks.reduce((sum, duration) => sum + Math.max(0, duration - 50), 0),
  };
}
