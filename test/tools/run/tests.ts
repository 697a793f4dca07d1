/** What `npm test` does: runs the test projects side by side, and what failed once more. With arguments it runs vitest with these. */

import { spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { reportJobs, runJobs } from './jobs.ts';
import { repeatFailed, reportFailures } from './second-run.ts';
import { openTotals } from './totals.ts';

const totals = openTotals();
const [first, ...rest] = process.argv.slice(2);
const isLong = first === '--long';
const args = isLong ? rest : process.argv.slice(2);
if (isLong) process.env['PINNACE_TEST'] = 'long';
/** The processes that tests start compile each module once, not each of them anew. */
process.env['NODE_COMPILE_CACHE'] ??= join(import.meta.dirname, '../../../node_modules/.cache/compiled');

/** The longest first, and what waits beside what computes. */
const projects = ['e2e', 'node', 'browser', 'deno', 'dom'] as const;
/** On two cores each project has one worker, apart from the end-to-end tests, which mostly wait, and Node's, which are the most. */
const workers = Math.max(1, Math.floor(availableParallelism() / 2));

function commandOf(project: string, files: readonly string[] = []): string {
  const vitest = project === 'deno' ? 'deno run -A npm:vitest' : 'vitest';
  const names = ['node', 'deno', 'browser'].includes(project) ? [project, `${project}-alone`] : [project];
  return [
    `${vitest} run`,
    ...files,
    ...names.map((name) => `--project=${name}`),
    `--maxWorkers=${['e2e', 'node'].includes(project) ? 2 * workers : workers}`,
    `--outputFile.json=${totals.file(project, files.length > 0 ? 'second' : 'first')}`,
  ].join(' ');
}

if (args.length > 0) {
  process.exitCode = spawnSync('vitest', ['run', ...args], { stdio: 'inherit' }).status ?? 1;
} else {
  totals.clear();
  const jobs = projects.map((name) => ({ name, command: commandOf(name) }));
  const results = await repeatFailed(await runJobs(jobs, 3), { totals, commandOf }); // there is always one that waits
  totals.storeEnds(results);
  reportFailures(projects, totals);
  reportJobs(results);
  console.log(totals.sum());
}
