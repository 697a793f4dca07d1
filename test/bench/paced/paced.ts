/**
 * What a run costs at the pace at which models speak: 60 chunks at 20 ms, many runs at once, beside the bare AI SDK on Deno. Each
 * figure comes from processes of its own, in turn.
 */

import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import process from 'node:process';
import { median, ratioOf, report, type Row } from '../measure.ts';
import type { Measured } from './subject.ts';

const subject = join(import.meta.dirname, 'subject.ts');
const peer = 'sdk';
const variants = ['sdk', 'memory', 'deno-kv'] as const;
const names = { 'sdk': 'bare AI SDK', 'memory': 'in memory', 'deno-kv': 'Deno KV file' };
const rounds = 3;

function measure(variant: string, atOnce: number): Measured {
  const waves = String(Math.max(1, Math.round(48 / atOnce)));
  const args = ['run', '-A', '--unstable-kv', subject, variant, String(atOnce), waves];
  return JSON.parse(execFileSync('deno', args, { encoding: 'utf8' })) as Measured; // safe: `subject.ts` wrote it
}

function rowsOf(atOnce: number): Row[] {
  const measured: Record<string, Measured[]> = {};
  for (let round = 0; round < rounds; round++) {
    for (const variant of variants) (measured[variant] ??= []).push(measure(variant, atOnce));
  }
  const of = (variant: string, figure: keyof Measured): number[] => measured[variant]?.map((one) => one[figure]) ?? [];
  return variants.flatMap((variant): Row[] => {
    const figure = `${atOnce} at once, ${names[variant]}`;
    const middle = (of_: keyof Measured): number => median(of(variant, of_));
    const value = `${middle('cpuPerRun').toFixed(2)} ms CPU a run`;
    const first = `p99 ${middle('firstByteP99').toFixed(0)} ms, longest pause p99 ${middle('pauseP99').toFixed(0)} ms`;
    const kept = `${middle('commits').toFixed(1)} commits, ${middle('changes').toFixed(0)} keys a run`;
    if (variant === peer) return [{ figure, value }, { figure: `${figure}: first word`, value: first }];
    const ratio = ratioOf(of(variant, 'cpuPerRun'), of(peer, 'cpuPerRun'));
    const bar = variant === 'memory' ? 0.7 : 1;
    return [
      { figure, value, ratio: ratio.toFixed(2), bar: `<= ${bar.toFixed(1)}`, met: ratio <= bar },
      { figure: `${figure}: first word`, value: first },
      { figure: `${figure}: storage`, value: kept },
    ];
  });
}

report('Paced runs, 60 chunks at 20 ms', [...rowsOf(16), ...rowsOf(100)]);
process.exit(0);
