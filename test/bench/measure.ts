/** How benchmarks measure: variants in turn within one run, medians of rounds, ratios round by round. */

import { appendFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import process from 'node:process';

/** One figure beside its bar. */
export interface Row {
  readonly figure: string;
  readonly value: string;
  readonly bar?: string;
  readonly peer?: string;
  readonly ratio?: string;
  readonly met?: boolean;
}

export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? NaN;
}

export function quantile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? NaN;
}

/** CPU milliseconds that the process has used, collection of garbage and all. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** Collects garbage; the benchmark must run with it exposed. */
export function collect(): void {
  const { gc } = globalThis as { gc?: () => void };
  if (!gc) throw new Error('Run with --expose-gc');
  for (let i = 0; i < 4; i++) gc();
}

/** CPU milliseconds per call of each variant, one list of rounds for each, measured in turn so that noise hits all alike. */
export async function cpuRounds(
  variants: Readonly<Record<string, () => Promise<unknown>>>,
  { rounds, calls, warmup }: { rounds: number; calls: number; warmup: number },
): Promise<Record<string, number[]>> {
  const times: Record<string, number[]> = {};
  for (const [name, run] of Object.entries(variants)) {
    times[name] = [];
    for (let i = 0; i < warmup; i++) await run();
  }
  for (let round = 0; round < rounds; round++) {
    for (const [name, run] of rotated(Object.entries(variants), round)) {
      collect();
      const before = cpuMs();
      for (let i = 0; i < calls; i++) await run();
      times[name]?.push((cpuMs() - before) / calls);
    }
  }
  return times;
}

/** Rotates the order in each round, because the first entry has another heap than the last one. */
function rotated<T>(items: readonly T[], by: number): T[] {
  const start = by % items.length;
  return [...items.slice(start), ...items.slice(0, start)];
}

/** The median of the ratios of two lists, round by round. */
export function ratioOf(ours: readonly number[] = [], theirs: readonly number[] = []): number {
  return median(ours.map((value, i) => value / (theirs[i] ?? NaN)));
}

/** Prints what this machine cannot measure, and adds it to the list that the runner prints at its end. */
export function skip(what: string): void {
  console.log(`Not measured: ${what}`);
  const { BENCH_SKIPPED: file, BENCH_NAME: bench } = process.env;
  if (file) appendFileSync(file, `${bench}: ${what}\n`);
}

/** The results of one benchmark, and the machine. */
export interface Report {
  /** The benchmark's folder. A later run replaces an earlier run of the same folder. */
  readonly bench?: string;
  /** The day, as 2026-11-22. */
  readonly day: string;
  /** How many runs the rows are the medians of; 1 when absent. */
  readonly runs?: number;
  readonly title: string;
  readonly runtime: string;
  readonly machine: string;
  readonly rows: readonly Row[];
}

/** Prints the rows, and the machine that they were measured on; adds them to the file that `BENCH_REPORTS` names, one JSON text a line. */
export function report(title: string, rows: readonly Row[]): void {
  const runtime = 'Deno' in globalThis ? `Deno ${Deno.version.deno}` : `Node ${process.versions.node}`;
  const memory = Math.round(totalmem() / 1_073_741_824);
  const machine = `${cpus().length} x ${cpus()[0]?.model.trim() ?? 'unknown processor'}, ${memory} GiB`;
  console.log(`\n${title} (${runtime}, ${machine})`);
  console.table(rows);
  const { BENCH_REPORTS: file, BENCH_NAME: bench } = process.env;
  const day = new Date().toISOString().slice(0, 10);
  const made: Report = { ...(bench !== undefined && { bench }), day, title, runtime, machine, rows };
  if (file) appendFileSync(file, `${JSON.stringify(made)}\n`);
}
