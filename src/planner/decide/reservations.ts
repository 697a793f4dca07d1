/** What activities under way are taken to use, so that those at once cannot use the same twice. */

import { type Account, freeStep, hold, holdStep, lacks, remaining } from '../model/account.ts';
import type { Budget } from '../model/action.ts';
import type { PlanLimits } from '../model/plan-limits.ts';
import type { Activity } from '../model/plan-state.ts';

/** The reservations of one plan. */
export interface Reservations {
  /**
   * Reserves what the activity may use, and returns `undefined`; or returns the resource that is short. Nothing starts where nothing
   * is left, whatever is reserved. Without other reservations, any remainder is enough: the real usage counts, which exceeds it by
   * the usage of one activity.
   */
  take(activity: Activity): keyof Budget | undefined;
  /** Gives it back, when the usage is known or there is none. */
  giveBack(activity: Activity): void;
}

/** Gives reservations, none made. */
export function createReservations({ tokens, cost }: PlanLimits['reserve']): Reservations {
  const made = new Map<string, { readonly account: Account; readonly amount: Budget }>();
  const isReserved = (field: keyof Budget): boolean =>
    [...made.values()].some(({ amount }) => (amount[field] ?? 0) > 0);
  return {
    take({ id, agent: { account } }) {
      if (!account.isMetered && holdStep(account)) return undefined;
      const left = remaining(account);
      if (left.tokens <= 0) return 'tokens';
      if (left.cost <= 0) return 'cost';
      const amount: Budget = {
        steps: 1,
        ...(left.tokens !== Infinity && { tokens }),
        ...(left.cost !== Infinity && { cost }),
      };
      const lacking = lacks(account, amount);
      if (lacking && (lacking === 'steps' || isReserved(lacking))) return lacking;
      hold(account, amount);
      made.set(id, { account, amount });
      return undefined;
    },
    giveBack({ id, agent: { account } }) {
      const reserved = made.size > 0 ? made.get(id) : undefined;
      if (reserved) made.delete(id);
      if (reserved) hold(reserved.account, reserved.amount, -1);
      else freeStep(account);
    },
  };
}
