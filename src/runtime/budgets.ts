/** The budgets of a runtime: pays runs, model calls and writes from the purses of tenant, subject and agent. */

import type { Notice, NoticeMaker } from '../contracts/notices.ts';
import { PinnaceError } from '../base/errors.ts';
import { type Principal, requireScope } from '../base/principal.ts';
import type { Provider } from '../base/schema.ts';
import type { Metrics } from '../base/metrics.ts';
import type { Storage } from '../contracts/storage.ts';
import type { Emit } from '../events/events.ts';
import { traceAt } from '../events/span.ts';
import { createTraceId } from '../events/trace-ids.ts';
import { type CallHold, type CallNeed, fullPrices, requirePrice } from './model-budget.ts';
import {
  type BudgetFor,
  type BudgetHolder,
  type BudgetTerms,
  type Period,
  periodAt,
  type PeriodBudget,
  termsFor,
} from './budget-terms.ts';
import { type Amounts, type Measure, measures, Purse } from './purse.ts';

/** Who spends: a run of an agent for a subject, or without an agent a person who writes. */
export interface Spender {
  readonly tenant: string;
  readonly subject: string;
  readonly agentId?: string;
}

/** A budget as its holder sees it. */
export interface BudgetView {
  readonly id: string;
  readonly of: PeriodBudget['of'];
  /** The agent, of a budget of agents. */
  readonly agentId?: string;
  readonly every: PeriodBudget['every'];
  readonly timeZone: string;
  /** When the next period starts, in milliseconds since 1970. */
  readonly resetsAt: number;
  /** From 0 to 1: of what is used up most. */
  readonly share: number;
  /** Absent in the budget of a tenant, whose amounts are for administrators. */
  readonly limit?: BudgetTerms;
  readonly used?: BudgetTerms;
}

/** The budgets of a runtime. */
export interface Budgets {
  /**
   * Pays for a run before its claim, and returns the function that takes that back when nothing was started.
   *
   * @throws PinnaceError `budget_exceeded` (`period_runs`, `period_tokens`, `period_cost`), `invalid_argument` (`no_price`),
   * `unavailable` (`budget_unavailable`).
   */
  startRun(spender: Spender, provider: Provider): Promise<() => void>;
  /** Reserves what a model call needs; `undefined` where no budget counts it. @throws PinnaceError as `startRun`. */
  hold(spender: Spender, need: CallNeed): Promise<CallHold | undefined>;
  /** Pays for bytes before they are written. @throws PinnaceError `budget_exceeded` (`period_bytes`), `unavailable`. */
  write(spender: Spender, bytes: number): Promise<void>;
  /** The budgets of a caller. @throws PinnaceError `forbidden` without the scope `run:read`. */
  list(principal: Principal): Promise<readonly BudgetView[]>;
  /** Gives back what is left. */
  close(): Promise<void>;
}

/** What budgets are composed of. */
export interface BudgetsOptions {
  readonly budgets: readonly PeriodBudget[];
  readonly budgetFor: BudgetFor | undefined;
  readonly storage: Pick<Storage, 'get' | 'commit'>;
  readonly graceMs: number;
  readonly emit: Emit;
  readonly metrics: Pick<Metrics, 'gauge'>;
  /** Makes the notices of budgets; `undefined` where nobody is sent any. */
  readonly notices: NoticeMaker | undefined;
  readonly now: () => number;
}

/** A purse that has not been used for this long gives back what it has. */
const idleMs = 60_000;

/** Creates the budgets. */
export function createBudgets(options: BudgetsOptions): Budgets {
  return new RuntimeBudgets(options);
}

interface OpenPurse {
  readonly purse: Purse;
  readonly budget: PeriodBudget;
  readonly holder: BudgetHolder;
  readonly terms: BudgetTerms;
  readonly limit: Amounts;
  readonly period: Period;
  usedAt: number;
}

class RuntimeBudgets implements Budgets {
  readonly #options: BudgetsOptions;
  readonly #purses = new Map<string, OpenPurse>();
  readonly #periods = new Map<string, Period & { readonly since: number }>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;

