import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { describe, expect, it } from 'vitest';
import type { Report, Row } from '../../bench/measure.ts';
import { mediansOf } from '../../bench/medians.ts';
import { readmeTableOf, tableOf, withFigures } from '../../bench/table.ts';

const reportOf = (title: string, ...rows: Row[]): Report => ({
  title,
  day: '2026-11-22',
  runtime: 'Node 26',
  machine: '2 x processor, 8 GiB',
  rows,
});
const cpu = (ratio: number, rest: Partial<Row> = {}): Row => ({
  figure: 'CPU, Pinnace: run -> SSE',
  value: `${ratio} ms/run`,
  bar: '<= 1.15',
  ratio: ratio.toFixed(3),
  met: ratio <= 1.15,
  ...rest,
});

describe('tableOf', () => {
  it('puts all figures into one table and names every missed bar', () => {
    const page = tableOf([
      reportOf('Runs', { figure: 'a|b', value: '1 us', bar: '<= 2 us', peer: '3 us', ratio: '0.3', met: true }),
      reportOf(
        'Trees',
        { figure: 'load', value: '9 s', bar: '<= 8 s', met: false },
        { figure: 'size', value: '1 B' },
      ),
    ]);
    expect(page).toContain('One run on 2 x processor, 8 GiB, Node 26, on 2026-11-22. 1 of 2 bars met.');
    expect(page).toContain('| a\\|b | 1 µs | <= 2 µs | 3 µs | 0.3 | met |');
    expect(page).toContain('| load | 9 s | <= 8 s |  |  | **missed** |');
    expect(page).toContain('| size | 1 B |  |  |  |  |');
  });

  it('says how many runs the figures are medians of', () => {
    const row = { figure: 'load', value: '9 s' };
    const of = (...runs: number[]) => tableOf(runs.map((count, at) => ({ ...reportOf(`T${at}`, row), runs: count })));
    expect(of(1, 1)).toContain('One run on');
    expect(of(3, 3)).toContain('Medians of 3 runs on');
    expect(of(1, 3)).toContain('Medians of 1 to 3 runs on');
  });

  it('says why a bar is missed where a profile has shown it, and nothing of a bar that is met', () => {
    const row = { figure: 'CPU of a run with keep', value: '1.07', bar: '<= 1.05' };
    const title = 'Recorded inputs';
    expect(tableOf([reportOf(title, { ...row, met: false })])).toMatch(
      /^- Missed: CPU of a run with keep\. \S/m,
    );
    expect(tableOf([reportOf(title, { ...row, met: true })])).not.toContain('Missed');
    expect(tableOf([reportOf('Others', { ...row, met: false })])).not.toContain('Missed');
  });
});

describe('npm run bench', () => {
  const run = (...options: string[]) =>
    spawnSync(process.execPath, [join(import.meta.dirname, '../../bench/run.ts'), ...options], { encoding: 'utf8' });

  it('shows its options and the benchmarks', () => {
    const { status, stdout } = run('--help');
    expect(status).toBe(0);
    for (const name of ['--readme', '--minutes', '--without', 'overhead', 'soak']) expect(stdout).toContain(name);
  });

  it.each([['sook'], ['--without=sook'], ['--minutes=none'], ['--minutes=0'], ['--runs=1.5'], ['--fast']])(
    'measures nothing and shows its options with %s',
    (option) => {
      const { status, stderr } = run(option);
      expect(status).toBe(2);
      expect(stderr).toContain('Usage: npm run bench');
    },
  );
});

describe('readmeTableOf', () => {
  it('shows the figures that the README names in its words, and how many bars are missed in all', () => {
    const table = readmeTableOf([
      reportOf('Overhead of a run', cpu(1.2, { peer: '1 ms/run' }), { figure: 'else', value: '1', met: true }),
      reportOf('Trees', { figure: 'load', value: '9 s', bar: '8 s', met: false }),
    ]);
    expect(table.split('\n').slice(2)).toEqual([
      '| CPU of a run; peer: the AI SDK alone | 1.2 ms/run | <= 1.15 | 1 ms/run | 1.200 | **missed** |',
      '',
      'One run on 2 x processor, 8 GiB, Node 26, on 2026-11-22. 1 of 3 bars met. 2 missed; all figures show each.',
    ]);
  });

  it('has no line for a shorter soak than the one it names', () => {
    const soak = (minutes: number) =>
      readmeTableOf([reportOf(`Soak: ${minutes} minutes of 100 paced runs at once`, { figure: 'heap', value: '1 %' })]);
    expect(soak(20)).toContain('| Heap growth in twenty minutes');
    expect(soak(2)).not.toContain('Heap growth');
  });

  it('has a place in the README', () => {
    const readme = readFileSync(join(import.meta.dirname, '../../../README.md'), 'utf8');
    const written = withFigures(readme, '| a table |');
    expect(written).toMatch(/## Figures\n\n<!-- figures.*-->\n\n\| a table \|\n\n<!-- \/figures -->\n/);
    expect(withFigures(written, '| a table |')).toBe(written);
    expect(() => withFigures('# Else', '| a table |')).toThrow('no place');
  });
});

describe('mediansOf', () => {
  it('takes of each figure the row in the middle by its ratio, with the verdict of that very run', () => {
    const [report, ...others] = mediansOf([cpu(1.3), cpu(1.1), cpu(1.14)].map((row) => reportOf('Runs', row)));
    expect(others).toEqual([]);
    expect(report).toMatchObject({ title: 'Runs', runs: 3, rows: [{ ratio: '1.140', met: true }] });
  });

  it('takes the first number where there is no ratio', () => {
    const rows = ['12.5 ms', '9 ms', '100 ms'].map((value) => ({ figure: 'load', value }));
    expect(mediansOf(rows.map((row) => reportOf('Runs', row)))[0]?.rows).toEqual([{
      figure: 'load',
      value: '12.5 ms',
    }]);
  });

  it('takes no number of a name', () => {
    const rows = ['p50 9 ms', 'p50 12.5 ms', 'p50 100 ms'].map((value) => ({ figure: 'first byte', value }));
    const inAnyOrder = [rows[1]!, rows[2]!, rows[0]!];
    expect(mediansOf(inAnyOrder.map((row) => reportOf('Runs', row)))[0]?.rows).toMatchObject([{
      value: 'p50 12.5 ms',
    }]);
  });
});
