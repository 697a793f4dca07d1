/** Time by the work of this thread, for limits that must hold on a machine that is busy or slow. For tests in Node. */

import process from 'node:process';

/** How many milliseconds this thread has worked. What others take of the machine meanwhile is not in it. */
export function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** What `work` takes where the limits were set. */
const usualMs = 16;

/** How many times slower this machine is than the one where the limits were set; 1 for a faster one. */
export function slowness(): number {
  const rows = Array.from(
    { length: 5000 },
    (_, i) => ({ id: `row-${i}`, text: 'a"b'.repeat(i % 20), list: [i, -i, null] }),
  );
  const text = JSON.stringify(rows);
  return Math.max(1, Math.min(...Array.from({ length: 5 }, () => work(text))) / usualMs);
}

function work(text: string): number {
  const started = threadMs();
  for (let i = 0; i < 5; i++) JSON.stringify(JSON.parse(text)).replace(/[a-z]"/g, 'x');
  return threadMs() - started;
}
