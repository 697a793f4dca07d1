/**
 * Runs code in a separate Deno process without permissions. A worker is not enough: in Deno 2.9 `terminate` does not end an endless
 * loop, a worker that runs out of memory ends its host, and a worker without permissions still loads `npm:` modules.
 */

import { checkNames, optional } from '../../src/base/check-options.ts';
import type { ProgramSandbox } from '../../src/contracts/sandbox.ts';
import {
  type CellProcess,
  mayNotStart,
  type ProcessPlatform,
  processSandbox,
  type ProcessSandboxOptions,
} from './processes.ts';
import type { ProbedSandbox } from './sandbox.ts';

export type { ProbedSandbox } from './sandbox.ts';
export type { ProgramSandbox } from '../../src/contracts/sandbox.ts';

/** Limits of a run. */
export type DenoSandboxOptions = ProcessSandboxOptions;

/** No prompt, no configuration of the host, no modules, no code from strings, and no permissions. */
const walls = [
  'run',
  '--quiet',
  '--no-prompt',
  '--no-config',
  '--no-lock',
  '--no-npm',
  '--no-remote',
  '--no-code-cache',
];

/**
 * Creates the sandbox for Deno. It needs permission to run Deno; without it, and on Node, every run is `unavailable`.
 *
 * @example
 * createRuntime({ catalog, models, storage, tools, sandbox: denoSandbox({ maxMemoryMb: 64 }) });
 */
export function denoSandbox(options: DenoSandboxOptions = {}): ProbedSandbox & ProgramSandbox {
  checkNames('create the sandbox', options, optional('maxMemoryMb'));
  return processSandbox('Deno' in globalThis ? platform : undefined, options);
}

const platform: ProcessPlatform = {
  readText: (path) => Deno.readTextFileSync(path),
  start(module, maxMemoryMb) {
    const engine = `--v8-flags=--disallow-code-generation-from-strings,--max-old-space-size=${maxMemoryMb}`;
    const source = module === undefined ? '-' : `data:text/javascript;charset=utf-8,${encodeURIComponent(module)}`;
    try {
      return running(
        new Deno.Command(Deno.execPath(), {
          args: [...walls, engine, source],
          env: { NO_COLOR: '1', DENO_NO_UPDATE_CHECK: '1', TZ: 'UTC' },
          clearEnv: true,
          stdin: 'piped',
          stdout: 'piped',
          stderr: 'null',
        }).spawn(),
      );
    } catch (cause) {
      throw mayNotStart(cause, 'this process may not run Deno; allow it with --allow-run');
    }
  },
};

function running(process: Deno.ChildProcess): CellProcess {
  const writer = process.stdin.getWriter();
  const encoder = new TextEncoder();
  return {
    pid: process.pid,
    output: chunksOf(process.stdout),
    ended: process.status,
    write: (text) => void writer.write(encoder.encode(text)).catch(() => undefined),
    close: () => void writer.close().catch(() => undefined),
    kill() {
      try {
        process.kill('SIGKILL');
      } catch {
        // it ended by itself
      }
      process.status.catch(() => {});
    },
  };
}

/** Reads into one buffer: each read would otherwise allocate another 64 KiB. A chunk is valid until the next. */
async function* chunksOf(stdout: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<Uint8Array> {
  const reader = stdout.getReader({ mode: 'byob' });
  let bytes = new Uint8Array(65_536);
  for (;;) {
    const { value } = await reader.read(bytes);
    if (!value || value.length === 0) return;
    yield value;
    bytes = new Uint8Array(value.buffer);
  }
}
