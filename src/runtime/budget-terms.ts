/** The budgets of a period: their terms, whose they are, and the periods by the calendar of a time zone. */

import { localPrincipal, type Principal } from '../base/principal.ts';
import * as v from 'valibot';
import { wrongArgument } from '../base/check-options.ts';
import { PinnaceError } from '../base/errors.ts';
import { parse } from '../base/parse.ts';
import { Money } from '../base/record-fields.ts';

const Amount = v.optional(v.pipe(v.number(), v.integer(), v.minValue(0)));

/** What may be used in a period. */
const terms = {
  /** Tokens of models, prompts and answers together. */
  tokens: Amount,
  /** What the models cost, by the prices of their providers. A call of a model without a price in this currency is refused. */
  cost: v.optional(Money),
  /** Starts of runs. */
  runs: Amount,
  /** Bytes that are written: files, and messages of stored chats. */
  bytes: Amount,
};
const Terms = v.strictObject(terms);

/** What may be used in a period; absent: as much as is needed. */
export type BudgetTerms = v.InferOutput<typeof Terms>;

const Budget = v.strictObject({
  id: v.pipe(v.string(), v.regex(/^[\w.-]{1,64}$/, 'must be 1 to 64 letters, digits, "_", "." and "-"')),
  of: v.picklist(['tenant', 'subject', 'agent']),
  every: v.picklist(['hour', 'day', 'week', 'month']),
  timeZone: v.optional(v.string(), 'UTC'),
  agents: v.optional(v.pipe(v.array(v.string()), v.minLength(1), v.maxLength(1000))),
  ...terms,
});

/** A budget of a period, as it is parsed. */
export type PeriodBudget = v.InferOutput<typeof Budget>;

/**
 * A budget that is whole again with each period. Each tenant, subject or agent has one of its own; at least one of `tokens`, `cost`,
 * `runs` and `bytes` is limited.
 *
 * @example
 * const daily: PeriodBudgetInput = { id: 'day', of: 'tenant', every: 'day', timeZone: 'Europe/Berlin', tokens: 2_000_000 };
 */
export interface PeriodBudgetInput {
  /** Names it in errors, events and metrics: 1 to 64 letters, digits, `_`, `.` and `-`. A new id starts with nothing used. */
  readonly id: string;
  /** Whose it is: that of each tenant, each subject of a tenant, or each agent of a tenant. */
  readonly of: 'tenant' | 'subject' | 'agent';
  /** The period. Weeks start on Monday. */
  readonly every: 'hour' | 'day' | 'week' | 'month';
  /** The time zone of the calendar, such as `Europe/Berlin`. Default: `UTC`. */
  readonly timeZone?: string | undefined;
  /** Counts runs of these agents alone. Default: all. Not with `bytes`. */
  readonly agents?: readonly string[] | undefined;
  /** Tokens of models, prompts and answers together. */
  readonly tokens?: number | undefined;
  /** What the models cost. A call of a model without a price in this currency is refused as `no_price`. */
  readonly cost?: { readonly amount: number; readonly currency: string } | undefined;
  /** Starts of runs. */
  readonly runs?: number | undefined;
  /** Bytes that are written: files, and messages of stored chats. Deleting gives nothing back. */
  readonly bytes?: number | undefined;
}

/** Whose budget it is. */
export interface BudgetHolder {
  readonly tenant: string;
  readonly subject?: string;
  readonly agentId?: string;
}

/**
 * Returns other terms for one holder, such as those of its plan; `undefined` for the terms as they are. Called once for a holder and
 * period, on each instance.
 */
export type BudgetFor = (budget: PeriodBudgetInput, holder: BudgetHolder) => BudgetTerms | undefined;

/** Parses the budgets of a composition. @throws PinnaceError `invalid_argument` (`wrong_argument`). */
export function parseBudgets(given: readonly PeriodBudgetInput[]): readonly PeriodBudget[] {
  if (!Array.isArray(given)) throw wrong('budgets', 'must be an array of budgets');
  const budgets = given.map((one, at) => parse(Budget, one, { what: `budget ${at} of the runtime` }));
  for (const [at, budget] of budgets.entries()) {
    const { id, of, agents, bytes, timeZone } = budget;
    const name = `budgets.${at}`;
    if (budgets.findIndex((other) => other.id === id) < at) throw wrong(`${name}.id`, `names two budgets "${id}"`);
    if (!isLimited(budget)) throw wrong(name, 'must limit tokens, cost, runs or bytes');
    if (bytes !== undefined && (of === 'agent' || agents)) throw wrong(`${name}.bytes`, 'cannot be those of an agent');
    if (!isTimeZone(timeZone)) {
      throw wrong(`${name}.timeZone`, `must be a time zone such as "Europe/Berlin", not "${timeZone}"`);
    }
  }
  return budgets;
}

