/** Counts the tests of all projects, from the files that vitest writes, and the checks that failed. Run by itself it prints the sum. */

import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { JobResult } from './jobs.ts';

const folder = 'node_modules/.cache/tests';
const checksFile = 'node_modules/.cache/failed-checks.json';

/** The path of the results of one project. */
export function resultsFile(project: string): string {
  return `${folder}/${project}.json`;
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

/** Prints `N passed, N failed`. A file that could not be loaded counts as one failed test. */
export function printTotals({ failedChecks = 0 } = {}): void {
  let [passed, failed] = [0, failedChecks];
  for (const path of globSync(`${folder}/*.json`)) {
    // Safe: vitest wrote it, in the format of Jest.
    const results = JSON.parse(readFileSync(path, 'utf8')) as Results;
    passed += results.numPassedTests;
    failed += results.numFailedTests;
    failed += results.testResults.filter(({ status, assertionResults }) =>
      status === 'failed' && assertionResults.every((result) =>
        result.status !== 'failed'
      )
    ).length;
  }
  console.log(`${passed} passed, ${failed} failed`);
}

interface Results {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly testResults: readonly {
    readonly status: string;
    readonly assertionResults: readonly { readonly status: string }[];
  }[];
}

if (import.meta.main) printTotals({ failedChecks: JSON.parse(readFileSync(checksFile, 'utf8')) as number }); // safe: see storeChecks
