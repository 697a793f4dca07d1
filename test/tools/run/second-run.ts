/**
 * Runs the test files that failed once more, alone: a busy machine makes a few tests fail that depend on time. What passes then is
 * listed as unstable, so that it gets repaired; what fails again has failed. A project whose browser did not start runs again as a whole.
 */

import type { Job, JobResult } from './jobs.ts';
import { runJobs } from './jobs.ts';
import { type FileResults, type Totals, unhandled } from './totals.ts';

/** More failed files than these are no accident. */
const mostFiles = 6;

/** What vitest says of a browser that was not there in time: no test of it ran. */
const noBrowser = /^Error: Failed to connect to the browser session /;

interface SecondRun {
  readonly totals: Totals;
  readonly commandOf: (project: string, files: readonly string[]) => string;
}

/**
 * Runs what failed again, one project at a time. Returns the results, with those of the second run in place of the first. Nothing runs
 * again after a failure that is not of a test file: a crash, a missing report, an error outside of tests other than a missing browser.
 */
export async function repeatFailed(
  results: readonly JobResult[],
  { totals, commandOf }: SecondRun,
): Promise<readonly JobResult[]> {
  const failed = results.filter(({ status }) => status !== 'passed').map(({ name }) => {
    const first = totals.failedFirst(name);
    return { name, files: first.map(({ file }) => file), isUnstarted: isWithoutBrowser(first) };
  });
  const isAccident =
    failed.every(({ files, isUnstarted }) => isUnstarted || (files.length > 0 && !files.includes(unhandled))) &&
    failed.reduce((sum, { files }) => sum + files.length, 0) <= mostFiles;
  if (!isAccident || failed.length === 0) return results;
  const jobs: readonly Job[] = failed.map(({ name, files, isUnstarted }) => ({
    name,
    command: commandOf(name, isUnstarted ? [] : files), // without files its report takes the place of the first
  }));
  const again = new Map((await runJobs(jobs, 1)).map((result) => [result.name, result]));
  return results.map((first) => {
    const second = again.get(first.name);
    if (!second) return first;
    const status = second.status === 'passed' && hasPassedAgain(first.name, totals) ? 'passed' : 'failed';
    return { ...second, status, seconds: first.seconds + second.seconds };
  });
}

function isWithoutBrowser(first: readonly FileResults[]): boolean {
  const errors = first.find(({ file }) => file === unhandled)?.failures ?? [];
  return errors.length > 0 && errors.every(({ message }) => noBrowser.test(message));
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