/** Returns the terms that hold for one holder. @throws PinnaceError `internal` for what `budgetFor` must not return. */
export function termsFor(
  budget: PeriodBudget,
  { holder, budgetFor }: { readonly holder: BudgetHolder; readonly budgetFor: BudgetFor | undefined },
): BudgetTerms {
  const { tokens, cost, runs, bytes } = budget;
  const own = budgetFor?.(budget, holder);
  if (own === undefined) return { tokens, cost, runs, bytes };
  const parsed = v.safeParse(Terms, own);
  if (parsed.success) return { tokens, cost, runs, bytes, ...parsed.output };
  throw new PinnaceError('internal', `Cannot keep budget "${budget.id}": "budgetFor" returned no terms`, {
    details: { reason: 'budget_terms' },
  });
}

function isLimited({ tokens, cost, runs, bytes }: BudgetTerms): boolean {
  return [tokens, cost, runs, bytes].some((limit) => limit !== undefined);
}

/** Whether this platform knows the time zone. */
export function isTimeZone(timeZone: string): boolean {
  try {
    return calendarOf(timeZone) !== undefined;
  } catch {
    return false;
  }
}

function wrong(field: string, why: string): PinnaceError {
  return wrongArgument('compose the runtime', field, `"${field}" ${why}`);
}

/** A period of a calendar. */
export interface Period {
  /** Part of the key of what was spent, so that nothing is ever reset. */
  readonly label: string;
  /** Milliseconds since 1970. */
  readonly endsAt: number;
}

const hourMs = 3_600_000;
/** Longer than any period: a day may have 49 hours of distance to the next, where a zone skips one. */
const longestMs = { hour: hourMs, day: 50 * hourMs, week: 9 * 24 * hourMs, month: 33 * 24 * hourMs };

/** Returns the period that a time is in. */
export function periodAt(now: number, { every, timeZone }: Pick<PeriodBudget, 'every' | 'timeZone'>): Period {
  if (every === 'hour') {
    const start = Math.floor(now / hourMs) * hourMs;
    return { label: new Date(start).toISOString().slice(0, 13), endsAt: start + hourMs };
  }
  const calendar = calendarOf(timeZone);
  const labelAt = (time: number): string => labelOf(every, calendar.format(time));
  const label = labelAt(now);
  let [before, after] = [now, now + longestMs[every]];
  while (after - before > 1) { // where the next one starts, whatever the zone does to its clocks
    const middle = Math.floor((before + after) / 2);
    if (labelAt(middle) === label) before = middle;
    else after = middle;
  }
  return { label, endsAt: after };
}

/** The label of a date that is written as `2026-11-27`. A week has that of its Monday. */
function labelOf(every: 'day' | 'week' | 'month', date: string): string {
  if (every === 'month') return date.slice(0, 7);
  if (every === 'day') return date;
  const time = Date.parse(`${date}T00:00:00Z`);
  const sinceMonday = (new Date(time).getUTCDay() + 6) % 7;
  return `w${new Date(time - sinceMonday * 24 * hourMs).toISOString().slice(0, 10)}`;
}

const calendars = new Map<string, Intl.DateTimeFormat>();

function calendarOf(timeZone: string): Intl.DateTimeFormat {
  const known = calendars.get(timeZone);
  if (known) return known;
  const calendar = new Intl.DateTimeFormat('en-CA', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' });
  calendars.set(timeZone, calendar);
  return calendar;
}

/** Pays for the bytes that callers write outside of chats: memories, and files that a data source receives. */
export function paysBytes(
  budgets: { write(spender: { readonly tenant: string; readonly subject: string }, bytes: number): Promise<void> },
): (principal: Principal | undefined, bytes: number) => Promise<void> {
  return async (principal, bytes) => {
    const { tenant, subject } = principal ?? localPrincipal();
    await budgets.write({ tenant, subject }, bytes);
  };
}
