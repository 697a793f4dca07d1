/**
 * Runs the test files that failed once more, alone: a busy machine makes a few tests fail that depend on time. What passes then is
 * listed as unstable, so that it gets repaired; what fails again has failed.
 */

import type { Job, JobResult } from './jobs.ts';
import { runJobs } from './jobs.ts';
import { type FileResults, type Totals, unhandled } from './totals.ts';

/** More failed files than these are no accident. */
const mostFiles = 6;

interface SecondRun {
  readonly totals: Totals;
  readonly commandOf: (project: string, files: readonly string[]) => string;
}

/**
 * Runs what failed again, one project at a time. Returns the results, with those of the second run in place of the first. Nothing runs
 * again after a failure that is not of a test file: a crash, a missing report, an error outside of tests.
 */
export async function repeatFailed(
  results: readonly JobResult[],
  { totals, commandOf }: SecondRun,
): Promise<readonly JobResult[]> {
  const failed = results.filter(({ status }) => status !== 'passed')
    .map(({ name }) => ({ name, files: totals.failedFirst(name).map(({ file }) => file) }));
  const isAccident = failed.every(({ files }) => files.length > 0 && !files.includes(unhandled)) &&
    failed.reduce((sum, { files }) => sum + files.length, 0) <= mostFiles;
  if (!isAccident || failed.length === 0) return results;
  const jobs: readonly Job[] = failed.map(({ name, files }) => ({ name, command: commandOf(name, files) }));
  const again = new Map((await runJobs(jobs, 1)).map((result) => [result.name, result]));
  return results.map((first) => {
    const second = again.get(first.name);
    if (!second) return first;
    const status = second.status === 'passed' && hasPassedAgain(first.name, totals) ? 'passed' : 'failed';
    return { ...second, status, seconds: first.seconds + second.seconds };
  });
}

/** Whether the second run recorded each failed file, with tests that passed and none that failed. */
function hasPassedAgain(project: string, totals: Totals): boolean {
  const second = totals.readRun(project, 'second') ?? [];
  return second.every(({ failures }) => failures.length === 0) &&
    totals.failedFirst(project).every(({ file }) => second.some((one) => one.file === file && one.passed > 0));
}

/** Prints what is unstable and what failed, with the message of each: the last lines of a long log are what people read. */
export function reportFailures(projects: readonly string[], totals: Totals): void {
  for (const project of projects) {
    const last = totals.read(project);
    for (const first of totals.failedFirst(project)) {
      const failures = last.flatMap((one) => one.file === first.file ? one.failures : []);
      if (failures.length === 0) print('unstable (passed when run again alone)', project, first);
      else print('failed', project, { ...first, failures });
    }
  }
}

function print(word: string, project: string, { file, failures }: FileResults): void {
  for (const { title, message } of failures) {
    console.log(`\n${word}: ${project} ${file}\n  ${title}`);
    for (const line of message.split('\n').slice(0, 8)) console.log(`    ${line.slice(0, 200)}`);
  }
}
