/** Counts the tests of all projects, from the files that vitest writes, and the checks that failed. Run by itself it prints the sum. */

import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, relative } from 'node:path';
import type { JobResult } from './jobs.ts';

const folder = 'node_modules/.cache/tests';
const checksFile = 'node_modules/.cache/failed-checks.json';

/** The results of one test file. */
export interface FileResults {
  readonly file: string;
  readonly passed: number;
  /** Title and message of each; a file that could not be loaded is one failed test. */
  readonly failures: readonly { readonly title: string; readonly message: string }[];
}

/** The path of the results of one project. */
export function resultsFile(project: string, run: 'first' | 'second' = 'first'): string {
  return `${folder}/${run}/${project}.json`;
}

/** Removes the results of earlier runs. */
export function forgetTotals(): void {
  rmSync(folder, { recursive: true, force: true });
}

/** Stores how many checks failed, for the sum of `.ci/run`. */
export function storeChecks(results: readonly JobResult[]): void {
  mkdirSync('node_modules/.cache', { recursive: true });
  writeFileSync(checksFile, JSON.stringify(results.filter(({ status }) => status !== 'passed').length));
}

/** Reads the results of a project: of the second run for the files that ran again, else of the first. */
export function readResults(project: string): readonly FileResults[] {
  const second = readRun(project, 'second');
  const again = new Set(second.map(({ file }) => file));
  return [...readRun(project, 'first').filter(({ file }) => !again.has(file)), ...second];
}

/** The files of a project that failed in the first run. */
export function failedFirst(project: string): readonly FileResults[] {
  return readRun(project, 'first').filter(({ failures }) => failures.length > 0);
}

/** Prints `N passed, N failed`. */
export function printTotals({ failedChecks = 0 } = {}): void {
  const files = globSync(`${folder}/first/*.json`).flatMap((path) => readResults(basename(path, '.json')));
  const passed = files.reduce((sum, file) => sum + file.passed, 0);
  const failed = files.reduce((sum, file) => sum + file.failures.length, failedChecks);
  console.log(`${passed} passed, ${failed} failed`);
}

function readRun(project: string, run: 'first' | 'second'): readonly FileResults[] {
  const path = resultsFile(project, run);
  if (!existsSync(path)) return [];
  // Safe: vitest wrote it, in the format of Jest.
  const { testResults } = JSON.parse(readFileSync(path, 'utf8')) as Results;
  return testResults.map(({ name, status, message, assertionResults }) => {
    const failures = assertionResults.filter((test) => test.status === 'failed')
      .map(({ fullName, failureMessages }) => ({ title: fullName, message: failureMessages?.join('\n') ?? '' }));
    const isUnloaded = status === 'failed' && failures.length === 0;
    return {
      file: relative('.', name),
      passed: assertionResults.filter((test) => test.status === 'passed').length,
      failures: isUnloaded ? [{ title: 'the file itself', message: message ?? '' }] : failures,
    };
  });
}

interface Results {
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message?: string;
    readonly assertionResults: readonly {
      readonly status: string;
      readonly fullName: string;
      readonly failureMessages?: readonly string[] | null;
    }[];
  }[];
}

if (import.meta.main) printTotals({ failedChecks: JSON.parse(readFileSync(checksFile, 'utf8')) as number }); // safe: see storeChecks
