/** What a tool that hands work to another agent knows of the call around it. */

import type { UIMessageChunk } from '../contracts/ai-types.ts';

/** The call's place among agents, and what it may still use. */
export interface Delegation {
  /** The agents that have handed the work on, the calling one last. */
  readonly callers: readonly string[];
  /** Takes tokens out of what the caller has left; `undefined`: it has no bound. */
  readonly reserve: () => TokenReserve | undefined;
  /** Counts what the work has used. */
  readonly used: (tokens: number) => void;
  /** Shows a part of the work in the caller's stream. */
  readonly show: (chunk: UIMessageChunk) => void;
}

/** Reserved tokens. No other call may use them until they are released. */
export interface TokenReserve {
  readonly tokens: number;
  readonly release: () => void;
}

/** Creates the delegation of a caller that has no bound and shows nothing. */
export function unboundDelegation(callers: readonly string[]): Delegation {
  return { callers, reserve: () => undefined, used: () => undefined, show: () => undefined };
}

/** Creates the reserves of one run: each takes half of what is left, so that the caller can go on afterwards. */
export function createReserves(left: () => number): Delegation['reserve'] {
  let reserved = 0;
  return () => {
    const most = left();
    if (most === Infinity) return undefined;
    const tokens = Math.max(0, Math.floor((most - reserved) / 2));
    reserved += tokens;
    let isHeld = true;
    const release = (): void => {
      if (isHeld) reserved -= tokens;
      isHeld = false;
    };
    return { tokens, release };
  };
}
