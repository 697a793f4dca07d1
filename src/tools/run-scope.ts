/** What calls share: what a run keeps open for its tools, the slots of tools, and what a tool that hands work on may use. */

import { PinnaceError } from '../base/errors.ts';
import type { Money } from '../base/record-fields.ts';
import type { UIMessageChunk } from '../contracts/ai-types.ts';

/** Something that is closed when its run ends. `close` never rejects. */
export interface Closable {
  close(): Promise<void>;
}

export interface RunScope {
  /** Returns what is stored under the key; opens it the first time. After the end of the run it is closed at once. */
  keep<T extends Closable>(key: object, open: () => T): T;
  /** Closes everything. Twice equals once. */
  close(): Promise<void>;
}

/** Creates an empty scope. */
export function createRunScope(): RunScope {
  const opened = new Map<object, Closable>();
  let ended = false;
  return {
    keep<T extends Closable>(key: object, open: () => T): T {
      const known = opened.get(key);
      if (known) return known as T; // safe: only the owner of the key stores something under it
      const made = open();
      if (ended) void made.close();
      else opened.set(key, made);
      return made;
    },
    async close() {
      ended = true;
      const all = [...opened.values()];
      opened.clear();
      await Promise.all(all.map((one) => one.close()));
    },
  };
}

/** Places for calls, by tool. */
export interface Slots {
  /**
   * Waits for a slot and returns the function that frees it.
   *
   * @throws PinnaceError `cancelled` when the signal aborts before there is one.
   */
  take(toolId: string, limit: number, signal: AbortSignal): Promise<() => void>;
}

interface SlotQueue {
  taken: number;
  readonly waiting: (() => void)[];
}

export function createSlots(): Slots {
  const places = new Map<string, SlotQueue>();
  const free = (toolId: string, place: SlotQueue): void => {
    const next = place.waiting.shift();
    if (next) return next(); // the place goes from hand to hand
    place.taken -= 1;
    if (place.taken === 0) places.delete(toolId);
  };
  return {
    async take(toolId, limit, signal) {
      const place = places.get(toolId) ?? { taken: 0, waiting: [] };
      places.set(toolId, place);
      if (place.taken < limit) place.taken += 1;
      else await turn(place, toolId, signal);
      let held = true;
      return () => {
        if (held) free(toolId, place);
        held = false;
      };
    },
  };
}

async function turn({ waiting }: SlotQueue, toolId: string, signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const onAbort = (): void => {
    const at = waiting.indexOf(resolve);
    if (at >= 0) waiting.splice(at, 1);
    reject(new PinnaceError('cancelled', `Tool "${toolId}" was stopped before its turn came`));
  };
  waiting.push(resolve);
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    await promise;
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/** The call's place among agents, and what it may still use. */
export interface Delegation {
  /** The agents that have handed the work on, the calling one last. */
  readonly callers: readonly string[];
  /** Takes a part of what the caller has left; `undefined`: it has no bound. */
  readonly reserve: () => Reserve | undefined;
  /** Counts what the work has used. */
  readonly used: (amount: { readonly tokens: number; readonly cost?: Money | undefined }) => void;
  /** Shows a part of the work in the caller's stream. */
  readonly show: (chunk: UIMessageChunk) => void;
}

/** Reserved tokens and money; `Infinity` without a bound. No other call may use them until they are released. */
export interface Reserve {
  readonly tokens: number;
  readonly cost: number;
  readonly currency?: string | undefined;
  readonly release: () => void;
}

export interface CallerBudget {
  readonly left: { readonly tokens: number; readonly cost: number };
  readonly terms: { readonly cost?: { readonly currency?: string | undefined } | undefined };
}

/** Creates the delegation of a caller that has no bound and shows nothing. */
export function unboundDelegation(callers: readonly string[]): Delegation {
  return { callers, reserve: () => undefined, used: () => undefined, show: () => undefined };
}

/** Creates the reserves of one run: each takes half of what is left, so that the caller can go on afterwards. */
export function createReserves(budget: CallerBudget): Delegation['reserve'] {
  const reserved = { tokens: 0, cost: 0 };
  return () => {
    const { left: { tokens: mostTokens, cost: mostCost }, terms } = budget;
    if (mostTokens === Infinity && mostCost === Infinity) return undefined;
    const tokens = Math.max(0, Math.floor((mostTokens - reserved.tokens) / 2));
    const cost = Math.max(0, (mostCost - reserved.cost) / 2);
    change(reserved, { tokens, cost }, 1);
    let isHeld = true;
    const release = (): void => {
      if (isHeld) change(reserved, { tokens, cost }, -1);
      isHeld = false;
    };
    return { tokens, cost, currency: terms.cost?.currency, release };
  };
}

type Amounts = Record<'tokens' | 'cost', number>;

function change(reserved: Amounts, { tokens, cost }: Amounts, sign: 1 | -1): void {
  if (tokens !== Infinity) reserved.tokens += sign * tokens;
  if (cost !== Infinity) reserved.cost += sign * cost;
}

export const codeRunId = 'code_run';

/** The id of the tool by which a guarded agent asks whether it may do what a stranger's text says. */
export const followId = 'follow';

/** The key of the host in a run's scope. */
export const programHostKey: object = {};
