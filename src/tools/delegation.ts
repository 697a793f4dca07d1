/** What a tool that hands work to another agent knows of the call around it. */

import type { Money } from '../base/record-fields.ts';
import type { UIMessageChunk } from '../contracts/ai-types.ts';

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
  /** The currency of the cost. */
  readonly currency?: string | undefined;
  readonly release: () => void;
}

/** The budget of a caller. */
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
