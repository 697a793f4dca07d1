/** The tasks of a thread of the page by its own clock: what others take of a busy machine meanwhile is not in it. */

import type { Page } from 'playwright';

/** What is looked at of an event of a trace; times in microseconds. */
interface TraceEvent {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  /** Of the thread's own time. */
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
}

/** Runs `act`, and returns the longest task of the pages' threads meanwhile, in milliseconds of CPU time. */
export async function longestWorkMs(page: Page, act: () => Promise<void>): Promise<number> {
  return Math.max(...await worksMs(page, act, 'CrRendererMain'));
}

/** Runs `act`, and returns the tasks of the threads of this name meanwhile, in milliseconds of CPU time. */
export async function worksMs(
  page: Page,
  act: () => Promise<void>,
  thread: 'CrRendererMain' | 'DedicatedWorker thread',
): Promise<number[]> {
  const browser = page.context().browser();
  if (!browser) throw new Error('The page has no browser of its own to be traced in');
  const cdp = await browser.newBrowserCDPSession();
  const events: TraceEvent[] = [];
  cdp.on('Tracing.dataCollected', ({ value }) => events.push(...value as unknown as TraceEvent[])); // safe: Chromium's trace format
  const ended = new Promise<void>((resolve) => void cdp.once('Tracing.tracingComplete', () => resolve()));
  await cdp.send('Tracing.start', {
    transferMode: 'ReportEvents',
    traceConfig: { includedCategories: ['toplevel'], excludedCategories: ['*'] },
  });
  await act();
  await cdp.send('Tracing.end');
  await ended;
  await cdp.detach();
  return tasksOf(events, thread);
}

function tasksOf(events: readonly TraceEvent[], thread: string): number[] {
  const threadOf = ({ pid, tid }: TraceEvent): string => `${pid}/${tid}`;
  const threads = new Set(
    events.filter(({ name, args }) => name === 'thread_name' && args?.name === thread).map(threadOf),
  );
  const tasks = events.filter((event) => event.name.endsWith('RunTask') && threads.has(threadOf(event)));
  if (tasks.length === 0) throw new Error(`The trace has no task of a ${thread}`);
  return tasks.map(({ tdur = 0 }) => tdur / 1000);
}
