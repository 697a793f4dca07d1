/**
 * Measures the longest turn of the event loop by the CPU time of its thread: other processes on the same core do not count.
 */

import process from 'node:process';

/** The measured turns. */
export interface SeenTurns {
  /** CPU milliseconds of the longest turn, with the garbage that was collected in it. */
  readonly longest: number;
  /** The share of turns that took longer than 8 ms. */
  readonly late: number;
}

const usualMs = 8;

/** Measures until the returned function is called. */
export function watchTurns(): () => SeenTurns {
  let [longest, late, turns, running] = [0, 0, 0, true];
  let last = threadCpuMs();
  const look = (): void => {
    const now = threadCpuMs();
    longest = Math.max(longest, now - last);
    if (now - last > usualMs) late++;
    turns++;
    last = now;
    if (running) setImmediate(look);
  };
  setImmediate(look);
  return () => {
    running = false;
    return { longest, late: late / Math.max(1, turns) };
  };
}

function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
