/**
 * Measures the longest turn of the event loop by the CPU time of its thread: other processes on the same core do not count. An idle
 * loop whose turns take 2 ms shows up to 4.6 ms here, so that much is noise of a virtual machine.
 */

import { PerformanceObserver } from 'node:perf_hooks';
import process from 'node:process';
import { setImmediate } from 'node:timers';

export interface SeenTurns {
  /** CPU milliseconds of the longest turn, with the garbage that was collected in it. */
  readonly longest: number;
  /** CPU milliseconds of the longest turn, less the time in which garbage was collected in it. */
  readonly longestOfWork: number;
  /** The share of turns that took longer than 8 ms. */
  readonly late: number;
}

interface Turn {
  readonly start: number;
  readonly end: number;
  readonly cpu: number;
}

const usualMs = 8;

/** Measures until the returned function is called. */
export function watchTurns(): () => Promise<SeenTurns> {
  const long: Turn[] = [];
  const collections: { readonly startTime: number; readonly duration: number }[] = [];
  const observer = new PerformanceObserver((list) => collections.push(...list.getEntries()));
  observer.observe({ entryTypes: ['gc'] });
  let [longest, turns, running] = [0, 0, true];
  let [last, start] = [threadCpuMs(), performance.now()];
  const look = (): void => {
    const [now, end] = [threadCpuMs(), performance.now()];
    longest = Math.max(longest, now - last);
    if (now - last > usualMs / 2) long.push({ start, end, cpu: now - last });
    turns++;
    [last, start] = [now, end];
    if (running) setImmediate(look);
  };
  setImmediate(look);
  return async () => {
    running = false;
    await new Promise((resolve) => setTimeout(resolve)); // what was collected last is reported later
    observer.disconnect();
    const work = long.map((turn) => turn.cpu - Math.min(turn.cpu, collectedIn(turn)));
    const late = long.filter(({ cpu }) => cpu > usualMs).length;
    return { longest, longestOfWork: Math.max(0, ...work), late: late / Math.max(1, turns) };
  };

  function collectedIn({ start: from, end }: Turn): number {
    const within = collections.filter(({ startTime }) => startTime >= from && startTime < end);
    return within.reduce((sum, { duration }) => sum + duration, 0);
  }
}

/**
 * Linux brings the time of a thread up to date at its ticks, every 4 ms, and when the time of its whole process is read: with that,
 * the clock has steps of microseconds.
 */
function threadCpuMs(): number {
  process.cpuUsage();
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
