/**
 * A pool of sandboxes for one runtime. Each is a process or a worker with memory of its own, so few run at once, and more wait their
 * turn: those go first whose tenant, then whose run, holds the fewest. Code tools and programs have places of their own: a program that
 * calls a code tool does not wait for itself.
 */

import { PinnaceError } from '../base/errors.ts';
import type { ProgramOptions, ProgramSandbox, Sandbox, SandboxOptions } from '../contracts/sandbox.ts';
import type { ToolContext } from './tool.ts';

/** How many sandboxes run at once. */
export interface SandboxPoolOptions {
  /** Programs at once, and runs of code tools at once. */
  readonly atOnce: number;
  /** The longest wait for a turn. A tool that a program calls may start runs with programs: these could wait for each other. */
  readonly waitMs?: number;
}

/** Programs at once, and code tools at once, of one run. */
const perRun = 2;

/** Who runs code, and what is called when the code has to wait, and when its turn has come. */
export interface SandboxHolder extends Pick<ToolContext, 'principal' | 'scope'> {
  readonly onQueue?: (isWaiting: boolean) => void;
}

/** A sandbox whose code waits its turn. Its time limit starts with the turn. */
export interface PooledSandbox {
  run(code: string, options: SandboxOptions & { readonly holder: SandboxHolder }): Promise<unknown>;
}

/** A sandbox for programs that wait their turn. A program has its place until its cell is ended. */
export interface PooledPrograms extends Pick<ProgramSandbox, 'timeZone'> {
  open(code: string, options: ProgramOptions & { readonly holder: SandboxHolder }): ReturnType<ProgramSandbox['open']>;
}

/** Returns the sandbox with a limit on what runs at once. A turn that does not come in time is `overloaded`, reason `sandboxes_busy`. */
export function pooledSandbox(
  sandbox: Sandbox | (Sandbox & ProgramSandbox),
  { atOnce, waitMs = 30_000 }: SandboxPoolOptions,
): PooledSandbox | (PooledSandbox & PooledPrograms) {
  const limits = { atOnce, waitMs };
  const places = new Places(limits);
  const pooled: PooledSandbox = {
    async run(code, { holder, ...options }) {
      const free = await places.take(holder, options.signal);
      try {
        return await sandbox.run(code, options);
      } finally {
        free();
      }
    },
  };
  return 'open' in sandbox ? { ...pooled, ...poolPrograms(sandbox, new Places(limits)) } : pooled;
}

function poolPrograms(sandbox: ProgramSandbox, places: Places): PooledPrograms {
  return {
    timeZone: sandbox.timeZone,
    async open(code, { holder, ...options }) {
      const free = await places.take(holder, options.signal);
      try {
        const cell = await sandbox.open(code, options);
        return {
          next: () => cell.next(),
          deliver: (delivery) => cell.deliver(delivery),
          end() {
            cell.end();
            free();
          },
        };
      } catch (error) {
        free();
        throw error;
      }
    },
  };
}

interface Waiting {
  readonly tenant: string;
  readonly run: object;
  readonly start: () => void;
}

/** Places for code, each held by a run of a tenant. */
class Places {
  readonly #limits: Required<SandboxPoolOptions>;
  readonly #held = new Map<object | string, number>();
  #waiting: Waiting[] = [];
  #taken = 0;

  constructor(limits: Required<SandboxPoolOptions>) {
    this.#limits = limits;
  }

  /**
   * Waits for a place and returns the function that frees it. Twice equals once.
   *
   * @throws PinnaceError `overloaded` with the reason `sandboxes_busy` after `waitMs`, `cancelled` when the signal aborts before.
   */
  async take({ principal: { tenant }, scope, onQueue }: SandboxHolder, signal: AbortSignal): Promise<() => void> {
    const run = scope ?? {}; // a call outside a run is a run of its own
    if (signal.aborted) throw stopped();
    if (this.#hasRoom(run)) this.#count({ tenant, run }, 1);
    else {
      onQueue?.(true);
      await this.#turn({ tenant, run }, signal);
      onQueue?.(false);
    }
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#count({ tenant, run }, -1);
      this.#startNext();
    };
  }

  async #turn(holder: Omit<Waiting, 'start'>, signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiting = { ...holder, start: resolve };
    const leave = (error: PinnaceError): void => {
      this.#waiting = this.#waiting.filter((one) => one !== waiting);
      reject(error);
    };
    const onAbort = (): void => leave(stopped());
    const timer = setTimeout(() => leave(busy()), this.#limits.waitMs);
    signal.addEventListener('abort', onAbort, { once: true });
    this.#waiting.push(waiting);
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    }
  }

  #hasRoom(run: object): boolean {
    return this.#taken < this.#limits.atOnce && this.#holds(run) < perRun;
  }

  /** Of those whose run may have another, the one whose tenant holds the fewest, then whose run does, then who came first. */
  #startNext(): void {
    let next: Waiting | undefined;
    for (const one of this.#waiting) {
      if (this.#hasRoom(one.run) && (!next || this.#isBefore(one, next))) next = one;
    }
    if (!next) return;
    const started = next;
    this.#waiting = this.#waiting.filter((one) => one !== started);
    this.#count(started, 1); // at once: a later caller must not take the place
    started.start();
  }

  #isBefore(one: Waiting, other: Waiting): boolean {
    const byTenant = this.#holds(one.tenant) - this.#holds(other.tenant);
    return byTenant < 0 || (byTenant === 0 && this.#holds(one.run) < this.#holds(other.run));
  }

  #holds(holder: object | string): number {
    return this.#held.get(holder) ?? 0;
  }

  #count({ tenant, run }: Pick<Waiting, 'tenant' | 'run'>, by: 1 | -1): void {
    this.#taken += by;
    for (const holder of [tenant, run]) {
      const count = this.#holds(holder) + by;
      if (count === 0) this.#held.delete(holder);
      else this.#held.set(holder, count);
    }
  }
}

function stopped(): PinnaceError {
  return new PinnaceError('cancelled', 'The code was stopped with its run, before its turn came');
}

function busy(): PinnaceError {
  return new PinnaceError('overloaded', 'Cannot run the code now: all sandboxes of this runtime are busy', {
    details: { reason: 'sandboxes_busy' },
  });
}
