/**
 * Sandboxes that are processes without permissions, on Deno and on Node. What must hold: a process has no permission before it reads a
 * line of untrusted code (`isIsolated` in the prelude), nothing of its host is in its environment, it ends with its caller, and its
 * error output, which could disclose code and input, is never read.
 */

import { PinnaceError } from '../../src/base/errors.ts';
import { loadOnce } from '../../src/base/load-once.ts';
import type { ProgramSandbox } from '../../src/contracts/sandbox.ts';
import { prelude } from './prelude.ts';
import { cannotIsolate, type Cell, createSandbox, type ProbedSandbox, type Spawn } from './sandbox.ts';

export interface ProcessSandboxOptions {
  /** The memory limit of the heap, and of the whole process if the system reports its usage. Default: 128. */
  readonly maxMemoryMb?: number;
}

/** A process that runs a module and nothing else. */
export interface CellProcess {
  readonly pid: number;
  readonly output: AsyncIterable<Uint8Array>;
  /** How it ended: with a signal where something killed it, as an engine without memory does itself. */
  readonly ended: Promise<{ readonly signal: string | null }>;
  /** Writes to its input. A process that has ended reads nothing: its output and `ended` tell so. */
  write(text: string): void;
  close(): void;
  /** Ends it at once. Twice equals once. */
  kill(): void;
}

export interface ProcessPlatform {
  /**
   * Starts a process with this module; absent, the module is what its input has until it closes.
   *
   * @throws PinnaceError `unavailable` where this process may start none.
   */
  start(module: string | undefined, maxMemoryMb: number): CellProcess;
  /** Reads a file of the system, such as the memory of a process on Linux. Throws where there is none. */
  readText(path: string): string;
}

const loadPrograms = /* @__PURE__ */ loadOnce(() => import('./process-programs.ts'));

/** Creates the sandbox; without a platform every run is `unavailable`. */
export function processSandbox(
  platform: ProcessPlatform | undefined,
  { maxMemoryMb = 128 }: ProcessSandboxOptions,
): ProbedSandbox & ProgramSandbox {
  return {
    ...createSandbox(platform && spawnIn(platform, maxMemoryMb)),
    timeZone: 'UTC',
    async open(code, options) {
      if (!platform) throw cannotIsolate();
      return await (await loadPrograms()).openProcessProgram(platform, code, { ...options, maxMemoryMb });
    },
  };
}

function spawnIn(platform: ProcessPlatform, maxMemoryMb: number): Spawn {
  return async (code, settings) => {
    const process = platform.start(undefined, maxMemoryMb);
    const codeUrl = `data:text/javascript;charset=utf-8,${
      encodeURIComponent(`export default async (input) => {\n${code}\n};\n`)
    }`;
    process.write(prelude({ ...settings, codeUrl }));
    process.close();
    return toCell(process, { platform, maxMemoryMb, maxLength: settings.maxOutputLength + 1024 });
  };
}

interface Limits {
  readonly platform: ProcessPlatform;
  readonly maxMemoryMb: number;
  readonly maxLength: number;
}

function toCell(process: CellProcess, { platform, maxMemoryMb, maxLength }: Limits): Cell {
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  const unwatch = watchMemory(platform, process.pid, {
    maxMemoryMb,
    onExceeded: () => reject(outOfMemory(maxMemoryMb)),
  });
  const read = async (): Promise<unknown> => {
    const line = await readLine(process.output, maxLength);
    if (line !== undefined) return line;
    const { signal } = await process.ended; // out of memory, or nothing was left to wait for
    if (signal !== null) throw outOfMemory(maxMemoryMb);
    return '{"ok":false,"reason":"code_failed"}';
  };
  read().then(resolve, reject);
  return {
    reply: promise,
    linesBefore: 1,
    end() {
      unwatch();
      process.kill();
    },
  };
}

/** The first line is the reply. A longer text than the longest reply is invalid. */
async function readLine(output: AsyncIterable<Uint8Array>, maxLength: number): Promise<string | undefined> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of output) {
    text += decoder.decode(chunk, { stream: true });
    const end = text.indexOf('\n');
    if (end >= 0) return text.slice(0, end);
    if (text.length > maxLength) return text;
  }
  return undefined;
}

/** The memory of an idle process in MB, with a margin. */
const baseMb = 96;

/**
 * Reads the memory of a process on Linux, if permitted; elsewhere only the heap and the time are limited. The whole process may have
 * twice the limit of the heap, for memory outside of it.
 */
export function watchMemory(
  platform: ProcessPlatform,
  pid: number,
  { maxMemoryMb, onExceeded }: { readonly maxMemoryMb: number; readonly onExceeded: () => void },
): () => void {
  const timer = setInterval(() => {
    if (residentMb(() => platform.readText(`/proc/${pid}/statm`)) > 2 * maxMemoryMb + baseMb) onExceeded();
  }, 20);
  return () => clearInterval(timer);
}

function residentMb(read: () => string): number {
  try {
    return (Number(read().split(' ')[1]) * 4096) / 1_000_000;
  } catch {
    return 0;
  }
}

/** The error of code that took too much memory. */
export function outOfMemory(maxMemoryMb: number): PinnaceError {
  return new PinnaceError('budget_exceeded', `The code took more than ${maxMemoryMb} MB of memory`, {
    details: { reason: 'out_of_memory' },
  });
}

/** The error of a host that may not start processes. */
export function mayNotStart(cause: unknown, remedy: string): PinnaceError {
  return new PinnaceError('unavailable', `Cannot run the code: ${remedy}`, {
    cause,
    retryable: false,
    details: { reason: 'not_isolated' },
  });
}
