/** The parts that all sandboxes share: reject code that loads other code, enforce the time limit, read the reply. */

import { PinnaceError } from '../../src/base/errors.ts';
import type { Sandbox, SandboxOptions } from '../../src/contracts/sandbox.ts';
import type { PreludeSettings } from './prelude.ts';
import { invalidCode, readReply } from './reply.ts';

/** Isolated code that is running. */
export interface Cell {
  /** The first message of the code. Rejects with a `PinnaceError` if the code ends without one. */
  readonly reply: Promise<unknown>;
  /** The number of lines before the code in its module. */
  readonly linesBefore: number;
  /** Stops the code immediately. */
  readonly end: () => void;
}

export type Spawn = (code: string, settings: PreludeSettings) => Promise<Cell>;

/** A sandbox that knows whether its platform isolates. */
export interface ProbedSandbox extends Sandbox {
  /** Runs one line of code, for `readyz`. */
  readonly isReady: () => Promise<boolean>;
}

/** Creates a sandbox from a platform's isolation. Without one (`undefined`) every run is `unavailable`. */
export function createSandbox(spawn: Spawn | undefined): ProbedSandbox {
  const run = async (code: string, options: SandboxOptions): Promise<unknown> => {
    if (spawn === undefined) throw cannotIsolate();
    checkCode(code);
    return await runInCell(spawn, code, options);
  };
  return {
    run,
    async isReady() {
      const { signal } = new AbortController();
      return await run('return 1', { input: null, timeoutMs: 5000, signal }).then((one) => one === 1, () => false);
    },
  };
}

/** Keywords that load other modules. A keyword cannot be written as an escape, a string or a computed name. */
const modules = /\b(?:import|export)\b/;

/** @throws PinnaceError `invalid_argument` for code that loads other code. */
export function checkCode(code: string): void {
  if (!modules.test(code) && code.isWellFormed()) return;
  throw invalidCode('it must not say "import" or "export", not even in a text or a comment');
}

async function runInCell(spawn: Spawn, code: string, options: SandboxOptions): Promise<unknown> {
  const { input, signal, timeoutMs, maxOutputLength = 65_536 } = options;
  const { promise: ended, reject } = Promise.withResolvers<never>();
  ended.catch(() => {}); // the rejection may come before the cell exists
  const stop = (): void => reject(stopped());
  const timer = setTimeout(() => reject(timedOut(timeoutMs)), timeoutMs);
  let cell: Cell | undefined;
  try {
    if (signal.aborted) throw stopped();
    signal.addEventListener('abort', stop, { once: true });
    cell = await spawn(code, { input: JSON.stringify(input) ?? 'null', maxOutputLength });
    const reply = await Promise.race([ended, cell.reply]);
    return readReply(reply, { maxOutputLength, linesBefore: cell.linesBefore });
  } finally {
    cell?.end();
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
  }
}

/** The error of code whose signal aborted. */
export function stopped(): PinnaceError {
  return new PinnaceError('cancelled', 'The code was stopped with its run');
}

/** The error of code that takes longer than its time. */
export function timedOut(timeoutMs: number): PinnaceError {
  return new PinnaceError('deadline_exceeded', `The code took longer than ${timeoutMs} ms`);
}

/** The error of a platform without isolation. */
export function cannotIsolate(): PinnaceError {
  return new PinnaceError(
    'unavailable',
    'Cannot run the code: this sandbox does not isolate here; use workerSandbox in a page, nodeSandbox on Node, and denoSandbox on Deno ' +
      'with --allow-run',
    { retryable: false, details: { reason: 'not_isolated' } },
  );
}
