/**
 * A pool of sandboxes for one runtime. Each sandbox is a process or a worker with memory of its own, so few run at once, and the others
 * wait for their turn. Code tools and programs have pools of their own: a program that calls a code tool does not wait for itself.
 */

import { PinnaceError } from '../base/errors.ts';
import type { ProgramCell, ProgramSandbox } from '../contracts/program-sandbox.ts';
import type { Sandbox } from '../contracts/sandbox.ts';
import { createSlots } from './slots.ts';

/** How many sandboxes run at once. */
export interface SandboxPoolOptions {
  /** Programs at once, and runs of code tools at once. */
  readonly atOnce: number;
  /** The longest wait for a turn. Agents that a program calls may have programs too: without an end, these could wait for each other. */
  readonly waitMs?: number;
}

/** Returns the sandbox with a limit on what runs at once. A turn that does not come in time is `overloaded`, reason `sandboxes_busy`. */
export function pooledSandbox(
  sandbox: Sandbox | (Sandbox & ProgramSandbox),
  { atOnce, waitMs = 30_000 }: SandboxPoolOptions,
): Sandbox | (Sandbox & ProgramSandbox) {
  const slots = createSlots();
  const enter = async (pool: string, signal: AbortSignal): Promise<() => void> => {
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), waitMs);
    try {
      return await slots.take(pool, atOnce, AbortSignal.any([signal, late.signal]));
    } catch (error) {
      throw late.signal.aborted && !signal.aborted ? busy() : error;
    } finally {
      clearTimeout(timer);
    }
  };
  const run: Sandbox['run'] = async (code, options) => {
    const leave = await enter('code', options.signal);
    try {
      return await sandbox.run(code, options);
    } finally {
      leave();
    }
  };
  if (!('open' in sandbox)) return { run };
  return {
    run,
    timeZone: sandbox.timeZone,
    async open(code, options) {
      const leave = await enter('program', options.signal);
      try {
        return leaving(await sandbox.open(code, options), leave);
      } catch (error) {
        leave();
        throw error;
      }
    },
  };
}

/** Frees the slot of a program when it ends, however it does. */
function leaving(cell: ProgramCell, leave: () => void): ProgramCell {
  return {
    async next() {
      try {
        const message = await cell.next();
        if (message.t === 'end') leave();
        return message;
      } catch (error) {
        leave();
        throw error;
      }
    },
    deliver: (delivery) => cell.deliver(delivery),
    end() {
      cell.end();
      leave();
    },
  };
}

function busy(): PinnaceError {
  return new PinnaceError('overloaded', 'Cannot run the code now: all sandboxes of this runtime are busy', {
    status: 503,
    retryable: true,
    details: { reason: 'sandboxes_busy' },
  });
}
