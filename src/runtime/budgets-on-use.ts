/** The budgets of a runtime. Their code is loaded with the first run: most runtimes have none. */

import { loadOnce } from '../base/load-once.ts';
import { localPrincipal, type Principal } from '../base/principal.ts';
import type { Budgets, BudgetsOptions } from './budgets.ts';

/** Creates the budgets; `undefined` where there are none, so that nothing of them is in the way of a run. */
export function budgetsOnUse(options: BudgetsOptions): Budgets | undefined {
  if (options.budgets.length === 0) return undefined;
  let loaded: Budgets | undefined;
  const load = loadOnce(async () => loaded = (await import('./budgets.ts')).createBudgets(options));
  return {
    startRun: async (...args) => await (await load()).startRun(...args),
    hold: async (...args) => await (await load()).hold(...args),
    write: async (...args) => await (await load()).write(...args),
    list: async (...args) => await (await load()).list(...args),
    close: async () => await loaded?.close(),
  };
}

/** Pays for the bytes that callers write outside of chats: memories, and files that a data source receives. */
export function paysBytes(budgets: Budgets): (principal: Principal | undefined, bytes: number) => Promise<void> {
  return async (principal, bytes) => {
    const { tenant, subject } = principal ?? localPrincipal();
    await budgets.write({ tenant, subject }, bytes);
  };
}
