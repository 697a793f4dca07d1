/** Counts the tests of all projects, from the files that vitest writes. */

import { globSync, readFileSync, rmSync } from 'node:fs';

const folder = 'node_modules/.cache/tests';

/** The path of the results of one project. */
export function resultsFile(project: string): string {
  return `${folder}/${project}.json`;
}

/** Removes the results of earlier runs. */
export function forgetTotals(): void {
  rmSync(folder, { recursive: true, force: true });
}

/** Prints `N passed, N failed`. A file that could not be loaded counts as one failed test. */
export function printTotals(): void {
  let [passed, failed] = [0, 0];
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
