/** What every sandbox does around its walls: refuses code that reaches for other code, keeps time, reads the reply. */

import { PinnaceError } from '../../src/base/errors.ts';
import type { Sandbox, SandboxOptions } from '../../src/contracts/sandbox.ts';
import type { PreludeSettings } from './prelude.ts';
import { invalidCode, readReply } from './reply.ts';

/** Code that is running behind walls. */
export interface Cell {
  /** The first thing that comes out. Rejects with a `PinnaceError` when it ends otherwise. */
  readonly reply: Promise<unknown>;
  /** How many lines of its module stand before the code. */
  readonly linesBefore: number;
  /** Ends it, whatever it is doing. */
  readonly end: () => void;
}

/** Starts a cell for the code. */
export type Spawn = (code: string, settings: PreludeSettings) => Promise<Cell>;

/** A sandbox that knows whether its platform isolates. */
export interface ProbedSandbox extends Sandbox {
  /** For `readyz`: runs a line of code. */
  readonly isReady: () => Promise<boolean>;
}

/** Creates the sandbox for a way to build walls; `undefined`: there are none, and every run is `unavailable`. */
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

/** Words that reach other modules. They are keywords: no escape, no text and no name that is built can stand for them. */
const modules = /\b(?:import|export)\b/;

function checkCode(code: string): void {
  if (!modules.test(code) && code.isWellFormed()) return;
  throw invalidCode('it must not say "import" or "export", not even in a text or a comment');
}

async function runInCell(spawn: Spawn, code: string, options: SandboxOptions): Promise<unknown> {
  const { input, signal, timeoutMs, maxOutputLength = 65_536 } = options;
  const { promise: ended, reject } = Promise.withResolvers<never>();
  ended.catch(() => {}); // it may come before there is anything to end
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

function stopped(): PinnaceError {
  return new PinnaceError('cancelled', 'The code was stopped with its run');
}

function timedOut(timeoutMs: number): PinnaceError {
  return new PinnaceError('deadline_exceeded', `The code took longer than ${timeoutMs} ms`);
}

function cannotIsolate(): PinnaceError {
  return new PinnaceError(
    'unavailable',
    'Cannot run the code: this platform does not isolate it; a browser does, and Deno where it may run itself',
    { retryable: false, details: { reason: 'not_isolated' } },
  );
}
