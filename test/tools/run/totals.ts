/** Counts the tests of all projects, from the files that vitest writes, and the checks that failed. Run by itself it prints the sum. */

import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import type { JobResult } from './jobs.ts';
import { unhandledFile } from './unhandled-errors.ts';

const cache = 'node_modules/.cache';
const checksFile = join(cache, 'failed-checks.json');
const defaultFolder = join(cache, 'tests');

export interface FileResults {
  readonly file: string;
  readonly passed: number;
  /** Title and message of each; a file that could not be loaded is one failed test. */
  readonly failures: readonly Failure[];
}

interface Failure {
  readonly title: string;
  readonly message: string;
}

type Run = 'first' | 'second';

/** The results of the test projects, in the files of a folder. */
export interface Totals {
  /** The path of the results of one project. */
  file(project: string, run?: Run): string;
  /** Removes the results of earlier runs. */
  clear(): void;
  /** Stores how the projects ended, for `print`. */
  storeEnds(results: readonly JobResult[]): void;
  /** The results of a project: of the second run for the files that ran again, else of the first. */
  read(project: string): readonly FileResults[];
  /** What one run recorded; `undefined`: it wrote no results. */
  readRun(project: string, run: Run): readonly FileResults[] | undefined;
  /** The files of a project that failed in the first run, and the errors outside of tests. */
  failedFirst(project: string): readonly FileResults[];
  /** Returns `N passed, N failed`. A project that failed without a failed test counts as one failure. */
  sum(options?: { readonly failedChecks?: number }): string;
}

/** The entry of errors that no test caught. */
export const unhandled = '(outside of tests)';

export function openTotals(folder: string = defaultFolder): Totals {
  const endsFile = join(folder, 'ends.json');
  const file = (project: string, run: Run = 'first'): string => join(folder, run, `${project}.json`);
  const readRun = (project: string, run: Run): readonly FileResults[] | undefined => readResults(file(project, run));
  const failedFirst = (project: string): readonly FileResults[] =>
    readRun(project, 'first')?.filter(({ failures }) => failures.length > 0) ?? [];
  const read = (project: string): readonly FileResults[] => {
    const second = readRun(project, 'second') ?? [];
    const again = new Set(second.map((one) => one.file));
    return [...(readRun(project, 'first') ?? []).filter((one) => !again.has(one.file)), ...second];
  };
  return {
    file,
    readRun,
    failedFirst,
    read,
    clear: () => rmSync(folder, { recursive: true, force: true }),
    storeEnds: (results) => store(endsFile, results),
    sum({ failedChecks = 0 } = {}) {
      if (!existsSync(endsFile)) return `0 passed, ${1 + failedChecks} failed`; // the run did not come to its end
      const ends = JSON.parse(readFileSync(endsFile, 'utf8')) as readonly JobResult[]; // safe: see storeEnds
      const totals = ends.map(({ name, status }) => {
        const files = read(name);
        const failed = files.reduce((sum, { failures }) => sum + failures.length, 0);
        return {
          passed: files.reduce((sum, { passed }) => sum + passed, 0),
          failed: status === 'passed' ? failed : Math.max(1, failed),
        };
      });
      const passed = totals.reduce((sum, one) => sum + one.passed, 0);
      const failed = totals.reduce((sum, one) => sum + one.failed, failedChecks);
      return `${passed} passed, ${failed} failed`;
    },
  };
}

/** Stores how many checks failed, for the sum of `.ci/run`. */
export function storeChecks(results: readonly JobResult[]): void {
  store(checksFile, results.filter(({ status }) => status !== 'passed').length);
}

function store(path: string, value: unknown): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, JSON.stringify(value));
}

function readResults(path: string): readonly FileResults[] | undefined {
  if (!existsSync(path)) return undefined;
  // Safe: vitest wrote it, in the format of Jest.
  const { testResults } = JSON.parse(readFileSync(path, 'utf8')) as Results;
  const errors = existsSync(unhandledFile(path))
    ? JSON.parse(readFileSync(unhandledFile(path), 'utf8')) as readonly Failure[] // safe: see unhandledErrors
    : [];
  const files = testResults.map(({ name, status, message, assertionResults }) => {
    const failures = assertionResults.filter((test) => test.status === 'failed')
      .map(({ fullName, failureMessages }) => ({ title: fullName, message: failureMessages?.join('\n') ?? '' }));
    const isUnloaded = status === 'failed' && failures.length === 0;
    return {
      file: relative('.', name),
      passed: assertionResults.filter((test) => test.status === 'passed').length,
      failures: isUnloaded ? [{ title: 'the file itself', message: message ?? '' }] : failures,
    };
  });
  return errors.length === 0 ? files : [...files, { file: unhandled, passed: 0, failures: errors }];
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

if (import.meta.main) {
  console.log(openTotals().sum({ failedChecks: JSON.parse(readFileSync(checksFile, 'utf8')) as number })); // safe: see storeChecks
}
