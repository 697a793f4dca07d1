/**
 * Work counted in steps of code, for limits that hold on every machine however busy it is. For tests in Node that run alone: import it
 * before the code that it counts.
 */

import { Session } from 'node:inspector/promises';

const session = new Session();
session.connect();
await session.post('Profiler.enable');
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });

/** How many blocks of code in `src` and `adapters` a piece of work enters: calls and rounds of loops, as V8 counts them for coverage. */
export async function stepsOf(work: () => unknown): Promise<number> {
  await session.post('Profiler.takePreciseCoverage'); // what came before does not count
  await work();
  const { result } = await session.post('Profiler.takePreciseCoverage');
  return result
    .filter(({ url }) => /\/(?:src|adapters)\//.test(url) && !/\/(?:node_modules|test)\//.test(url))
    .flatMap(({ functions }) => functions.flatMap(({ ranges }) => ranges))
    .reduce((sum, { count }) => sum + count, 0);
}