  constructor(options: BudgetsOptions) {
    this.#options = options;
    for (const { id } of options.budgets) {
      const share = (): number =>
        Math.max(0, ...[...this.#purses.values()].map(({ budget, purse }) => budget.id === id ? purse.share : 0));
      options.metrics.gauge('pinnace_budget_share', share, { budget: id });
    }
  }

  async startRun(spender: Spender, provider: Provider): Promise<() => void> {
    const purses = this.#pursesOf(spender, ['runs', 'tokens', 'micros']);
    for (const { terms } of purses) requirePrice(provider, terms.cost);
    for (const { purse } of purses) await purse.requireSome(['tokens', 'micros']);
    const taken = await takeAll(purses, { runs: 1 });
    let isOpen = true;
    for (const { purse, got } of taken) purse.settle(got, { runs: 1 });
    return () => {
      if (!isOpen) return;
      isOpen = false;
      for (const { purse } of taken) purse.settle({}, { runs: -1 });
    };
  }

  async hold(spender: Spender, { input, output, provider }: CallNeed): Promise<CallHold | undefined> {
    const purses = this.#pursesOf(spender, ['tokens', 'micros']);
    if (purses.length === 0) return undefined;
    for (const { terms } of purses) requirePrice(provider, terms.cost);
    const prices = fullPrices(provider.prices);
    const inputPrice = Math.max(prices?.input ?? 0, prices?.cacheWrite ?? 0);
    const amounts = (tokens: number): Amounts => ({
      tokens: input + tokens,
      micros: Math.ceil(input * inputPrice + tokens * (prices?.output ?? 0)), // a price is for a million tokens
    });
    const taken = await takeAll(purses, amounts(1), amounts(output));
    const roomOf = ({ tokens = Infinity, micros = Infinity }: Amounts): number => {
      const paid = micros === Infinity || !prices?.output ? Infinity : (micros - input * inputPrice) / prices.output;
      return Math.floor(Math.min(tokens - input, paid));
    };
    const least = taken.toSorted((a, b) => roomOf(a.got) - roomOf(b.got))[0];
    const outputTokens = Math.max(1, Math.min(output, least ? roomOf(least.got) : output));
    const needed = amounts(outputTokens);
    const held = taken.map(({ purse, got }) => ({ purse, got: shrink(purse, got, needed) }));
    let isOpen = true;
    return {
      said: 0,
      outputTokens,
      cut: outputTokens < output && least
        ? exceeded(least.open, tightest(least.got, needed), this.#options.now())
        : undefined,
      settle({ tokens, cost }) {
        if (!isOpen) return;
        isOpen = false;
        for (const { purse, got } of held) purse.settle(got, { tokens, micros: Math.ceil(cost * 1_000_000) });
      },
    };
  }

  async write(spender: Spender, bytes: number): Promise<void> {
    const taken = await takeAll(this.#pursesOf(spender, ['bytes']), { bytes });
    for (const { purse, got } of taken) purse.settle(got, { bytes });
  }

  async list(principal: Principal): Promise<readonly BudgetView[]> {
    requireScope(principal, 'run:read');
    const { tenant, subject, agents } = principal;
    const open = this.#options.budgets.flatMap((budget) => {
      if (budget.of !== 'agent') return [this.#open(budget, { tenant, subject })];
      const ids = budget.agents ?? (agents === '*' ? [] : agents);
      return ids.filter((id) => agents === '*' || agents.includes(id))
        .map((agentId) => this.#open(budget, { tenant, subject, agentId }));
    });
    return await Promise.all(open.map((one) => viewOf(one, principal.scopes.includes('admin'))));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await Promise.all([...this.#purses.values()].map(({ purse }) => purse.giveBack().catch(() => undefined)));
    this.#purses.clear();
  }

  /** The purses that pay for the spender, in the order of the budgets, which limit any of these. */
  #pursesOf(spender: Spender, any: readonly Measure[]): readonly OpenPurse[] {
    const { agentId } = spender;
    return this.#options.budgets.flatMap((budget) => {
      const isOwn = agentId === undefined
        ? budget.of !== 'agent' && !budget.agents
        : budget.agents?.includes(agentId) ?? true;
      if (!isOwn) return [];
      const open = this.#open(budget, spender);
      return any.some((measure) => open.limit[measure] !== undefined) ? [open] : [];
    });
  }

  #open(budget: PeriodBudget, spender: Spender): OpenPurse {
    const { storage, graceMs, emit, now, budgetFor, notices } = this.#options;
    const at = now();
    const period = this.#periodOf(budget, at);
    const holder = holderOf(budget, spender);
    const who = holder.agentId ?? holder.subject ?? '';
    const name = JSON.stringify([budget.id, holder.tenant, who, period.label]);
    const known = this.#purses.get(name);
    if (known) {
      known.usedAt = at;
      return known;
    }
    const terms = termsFor(budget, { holder, budgetFor });
    const limit = limitOf(terms);
    const open: OpenPurse = {
      budget,
      holder,
      terms,
      limit,
      period,
      usedAt: at,
      purse: new Purse({
        storage,
        graceMs,
        key: ['spent', holder.tenant, budget.id, who, period.label],
        limit,
        ttlMs: 2 * (period.endsAt - at) + periodsMs[budget.every],
        exceeded: (measure) => exceeded(open, measure, now()),
        announce: (what) => notices?.changes(noticeOf(open, what, now())) ?? [],
        emit(what, measure) {
          emitBudget({ open, what, measure }, { emit, now });
          notices?.send();
        },
      }),
    };
    this.#purses.set(name, open);
    this.#watch();
    return open;
  }

  #periodOf(budget: PeriodBudget, at: number): Period {
    const known = this.#periods.get(budget.id);
    if (known && at >= known.since && at < known.endsAt) return known;
    const period = { ...periodAt(at, budget), since: at };
    this.#periods.set(budget.id, period);
    return period;
  }

  /** Gives back what purses have that are idle, or of a period that is over. There is a timer only while there are purses. */
  #watch(): void {
    if (this.#timer !== undefined || this.#isClosed) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      const at = this.#options.now();
      for (const [name, { purse, usedAt, period }] of this.#purses) {
        if (purse.isReserved || (at - usedAt < idleMs && at < period.endsAt)) continue;
        this.#purses.delete(name);
        void purse.giveBack().catch(() => undefined); // then it stays spent until the period ends
      }
      if (this.#purses.size > 0) this.#watch();
    }, idleMs);
    (this.#timer as { unref?: () => void }).unref?.(); // Node: a process may end without it
  }
}

const dayMs = 86_400_000;
const periodsMs = { hour: dayMs / 24, day: dayMs, week: 7 * dayMs, month: 31 * dayMs };

interface Taken {
  readonly open: OpenPurse;
  readonly purse: Purse;
  readonly got: Amounts;
}

/** Takes from all purses or from none. */
async function takeAll(purses: readonly OpenPurse[], least: Amounts, most: Amounts = least): Promise<readonly Taken[]> {
  const taken: Taken[] = [];
  try {
    for (const open of purses) taken.push({ open, purse: open.purse, got: await open.purse.take(least, most) });
    return taken;
  } catch (error) {
    for (const { purse, got } of taken) purse.settle(got);
    throw error;
  }
}

/** Releases what is more than needed, and returns the rest. */
function shrink(purse: Purse, got: Amounts, needed: Amounts): Amounts {
  const over: Record<string, number> = {};
  const rest: Record<string, number> = {};
  for (const measure of measures) {
    const amount = got[measure];
    if (amount === undefined) continue;
    rest[measure] = Math.min(amount, needed[measure] ?? 0);
    over[measure] = amount - rest[measure];
  }
  purse.settle(over);
  return rest;
}

/** Of which measure there was least for the need. */
function tightest(got: Amounts, needed: Amounts): Measure {
  const { micros, tokens } = got;
  if (micros === undefined) return 'tokens';
  return tokens === undefined || micros - (needed.micros ?? 0) < tokens - (needed.tokens ?? 0) ? 'micros' : 'tokens';
}

function holderOf({ of }: PeriodBudget, { tenant, subject, agentId = '' }: Spender): BudgetHolder {
  if (of === 'tenant') return { tenant };
  return of === 'subject' ? { tenant, subject } : { tenant, agentId };
}

function limitOf({ tokens, cost, runs, bytes }: BudgetTerms): Amounts {
  return { tokens, micros: cost && Math.round(cost.amount * 1_000_000), runs, bytes };
}

const words = { tokens: 'tokens', micros: 'cost', runs: 'runs', bytes: 'bytes' } as const;
const owners = { tenant: 'the tenant', subject: 'this person', agent: 'the agent' } as const;

function exceeded(
  { budget: { id, of, every }, period: { endsAt } }: OpenPurse,
  measure: Measure,
  now: number,
): PinnaceError {
  const resetsAt = new Date(endsAt).toISOString();
  return new PinnaceError(
    'budget_exceeded',
    `Cannot go on: the budget "${id}" of ${owners[of]} for this ${every} does not have enough ${
      measure === 'micros' ? 'money' : words[measure]
    } left; it starts again at ${resetsAt}`,
    {
      retryAfterMs: Math.max(1, endsAt - now),
      details: { reason: `period_${words[measure]}`, budget: id, of, every, resetsAt },
    },
  );
}

async function viewOf(
  { budget, holder, terms, limit, period, purse }: OpenPurse,
  isAdmin: boolean,
): Promise<BudgetView> {
  const used = await purse.usedNow();
  const shares = measures.flatMap((measure) => {
    const most = limit[measure];
    return most === undefined ? [] : [most === 0 ? 1 : used[measure] / most];
  });
  const { id, of, every, timeZone } = budget;
  const { tokens, cost, runs, bytes } = terms;
  return {
    id,
    of,
    ...(holder.agentId !== undefined && { agentId: holder.agentId }),
    every,
    timeZone,
    resetsAt: period.endsAt,
    share: Math.min(1, Math.max(0, ...shares)),
    ...((of !== 'tenant' || isAdmin) && {
      limit: {
        ...(tokens !== undefined && { tokens }),
        ...(cost && { cost }),
        ...(runs !== undefined && { runs }),
        ...(bytes !== undefined && { bytes }),
      },
      used: {
        ...(tokens !== undefined && { tokens: used.tokens }),
        ...(cost && { cost: { amount: used.micros / 1_000_000, currency: cost.currency } }),
        ...(runs !== undefined && { runs: used.runs }),
        ...(bytes !== undefined && { bytes: used.bytes }),
      },
    }),
  };
}

function noticeOf(
  { budget: { id, of, every }, holder, period }: OpenPurse,
  what: 'warn' | 'spent',
  at: number,
): Notice {
  const { tenant, subject, agentId } = holder;
  return {
    type: `budget.${what}`,
    tenant,
    item: [id, agentId ?? subject ?? tenant, period.label].join(' '),
    at,
    data: { kind: 'budget', budget: id, of, every, subject, agentId, resetsAt: new Date(period.endsAt).toISOString() },
  };
}

function emitBudget(
  { open: { budget: { id, of }, holder: { tenant, subject, agentId }, period: { endsAt } }, what, measure }: {
    readonly open: OpenPurse;
    readonly what: 'warn' | 'spent';
    readonly measure: Measure;
  },
  options: Pick<BudgetsOptions, 'emit' | 'now'>,
): void {
  const actor = agentId === undefined
    ? { type: 'user' as const, id: subject ?? tenant }
    : { type: 'agent' as const, id: agentId };
  traceAt({ traceId: createTraceId(), tenant, actor }, options).emit({
    action: `budget.${what}`,
    target: { type: 'budget', id },
    status: what === 'warn' ? 'ok' : 'error',
    payload: { of, measure: words[measure], resetsAt: new Date(endsAt).toISOString() },
  });
}
