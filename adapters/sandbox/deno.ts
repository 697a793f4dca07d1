/**
 * Runs code in a Deno process of its own, without any permission. A worker would not do: `terminate` does not end an endless loop
 * in Deno 2.9, a worker that is out of memory ends its host, and one without permissions still loads `npm:` modules.
 */

import { PinnaceError } from '../../src/base/errors.ts';
import { prelude } from './prelude.ts';
import { type Cell, createSandbox, type ProbedSandbox, type Spawn } from './sandbox.ts';

/** What a run may take. */
export interface DenoSandboxOptions {
  /** Memory for objects, and for all of the process where the system reports how much it takes. */
  readonly maxMemoryMb?: number;
}

/** Returns the sandbox for Deno. It needs permission to run Deno itself; without it, and on Node, every run is `unavailable`. */
export function denoSandbox({ maxMemoryMb = 128 }: DenoSandboxOptions = {}): ProbedSandbox {
  return createSandbox('Deno' in globalThis ? spawnProcess(maxMemoryMb) : undefined);
}

/** No prompt, no configuration of the host, no module from anywhere, no text that becomes code, and no leave to do anything. */
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

/** A process that ended before it read everything says why with its reply. */
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
  // Twice: the engine's own limit ends it sooner, and this one counts what is not the engine's.
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

/** The first line is the reply. More than the longest reply is none. */
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

/** Why a process ended without a reply: the engine had no more room, or the code left nothing to wait for. */
function readStatus({ signal }: Deno.CommandStatus, limits: Limits): string {
  if (signal !== null) throw outOfMemory(limits);
  return '{"ok":false,"reason":"code_failed"}';
}

/** What a process takes before it runs anything, in MB, with room. */
const baseMb = 96;

interface Watch {
  readonly maxMb: number;
  readonly onExceeded: () => void;
}

/** Linux reports what a process takes, where this may be read; elsewhere only the time is limited. */
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
