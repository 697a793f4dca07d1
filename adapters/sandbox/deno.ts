/**
 * Runs code in a separate Deno process without permissions. A worker is not enough: in Deno 2.9 `terminate` does not end an endless
 * loop, a worker that runs out of memory ends its host, and a worker without permissions still loads `npm:` modules.
 */

import { PinnaceError } from '../../src/base/errors.ts';
import { prelude } from './prelude.ts';
import { type Cell, createSandbox, type ProbedSandbox, type Spawn } from './sandbox.ts';

/** Limits of a run. */
export interface DenoSandboxOptions {
  /** The memory limit of the heap, and of the whole process if the system reports its usage. Default: 128. */
  readonly maxMemoryMb?: number;
}

/** Creates the sandbox for Deno. It needs permission to run Deno; without it, and on Node, every run is `unavailable`. */
export function denoSandbox({ maxMemoryMb = 128 }: DenoSandboxOptions = {}): ProbedSandbox {
  return createSandbox('Deno' in globalThis ? spawnProcess(maxMemoryMb) : undefined);
}

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

function spawnProcess(maxMemoryMb: number): Spawn {
  const engine = `--v8-flags=--disallow-code-generation-from-strings,--max-old-space-size=${maxMemoryMb}`;
  return async (code, settings) => {
    const process = start([...walls, engine, '-']);
    const codeUrl = toDataUrl(`export default async (input) => {\n${code}\n};\n`);
    await send(process, prelude({ ...settings, codeUrl }));
    return toCell(process, { maxMemoryMb, maxLength: settings.maxOutputLength + 1024 });
  };
}

function start(args: string[]): Deno.ChildProcess {
  try {
    const env = { NO_COLOR: '1', DENO_NO_UPDATE_CHECK: '1' };
    const io = { stdin: 'piped', stdout: 'piped', stderr: 'null' } as const; // its output could disclose code and input
    return new Deno.Command(Deno.execPath(), { args, env, clearEnv: true, ...io }).spawn();
  } catch (cause) {
    throw new PinnaceError(
      'unavailable',
      'Cannot run the code: this process may not run Deno; allow it with --allow-run',
      {
        cause,
        retryable: false,
        details: { reason: 'not_isolated' },
      },
    );
  }
}

function toDataUrl(source: string): string {
  return `data:text/javascript;charset=utf-8,${encodeURIComponent(source)}`;
}

/** If the process ends before it has read everything, `replyOf` reports the reason. */
async function send({ stdin }: Deno.ChildProcess, source: string): Promise<void> {
  try {
    await new Blob([source]).stream().pipeTo(stdin);
  } catch {
    // reported by `replyOf`
  }
}

interface Limits {
  readonly maxMemoryMb: number;
  readonly maxLength: number;
}

function toCell(process: Deno.ChildProcess, limits: Limits): Cell {
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  // Twice the heap limit: it covers memory outside of the engine's heap.
  const unwatch = watchMemory(process.pid, {
    maxMb: 2 * limits.maxMemoryMb,
    onExceeded: () => reject(outOfMemory(limits)),
  });
  readLine(process.stdout, limits.maxLength)
    .then(async (line) => resolve(line ?? readStatus(await process.status, limits)))
    .catch(reject);
  return {
    reply: promise,
    linesBefore: 1,
    end() {
      unwatch();
      kill(process);
    },
  };
}

function kill(process: Deno.ChildProcess): void {
  try {
    process.kill('SIGKILL');
  } catch {
    // it ended by itself
  }
  process.status.catch(() => {});
}

/** The first line is the reply. A longer text than the longest reply is invalid. */
async function readLine(
  stdout: ReadableStream<Uint8Array<ArrayBuffer>>,
  maxLength: number,
): Promise<string | undefined> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of stdout) {
    text += decoder.decode(chunk, { stream: true });
    const end = text.indexOf('\n');
    if (end >= 0) return text.slice(0, end);
    if (text.length > maxLength) return text;
  }
  return undefined;
}

/** The reason for a process without a reply: out of memory, or nothing left to wait for. */
function readStatus({ signal }: Deno.CommandStatus, limits: Limits): string {
  if (signal !== null) throw outOfMemory(limits);
  return '{"ok":false,"reason":"code_failed"}';
}

/** The memory of an idle process in MB, with a margin. */
const baseMb = 96;

interface Watch {
  readonly maxMb: number;
  readonly onExceeded: () => void;
}

/** Reads the memory of a process on Linux, if permitted. Elsewhere only the time is limited. */
function watchMemory(pid: number, { maxMb, onExceeded }: Watch): () => void {
  const timer = setInterval(() => {
    const takenMb = residentMb(pid);
    if (takenMb > maxMb + baseMb) onExceeded();
  }, 20);
  return () => clearInterval(timer);
}

function residentMb(pid: number): number {
  try {
    const [, pages] = Deno.readTextFileSync(`/proc/${pid}/statm`).split(' ');
    return (Number(pages) * 4096) / 1_000_000;
  } catch {
    return 0;
  }
}

function outOfMemory({ maxMemoryMb }: Limits): PinnaceError {
  return new PinnaceError('budget_exceeded', `The code took more than ${maxMemoryMb} MB of memory`, {
    details: { reason: 'out_of_memory' },
  });
}
