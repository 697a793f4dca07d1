/**
 * Runs the test files that failed once more, alone: a busy machine makes a few tests fail that depend on time. What passes then is
 * listed as unstable, so that it gets repaired; what fails again has failed.
 */

import type { Job, JobResult } from './jobs.ts';
import { runJobs } from './jobs.ts';
import { failedFirst, type FileResults, readResults } from './totals.ts';

/** More failed files than these are no accident. */
const mostFiles = 6;

/** Runs what failed again, one project at a time. Returns the results, with those of the second run in place of the first. */
export async function repeatFailed(
  results: readonly JobResult[],
  commandOf: (project: string, files: readonly string[]) => string,
): Promise<readonly JobResult[]> {
  const failed = results.filter(({ status }) => status === 'failed')
    .map(({ name }) => ({ name, files: failedFirst(name).map(({ file }) => file) }));
  const isAccident = failed.every(({ files }) => files.length > 0) &&
    failed.reduce((sum, { files }) => sum + files.length, 0) <= mostFiles;
  if (!isAccident || failed.length === 0) return results;
  const jobs: readonly Job[] = failed.map(({ name, files }) => ({ name, command: commandOf(name, files) }));
  const again = new Map((await runJobs(jobs, 1)).map((result) => [result.name, result]));
  return results.map((first) => {
    const second = again.get(first.name);
    return second ? { ...second, seconds: first.seconds + second.seconds } : first;
  });
}

/** Prints what is unstable and what failed, with the message of each: the last lines of a long log are what people read. */
export function reportFailures(projects: readonly string[]): void {
  for (const project of projects) {
    const last = readResults(project);
    for (const first of failedFirst(project)) {
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
