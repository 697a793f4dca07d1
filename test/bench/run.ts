/**
 * Runs benchmarks, one process each: `npm run bench` all of them, `npm run bench -- overhead` one. What they have measured stands in
 * `bench-results/` afterwards: `table.md` for people, `reports.json` for machines.
 */

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import type { Report } from './measure.ts';
import { tableOf } from './table.ts';

const folder = import.meta.dirname;
const results = join(folder, '../../bench-results');
const all = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory()).map(({ name }) => name);
const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !all.includes(name));
if (unknown.length > 0) {
  console.error(`No benchmark ${unknown.join(', ')}: there is ${all.join(', ')}`);
  process.exit(2);
}
mkdirSync(results, { recursive: true });
const lines = join(results, 'reports.jsonl');
rmSync(lines, { force: true });
const failed: string[] = [];
for (const name of wanted.length > 0 ? wanted : all) {
  const { status } = spawnSync('node', ['--expose-gc', join(folder, name, `${name}.ts`)], {
    stdio: 'inherit',
    env: { ...process.env, BENCH_REPORTS: lines },
  });
  if (status !== 0) failed.push(name);
}
const written = existsSync(lines) ? readFileSync(lines, 'utf8').trimEnd().split('\n') : [];
const reports = written.map((line) => JSON.parse(line) as Report); // the benchmarks have just written them
writeFileSync(join(results, 'reports.json'), `${JSON.stringify(reports, null, 2)}\n`);
writeFileSync(join(results, 'table.md'), tableOf(reports));
rmSync(lines, { force: true });
console.log(`\nAll figures: ${join(results, 'table.md')}`);
if (failed.length > 0) console.error(`Failed: ${failed.join(', ')}`);
process.exit(failed.length === 0 ? 0 : 1);
