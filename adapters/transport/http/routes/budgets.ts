/** The route of budgets: what the caller may use in a period, and what is used of it. */

import * as v from 'valibot';
import { json, named, type Operations, shapeOf, type WithTimes } from '../operation.ts';
import { Time } from '../schemas.ts';
import type { Served } from '../served.ts';
import type { BudgetView } from '../../../../src/runtime/budgets.ts';

const Amounts = v.object({
  tokens: v.optional(v.number()),
  cost: v.optional(v.object({ amount: v.number(), currency: v.string() })),
  runs: v.optional(v.number()),
  bytes: v.optional(v.number()),
});

const Budget = v.object({
  id: v.string(),
  of: v.picklist(['tenant', 'subject', 'agent']),
  agentId: v.optional(v.string()),
  every: v.picklist(['hour', 'day', 'week', 'month']),
  timeZone: v.string(),
  resetsAt: v.pipe(Time, v.description('When the next period starts')),
  share: v.pipe(v.number(), v.description('From 0 to 1: of what is used up most')),
  limit: v.optional(v.pipe(Amounts, v.description('Absent for the budget of a tenant, without the scope `admin`'))),
  used: v.optional(Amounts),
});

/** The operations of these routes. */
export const budgetOperations = {
  'GET /v1/budgets': {
    operationId: 'listBudgets',
    summary: "The caller's budgets, and what is used of them",
    scope: 'run:read',
    responses: {
      200: json<{ readonly items: readonly WithTimes<BudgetView, 'resetsAt'>[] }>(
        'The budgets, in the order of the composition',
        named('Budgets', shapeOf(v.object({ items: v.array(Budget) }))),
      ),
    },
  },
} satisfies Operations;

/** Creates the route. */
export function budgetRoutes({ runtime, serve: table }: Served): void {
  const serve = table(budgetOperations);
  serve('GET /v1/budgets', async (c) => {
    const budgets = await runtime.budgets(c.var.principal);
    return c.json({ items: budgets.map((one) => ({ ...one, resetsAt: new Date(one.resetsAt).toISOString() })) });
  });
}
