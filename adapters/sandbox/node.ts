/**
 * Runs code in a separate Node process under Node's permission model: no files, no processes, no workers, no add-ons. Node 25 and
 * newer deny it the network as well; Node 22 and 24 have no such permission, so that there only the walls of the prelude do.
 */

import { checkNames, optional } from '../../src/base/check-options.ts';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import process from 'node:process';
import type { ProgramSandbox } from '../../src/contracts/sandbox.ts';
import { mayNotStart, type ProcessPlatform, processSandbox, type ProcessSandboxOptions } from './processes.ts';
import type { ProbedSandbox } from './sandbox.ts';
export type { ProbedSandbox } from './sandbox.ts';
export type { ProgramSandbox } from '../../src/contracts/sandbox.ts';

/** Limits of a run. */
export type NodeSandboxOptions = ProcessSandboxOptions;

/**
 * Creates the sandbox for Node 22.13 or newer; elsewhere, Deno and Bun among them, every run is `unavailable`.
 *
 * @example
 * createRuntime({ catalog, models, storage, tools, sandbox: nodeSandbox(), programs: true });
 */
export function nodeSandbox(options: NodeSandboxOptions = {}): ProbedSandbox & ProgramSandbox {
  checkNames('create the sandbox', options, optional('maxMemoryMb'));
  const isHere = !('Deno' in globalThis) && !('bun' in process.versions) &&
    process.allowedNodeEnvironmentFlags.has('--permission');
  return processSandbox(isHere ? platform : undefined, options);
}

const platform: ProcessPlatform = {
  readText: (path) => readFileSync(path, 'utf8'),
  start(module, maxMemoryMb) {
    const engine = ['--disallow-code-generation-from-strings', `--max-old-space-size=${maxMemoryMb}`];
    const source = module === undefined ? ['-'] : [`--eval=${module}`];
    try {
      const child = spawn(process.execPath, ['--permission', ...engine, '--input-type=module', ...source], {
        env: { TZ: 'UTC' },
        stdio: ['pipe', 'pipe', 'ignore'],
        windowsHide: true,
      });
      const ended = new Promise<{ readonly signal: string | null }>((resolve) => {
        child.once('close', (_, signal) => resolve({ signal }));
        child.once('error', () => resolve({ signal: null })); // such as no memory for a process
      });
      child.stdin.on('error', () => undefined); // of a process that has ended
      return {
        pid: child.pid ?? 0,
        output: child.stdout,
        ended,
        write: (text) => void child.stdin.write(text),
        close: () => void child.stdin.end(),
        kill: () => void child.kill('SIGKILL'),
      };
    } catch (cause) {
      throw mayNotStart(cause, 'this process may not start others; allow it with --allow-child-process');
    }
  },
};
