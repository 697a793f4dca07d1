/** Budgets: what a part of a plan may use, has used, and has set aside for the parts below it and for activities under way. */

import type { Budget } from './action.ts';
import type { Usage } from './run-agent.ts';

const fields = ['agents', 'steps', 'tokens', 'cost'] as const;

/** An amount of each thing that is limited. */
export type Amount = Readonly<Record<keyof Budget, number>>;

/** The account of the plan, or of an agent that has a budget of its own and of all below it that have none. */
export interface Account {
  readonly parent: Account | undefined;
  readonly limit: Amount;
  /** Whether tokens or cost are limited, here or above: then calls set aside more than a step. */
  readonly isMetered: boolean;
  readonly used: Record<keyof Budget, number>;
  /** Set aside: for living agents with budgets of their own, and, in the process that runs them, for calls under way. */
  readonly held: Record<keyof Budget, number>;
}

const nothing: Amount = { agents: 0, steps: 0, tokens: 0, cost: 0 };

/** Gives an account. Without a budget for something, the parent's is the limit. */
export function createAccount(budget: Budget, parent?: Account): Account {
  const limit = { agents: Infinity, steps: Infinity, tokens: Infinity, cost: Infinity };
  for (const field of fields) limit[field] = budget[field] ?? Infinity;
  const isMetered = limit.tokens !== Infinity || limit.cost !== Infinity || parent?.isMetered === true;
  return { parent, limit, isMetered, used: { ...nothing }, held: { ...nothing } };
}

/** What can still be used: here and above, where nothing is set aside for this account. */
export function remaining(account: Account): Amount {
  const left = { ...nothing };
  for (const field of fields) left[field] = remainingOf(account, field);
  return left;
}

function remainingOf({ limit, used, held, parent }: Account, field: keyof Budget): number {
  if (limit[field] !== Infinity) return limit[field] - used[field] - held[field];
  return parent ? remainingOf(parent, field) : Infinity;
}

/** The first thing of which there is not enough; `undefined` when there is. */
export function lacks(account: Account, amount: Budget): keyof Budget | undefined {
  return fields.find((field) => (amount[field] ?? 0) > 0 && (amount[field] ?? 0) > remainingOf(account, field));
}

/** Whether less than one is left. */
export function isUsedUp(account: Account, field: keyof Budget): boolean {
  return remainingOf(account, field) < 1;
}

/** Books what was used. It is booked where the limit is: above it, the whole budget is set aside until the agent ends. */
export function use(account: Account, field: keyof Budget, amount: number): void {
  for (let at: Account | undefined = account; at; at = at.limit[field] === Infinity ? at.parent : undefined) {
    at.used[field] += amount;
  }
}

/** Books the usage that a call reports. */
export function useCall(account: Account, usage?: Usage): void {
  use(account, 'steps', 1);
  if (!usage) return;
  const [tokens, cost] = [positive(usage.tokens), positive(usage.cost)];
  if (tokens > 0) use(account, 'tokens', tokens);
  if (cost > 0) use(account, 'cost', cost);
}

/**
 * The amount that a call reports, or nothing where it reports none. What is no amount (NaN, infinite, negative, no number) counts as
 * more than any budget: what was really used is unknown, so a budget must not let it pass.
 */
export function positive(amount: unknown): number {
  if (amount === undefined) return 0;
  return typeof amount === 'number' && Number.isFinite(amount) && amount >= 0 ? amount : unknownAmount;
}

const unknownAmount = Number.MAX_SAFE_INTEGER;

/** Reserves an amount, or with the sign -1 releases it. */
export function hold(account: Account, amount: Budget, sign: 1 | -1 = 1): void {
  for (const field of fields) {
    const value = amount[field] ?? 0;
    if (value === 0) continue;
    for (let at: Account | undefined = account; at; at = at.limit[field] === Infinity ? at.parent : undefined) {
      at.held[field] += sign * value;
    }
  }
}

/** Ends the account of an agent: what was set aside for it is given back, what it used is booked above. */
export function closeAccount({ parent, limit, used }: Account): void {
  if (!parent) return;
  for (const field of fields) {
    if (limit[field] === Infinity) continue;
    hold(parent, { [field]: limit[field] }, -1);
    use(parent, field, used[field]);
  }
}

/**
 * What the activities under way of one plan are taken to use, so that those at once cannot use the same twice. Without other
 * reservations, any remainder is enough: the real usage counts, which exceeds it by the usage of one activity.
 */
export class Reservations {
  readonly #reserve: Pick<Amount, 'tokens' | 'cost'>;
  readonly #made = new Map<string, { readonly account: Account; readonly amount: Budget }>();

  constructor(reserve: Pick<Amount, 'tokens' | 'cost'>) {
    this.#reserve = reserve;
  }

  /** Reserves what the activity may use, and returns `undefined`; or returns what is short: nothing starts where nothing is left. */
  take(activityId: string, account: Account): keyof Budget | undefined {
    const amount: Budget = { steps: 1 };
    if (account.isMetered) {
      const { tokens, cost } = remaining(account);
      if (tokens <= 0) return 'tokens';
      if (cost <= 0) return 'cost';
      if (tokens !== Infinity) amount.tokens = this.#reserve.tokens;
      if (cost !== Infinity) amount.cost = this.#reserve.cost;
    }
    const lacking = lacks(account, amount);
    if (lacking && (lacking === 'steps' || this.#isReserved(lacking))) return lacking;
    hold(account, amount);
    this.#made.set(activityId, { account, amount });
    return undefined;
  }

  /** Gives it back, when the usage is known or there is none. */
  giveBack(activityId: string): void {
    const made = this.#made.get(activityId);
    if (!made) return;
    this.#made.delete(activityId);
    hold(made.account, made.amount, -1);
  }

  #isReserved(field: keyof Budget): boolean {
    return [...this.#made.values()].some(({ amount }) => (amount[field] ?? 0) > 0);
  }
}
