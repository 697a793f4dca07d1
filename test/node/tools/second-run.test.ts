import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type JobResult, runJobs } from '../../tools/run/jobs.ts';
import { repeatFailed } from '../../tools/run/second-run.ts';
import { openTotals, type Totals, unhandled } from '../../tools/run/totals.ts';
import { unhandledFile } from '../../tools/run/unhandled-errors.ts';

let folder: string;
let totals: Totals;
let repeated: string[];

beforeEach(() => {
  mkdirSync('node_modules/.cache', { recursive: true });
  folder = mkdtempSync(join('node_modules/.cache', 'second-run-')); // below the packages, so that a real vitest finds itself
  totals = openTotals(join(folder, 'results'));
  repeated = [];
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

type Tests = Readonly<Record<string, 'passed' | 'failed' | 'skipped'>>;

/** A report as vitest writes it: the file and the state of its only test. */
function report(tests: Tests): string {
  const testResults = Object.entries(tests).map(([name, status]) => ({
    name,
    status: status === 'failed' ? 'failed' : 'passed',
    assertionResults: [{ status, fullName: `${name} works`, failureMessages: [] }],
  }));
  return JSON.stringify({ testResults });
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

const job = (name: string, status: JobResult['status']): JobResult => ({ name, status, seconds: 1 });

/** Repeats the failed files with a command that writes `tests` as its report, if any, and ends with `code`. */
async function repeat(results: readonly JobResult[], { tests, code = 0 }: { tests?: Tests; code?: number } = {}) {
  const after = await repeatFailed(results, {
    totals,
    commandOf(project, files) {
      repeated.push(`${project}: ${files.join(' ')}`);
      if (tests) write(totals.file(project, files.length > 0 ? 'second' : 'first'), report(tests));
      if (files.length === 0) rmSync(unhandledFile(totals.file(project)), { force: true });
      return `exit ${code}`;
    },
  });
  totals.storeEnds(after);
  return after.map(({ name, status }) => `${name} ${status}`);
}

describe('repeatFailed', () => {
  it('takes the second result of a file that failed once', async () => {
    write(totals.file('node'), report({ 'a.test.ts': 'failed', 'b.test.ts': 'passed' }));
    expect(await repeat([job('node', 'failed'), job('dom', 'passed')], { tests: { 'a.test.ts': 'passed' } }))
      .toEqual(['node passed', 'dom passed']);
    expect(repeated).toEqual(['node: a.test.ts']);
    expect(totals.sum()).toBe('2 passed, 0 failed');
  });

  it.each<[string, { tests?: Tests; code?: number }]>([
    ['fails again', { tests: { 'a.test.ts': 'failed' }, code: 1 }],
    ['fails again although the command succeeds', { tests: { 'a.test.ts': 'failed' } }],
    ['crashes after its report', { tests: { 'a.test.ts': 'passed' }, code: 134 }],
    ['crashes before its report', { code: 134 }],
    ['writes no report', {}],
    ['does not run the file', { tests: { 'b.test.ts': 'passed' } }],
    ['skips the tests of the file', { tests: { 'a.test.ts': 'skipped' } }],
  ])('stays failed if the second run %s', async (_what, second) => {
    write(totals.file('node'), report({ 'a.test.ts': 'failed', 'b.test.ts': 'passed' }));
    expect(await repeat([job('node', 'failed')], second)).toEqual(['node failed']);
    expect(totals.sum()).toMatch(/^[12] passed, 1 failed$/);
  });

  it('stays failed if the second run reports an error outside of tests', async () => {
    write(totals.file('node'), report({ 'a.test.ts': 'failed' }));
    write(unhandledFile(totals.file('node', 'second')), JSON.stringify([{ title: 'Error', message: 'late' }]));
    expect(await repeat([job('node', 'failed')], { tests: { 'a.test.ts': 'passed' } })).toEqual(['node failed']);
    expect(totals.sum()).toBe('1 passed, 1 failed');
  });

  it.each<[string, () => void, string]>([
    ['crashed without a report', () => undefined, '0 passed, 1 failed'],
    [
      'has a report without a failed test',
      () => write(totals.file('node'), report({ 'a.test.ts': 'passed' })),
      '1 passed, 1 failed',
    ],
    [
      'has an error outside of tests beside a failed file',
      () => {
        write(totals.file('node'), report({ 'a.test.ts': 'failed' }));
        write(unhandledFile(totals.file('node')), JSON.stringify([{ title: 'Error', message: 'late' }]));
      },
      '0 passed, 2 failed',
    ],
    [
      'has seven failed files',
      () =>
        write(
          totals.file('node'),
          report(Object.fromEntries(Array.from('abcdefg', (name) => [`${name}.test.ts`, 'failed']))),
        ),
      '0 passed, 7 failed',
    ],
  ])('repeats nothing and stays failed if the first run %s', async (_what, first, sum) => {
    first();
    expect(await repeat([job('node', 'failed')], { tests: { 'a.test.ts': 'passed' } })).toEqual(['node failed']);
    expect(repeated).toEqual([]);
    expect(totals.sum()).toBe(sum);
  });

  it.each([['passes', 'passed', 0, '2 passed, 0 failed'], ['fails', 'failed', 1, '1 passed, 1 failed']] as const)(
    'runs a project again as a whole if its browser did not start: it %s',
    async (_what, status, code, sum) => {
      const message =
        'Error: Failed to connect to the browser session "a" [browser (firefox)] within the timeout.\n    at x';
      write(totals.file('browser'), report({ 'a.test.ts': 'passed' }));
      write(unhandledFile(totals.file('browser')), JSON.stringify([{ title: 'Error', message }]));
      expect(await repeat([job('browser', 'failed')], { tests: { 'a.test.ts': 'passed', 'b.test.ts': status }, code }))
        .toEqual([`browser ${status}`]);
      expect(repeated).toEqual(['browser: ']);
      expect(totals.sum()).toBe(sum);
    },
  );

  it('counts a run that stored no ends as failed, and failed checks beside tests', async () => {
    expect(totals.sum({ failedChecks: 2 })).toBe('0 passed, 3 failed');
    write(totals.file('node'), report({ 'a.test.ts': 'passed' }));
    await repeat([job('node', 'passed')]);
    expect(totals.sum({ failedChecks: 2 })).toBe('1 passed, 2 failed');
  });

  it('reads from a real vitest the error that no test caught', async () => {
    const tools = join(import.meta.dirname, '../../tools/run');
    write(
      join(folder, 'vitest.config.ts'),
      `import { unhandledErrors } from '${tools}/unhandled-errors.ts';
      export default { test: { include: ['late.test.ts'], exclude: [], reporters: ['json', unhandledErrors()] } };`,
    );
    write(
      join(folder, 'late.test.ts'),
      `import { it } from 'vitest';
      it('passes', () => void Promise.reject(new Error('caught by no test')));`,
    );
    const output = join(process.cwd(), totals.file('node'));
    const command = `vitest run --root=${folder} --config=vitest.config.ts --outputFile.json=${output}`;
    const [result] = await runJobs([{ name: 'node', command: `node_modules/.bin/${command}` }], 1);
    expect(result?.status).toBe('failed');
    expect(totals.readRun('node', 'first')).toEqual([
      expect.objectContaining({ passed: 1, failures: [] }) as object,
      {
        file: unhandled,
        passed: 0,
        failures: [{ title: 'Error', message: expect.stringContaining('caught by no test') as string }],
      },
    ]);
  });
});
