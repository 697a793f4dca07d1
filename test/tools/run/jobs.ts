/** Runs commands side by side. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import process from 'node:process';

/** One command of a shell. */
export interface Job {
  readonly name: string;
  readonly command: string;
  /** The job that must succeed first. */
  readonly after?: string;
}

export interface JobResult {
  readonly name: string;
  readonly status: 'passed' | 'failed' | 'skipped';
  readonly seconds: number;
}

/** Runs the jobs, at most `atOnce` at a time, in their order. Prints the output of each job when it ends. */
export async function runJobs(jobs: readonly Job[], atOnce: number): Promise<readonly JobResult[]> {
  const waiting = [...jobs];
  const running = new Map<string, Promise<void>>();
  const results: JobResult[] = [];
  const statusOf = (name: string): JobResult['status'] | undefined =>
    results.find((result) => result.name === name)?.status;
  while (waiting.length > 0 || running.size > 0) {
    const next = waiting.findIndex(({ after }) => after === undefined || statusOf(after) !== undefined);
    if (next === -1 || running.size >= atOnce) {
      await Promise.race(running.values());
      continue;
    }
    const [job] = waiting.splice(next, 1);
    if (!job) break;
    if (job.after !== undefined && statusOf(job.after) !== 'passed') {
      results.push({ name: job.name, status: 'skipped', seconds: 0 });
      continue;
    }
    running.set(job.name, run(job).then((result) => (results.push(result), void running.delete(job.name))));
  }
  return results;
}

/** Prints how each job ended, and sets the exit code of this process. */
export function reportJobs(results: readonly JobResult[]): void {
  for (const { name, status, seconds } of results) {
    console.log(`${status.padEnd(8)}${`${seconds.toFixed(0)} s`.padStart(6)}  ${name}`);
  }
  if (results.some(({ status }) => status !== 'passed')) process.exitCode = 1;
}

async function run({ name, command }: Job): Promise<JobResult> {
  const startedAt = performance.now();
  const child = spawn(command, { shell: true, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  }
  const [code] = await once(child, 'close');
  const result = {
    name,
    status: code === 0 ? 'passed' : 'failed',
    seconds: (performance.now() - startedAt) / 1000,
  } as const;
  console.log(`\n=== ${name}: ${result.status} after ${result.seconds.toFixed(0)} s\n${output.trimEnd()}`);
  return result;
}
