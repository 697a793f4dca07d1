/**
 * Runs code in a separate Deno process without permissions. A worker is not enough: in Deno 2.9 `terminate` does not end an endless
 * loop, a worker that runs out of memory ends its host, and a worker without permissions still loads `npm:` modules.
 */

import { loadOnce } from '../../src/base/load-once.ts';
import type { ProgramSandbox } from '../../src/contracts/sandbox.ts';
import { prelude } from './prelude.ts';
import { kill, outOfMemory, startProcess, toDataUrl, watchMemory } from './deno-process.ts';
import { cannotIsolate, type Cell, createSandbox, type ProbedSandbox, type Spawn } from './sandbox.ts';

/** Limits of a run. */
export interface DenoSandboxOptions {
  /** The memory limit of the heap, and of the whole process if the system reports its usage. Default: 128. */
  readonly maxMemoryMb?: number;
}

const loadPrograms = /* @__PURE__ */ loadOnce(() => import('./deno-programs.ts'));

/** Creates the sandbox for Deno. It needs permission to run Deno; without it, and on Node, every run is `unavailable`. */
export function denoSandbox({ maxMemoryMb = 128 }: DenoSandboxOptions = {}): ProbedSandbox & ProgramSandbox {
  const isHere = 'Deno' in globalThis;
  return {
    ...createSandbox(isHere ? spawnProcess(maxMemoryMb) : undefined),
    timeZone: 'UTC',
    async open(code, options) {
      if (!isHere) throw cannotIsolate();
      return await (await loadPrograms()).openDenoProgram(code, { ...options, maxMemoryMb });
    },
  };
}

function spawnProcess(maxMemoryMb: number): Spawn {
  return async (code, settings) => {
    const process = startProcess('-', maxMemoryMb);
    const codeUrl = toDataUrl(`export default async (input) => {\n${code}\n};\n`);
    await send(process, prelude({ ...settings, codeUrl }));
    return toCell(process, { maxMemoryMb, maxLength: settings.maxOutputLength + 1024 });
  };
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
