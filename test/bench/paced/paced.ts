/**
 * What a run costs at the pace at which models speak: 60 chunks at 20 ms, many runs at once, beside the bare AI SDK on Deno; and what
 * a thousand open streams hold. Each figure comes from processes of its own, in turn. `--peers=deno-kv,postgres` measures these alone,
 * beside the SDK; without it, all.
 */

import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { postgresPrograms, startPostgres } from '../../tools/servers/postgres-server.ts';
import { median, ratioOf, report, type Row, skip } from '../measure.ts';
import type { Measured } from './subject.ts';

const subject = join(import.meta.dirname, 'subject.ts');
const peer = 'sdk';
const names = { 'sdk': 'bare AI SDK', 'memory': 'in memory', 'deno-kv': 'Deno KV file', 'postgres': 'PostgreSQL' };
type Variant = keyof typeof names;
/** CPU beside the SDK's. */
const bars: Readonly<Record<Exclude<Variant, typeof peer>, number>> = { 'memory': 0.7, 'deno-kv': 1, 'postgres': 1 };
const heldStreams = 1_000;
const heldMiB = 250;

const { values: { peers, rounds } } = parseArgs({
  options: { peers: { type: 'string' }, rounds: { type: 'string', default: '3' } },
});
const postgres = postgresPrograms === undefined ? undefined : await startPostgres();
if (!postgres) skip('PostgreSQL (apt-get install postgresql)');
const all = Object.keys(names) as Variant[]; // an object of this module
const wanted = peers?.split(',') ?? all;
const unknown = wanted.filter((name) => !all.includes(name as Variant));
if (unknown.length > 0) throw new Error(`No peer ${unknown.join(', ')}: there is ${all.join(', ')}`);
const variants = all.filter((name) => (name === peer || wanted.includes(name)) && (name !== 'postgres' || postgres));

function run(variant: Variant, atOnce: number, waves: string): string {
  const args = ['run', '-A', '--unstable-kv', subject, variant, String(atOnce), waves];
  const env = { ...process.env, ...(postgres && { BENCH_POSTGRES: postgres.socket }) };
  return execFileSync('deno', args, { encoding: 'utf8', env });
}

function measure(variant: Variant, atOnce: number): Measured {
  return JSON.parse(run(variant, atOnce, String(Math.max(1, Math.round(48 / atOnce))))) as Measured; // `subject.ts` wrote it
}

function rowsOf(atOnce: number): Row[] {
  const measured: Partial<Record<Variant, Measured[]>> = {};
  for (let round = 0; round < Number(rounds); round++) {
    for (const variant of variants) (measured[variant] ??= []).push(measure(variant, atOnce));
  }
  const of = (variant: Variant, figure: keyof Measured): number[] => measured[variant]?.map((one) => one[figure]) ?? [];
  return variants.flatMap((variant): Row[] => {
    const figure = `${atOnce} at once, ${names[variant]}`;
    const middle = (of_: keyof Measured): number => median(of(variant, of_));
    const value = `${middle('cpuPerRun').toFixed(2)} ms CPU a run`;
    const first = `p99 ${middle('firstByteP99').toFixed(0)} ms, longest pause p99 ${middle('pauseP99').toFixed(0)} ms`;
    const kept = `${middle('commits').toFixed(1)} commits, ${middle('changes').toFixed(0)} keys a run`;
    if (variant === peer) return [{ figure, value }, { figure: `${figure}: first word`, value: first }];
    const ratio = ratioOf(of(variant, 'cpuPerRun'), of(peer, 'cpuPerRun'));
    const bar = bars[variant];
    return [
      { figure, value, ratio: ratio.toFixed(2), bar: `<= ${bar.toFixed(1)}`, met: ratio <= bar },
      { figure: `${figure}: first word`, value: first },
      { figure: `${figure}: storage`, value: kept },
    ];
  });
}

function heldRows(): Row[] {
  const held = variants.map((variant) => ({
    variant,
    rss: (JSON.parse(run(variant, heldStreams, 'held')) as Pick<Measured, 'rss'>).rss, // `subject.ts` wrote it
  }));
  const shown = (rss: number | undefined): string => `${rss?.toFixed(0)} MiB`;
  const bare = held.find(({ variant }) => variant === peer)?.rss;
  return held.map(({ variant, rss }): Row => {
    const figure = `${heldStreams} open streams, ${names[variant]}: memory`;
    if (variant === peer) return { figure, value: shown(rss) };
    return { figure, value: shown(rss), peer: shown(bare), bar: `<= ${heldMiB} MiB`, met: rss <= heldMiB };
  });
}

try {
  report('Paced runs, 60 chunks at 20 ms', [...rowsOf(16), ...rowsOf(100), ...heldRows()]);
} finally {
  await postgres?.stop();
}
process.exit(0);
