/** Runs a command-line tool of a package as its users do. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import process from 'node:process';

const binaries = join(import.meta.dirname, '../../node_modules/.bin');

/** What a command left behind. */
export interface CommandResult {
  /** The exit code; -1 when a signal ended it. */
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a binary of an installed package to its end. */
export async function runCommand(name: string, args: readonly string[]): Promise<CommandResult> {
  const path = [binaries, process.env['PATH']].join(process.platform === 'win32' ? ';' : ':'); // for the Node of the project
  const child = spawn(join(binaries, name), args, {
    env: { ...process.env, PATH: path },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk) => (stdout += String(chunk)));
  child.stderr.on('data', (chunk) => (stderr += String(chunk)));
  const [code] = await once(child, 'close') as [number | null];
  return { code: code ?? -1, stdout, stderr };
}
