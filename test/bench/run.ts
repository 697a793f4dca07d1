/**
 * Runs benchmarks, one process each. `npm run bench -- --help` shows the options. Merges the results with earlier ones in
 * `bench-results/`: `table.md` for people, `reports.json` for machines.
 */

import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { type Arguments, readArguments, usageOf } from './arguments.ts';
import type { Report } from './measure.ts';
import { mediansOf } from './medians.ts';
import { readmeTableOf, tableOf, withFigures } from './table.ts';

const folder = import.meta.dirname;
const root = join(folder, '../..');
const results = join(root, 'bench-results');
const lines = join(results, 'reports.jsonl');
const skipped = join(results, 'skipped.txt');
const chart = join(results, 'scaling.svg');
const mergedPath = join(results, 'reports.json');
const all = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory()).map(({ name }) => name);
const { wanted, readme, runs, minutes } = argumentsOrExit();
mkdirSync(results, { recursive: true });
if (wanted.length > 0) rmSync(skipped, { force: true });
const before = existsSync(mergedPath) ? JSON.parse(readFileSync(mergedPath, 'utf8')) as Report[] : []; // written by this
const failed: string[] = [];
const took: string[] = [];
const reports = wanted.flatMap((name) => mediansOf(measure(name)));
const ofWhich = new Set(reports.map(({ bench }) => bench));
const merged = [...before.filter(({ bench }) => bench !== undefined && !ofWhich.has(bench)), ...reports]
  .toSorted((a, b) => all.indexOf(a.bench ?? '') - all.indexOf(b.bench ?? ''));
if (wanted.length > 0) {
  writeFileSync(mergedPath, `${JSON.stringify(merged, null, 2)}\n`);
  writeFileSync(join(results, 'table.md'), tableOf(merged));
  console.log(`\nTimes: ${took.join(', ')}\nAll figures: ${join(results, 'table.md')}`);
}
if (readme) writePages(merged);
if (existsSync(skipped)) {
  console.log(`\nNot measured here:\n${[...new Set(readFileSync(skipped, 'utf8').trimEnd().split('\n'))].join('\n')}`);
}
if (failed.length > 0) console.error(`Failed: ${failed.join(', ')}`);
process.exit(failed.length === 0 ? 0 : 1);

function argumentsOrExit(): Arguments {
  try {
    const read = readArguments(process.argv.slice(2), all);
    if (read) return read;
    console.log(usageOf(all));
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${usageOf(all)}`);
    process.exit(2);
  }
  return process.exit(0);
}

/** Returns the reports of a benchmark, run after run. */
function measure(name: string): Report[] {
  rmSync(lines, { force: true });
  const startedAt = performance.now();
  for (let run = 0; run < runs; run++) {
    const { status } = spawnSync('node', ['--expose-gc', join(folder, name, `${name}.ts`)], {
      stdio: 'inherit',
      env: {
        ...process.env,
        BENCH_REPORTS: lines,
        BENCH_NAME: name,
        BENCH_SKIPPED: skipped,
        SOAK_MINUTES: String(minutes),
      },
    });
    if (status !== 0) failed.push(name);
  }
  took.push(`${name} ${((performance.now() - startedAt) / 60_000).toFixed(1)} min`);
  const written = existsSync(lines) ? readFileSync(lines, 'utf8').trimEnd().split('\n') : [];
  rmSync(lines, { force: true });
  return written.map((line) => JSON.parse(line) as Report); // the benchmark has just written them
}

function writePages(reported: readonly Report[]): void {
  if (reported.length === 0) {
    console.error('Nothing has been measured: run the benchmarks first');
    process.exit(2);
  }
  const missing = all.filter((name) => !reported.some(({ bench }) => bench === name));
  if (missing.length > 0) console.log(`\nThe pages have no figures of: ${missing.join(', ')}`);
  const [page, figures] = [join(root, 'README.md'), join(root, 'docs/figures.md')];
  writeFileSync(page, withFigures(readFileSync(page, 'utf8'), readmeTableOf(reported)));
  writeFileSync(figures, tableOf(reported));
  if (existsSync(chart)) copyFileSync(chart, join(root, 'docs/pictures/scaling.svg'));
  spawnSync('deno', ['fmt', '--quiet', page, figures], { cwd: root, stdio: 'inherit' });
}
