/** The console of an endpoint: what is shown of it, and what can be done there. */

import { type ReadonlySignal, type Signal, signal } from '@preact/signals';
import { proxy } from 'comlink';
import type { ErrorData } from '../../../src/base/errors.ts';
import type { LoggedEvent } from '../../../src/events/audit.ts';
import type { PlanView } from '../../../src/planner/planner.ts';
import type { BudgetView } from '../../../src/runtime/budgets.ts';
import type { Verification } from '../../../src/events/event-query.ts';
import type { Activity, ConsoleControl, Readiness } from '../../control/server-control.ts';
import type { PlanSteering } from '../../control/page-control.ts';
import type { Answer } from '../../control/answer.ts';
import { createPlanViews, type PlanViews } from './plan-views.ts';
import { type Family, readPrometheus, seriesKey } from './prometheus.ts';
import { type Totals, totalsOf } from './totals.ts';

/** Which audit entries to list; empty fields match all. */
export interface AuditFilter {
  readonly actor: string;
  readonly action: string;
  readonly target: string;
  readonly traceId: string;
  /** Not older than this; everything, when absent. */
  readonly withinMs: number | undefined;
}

/** A request's state. */
export type Asked<T> =
  | { readonly type: 'asking' }
  | { readonly type: 'there'; readonly value: T }
  | { readonly type: 'refused'; readonly error: ErrorData };

/** The current metrics, and those of each earlier request since the page opened. */
export interface MetricsView {
  readonly families: readonly Family[];
  /** By family and series, the oldest first. */
  readonly history: ReadonlyMap<string, readonly number[]>;
  /** What the charts draw: one entry for each reading of the last hour, the oldest first. */
  readonly totals: readonly Totals[];
}

/** The console's state. */
export interface Console {
  readonly readiness: ReadonlySignal<Asked<Readiness>>;
  readonly activity: ReadonlySignal<Asked<Activity>>;
  readonly plan: ReadonlySignal<Asked<PlanView> | undefined>;
  readonly views: PlanViews['views'];
  readonly planId: ReadonlySignal<string | undefined>;
  readonly auditFilter: ReadonlySignal<AuditFilter>;
  readonly audit: ReadonlySignal<
    Asked<{ readonly items: readonly LoggedEvent[]; readonly nextPageToken?: string | undefined }>
  >;
  readonly verification: ReadonlySignal<Asked<Verification> | undefined>;
  readonly metrics: ReadonlySignal<Asked<MetricsView>>;
  readonly budgets: ReadonlySignal<Asked<readonly BudgetView[]>>;
  /** Why the latest action failed. */
  readonly problem: ReadonlySignal<string | undefined>;
  /** Starts watching, and reads the metrics at intervals. Returns a function that stops both. */
  open(): () => void;
  /** Subscribes again from the start after the subscription broke off. */
  readonly watch: () => void;
  cancelRun(runId: string): Promise<void>;
  openPlan(planId: string | undefined): Promise<void>;
  readonly readPlans: PlanViews['read'];
  /** Reads the open plan again. */
  readPlan(): Promise<void>;
  steerPlan(how: PlanSteering): Promise<void>;
  narrowAudit(filter: Partial<AuditFilter>): Promise<void>;
  moreAudit(): Promise<void>;
  verify(): Promise<void>;
  readMetrics(): Promise<void>;
  readBudgets(): Promise<void>;
}

/** The most values of a series whose growth is shown. */
const mostValues = 60;
/** How often the metrics are read while the console is open. */
const readEveryMs = 5000;
/** Rates over less than this would jump. */
const shortestMs = 1000;
const mostReadings = 3_600_000 / readEveryMs;
const asking = { type: 'asking' } as const;

/** Creates the console over the way to the endpoint. */
export function createConsole(
  { control, now = Date.now }: { readonly control: ConsoleControl; readonly now?: () => number },
): Console {
  const readiness = signal<Asked<Readiness>>(asking);
  const activity = signal<Asked<Activity>>(asking);
  const plan = signal<Asked<PlanView> | undefined>(undefined);
  const auditFilter = signal<AuditFilter>({ actor: '', action: '', target: '', traceId: '', withinMs: 86_400_000 });
  const audit: Console['audit'] & Signal = signal(asking);
  const verification = signal<Asked<Verification> | undefined>(undefined);
  const metrics = signal<Asked<MetricsView>>(asking);
  const budgets = signal<Asked<readonly BudgetView[]>>(asking);
  const problem = signal<string | undefined>(undefined);
  const planId = signal<string | undefined>(undefined);
  const { views, read: readPlans } = createPlanViews({
    plans: () => activity.value.type === 'there' ? activity.value.value.plans : [],
    viewOf: (id) => settled(control.plan(id)),
  });
  let turn = 0;

  async function act(asked: Promise<Answer<unknown>>): Promise<void> {
    const answer = await settled(asked);
    problem.value = answer.ok ? undefined : `${answer.error.message}.`;
  }

  async function readPlan(): Promise<void> {
    const wanted = planId.value;
    if (wanted === undefined) return;
    const answer = await settled(control.plan(wanted));
    if (planId.value === wanted) plan.value = askedOf(answer);
  }

  function watch(): void {
    activity.value = asking;
    void settled(control.readiness()).then((answer) => (readiness.value = askedOf(answer)));
    control.watch(proxy((answer: Answer<Activity>) => {
      activity.value = askedOf(answer);
      void readPlan();
    }));
  }

  async function readAudit(pageToken?: string): Promise<void> {
    const mine = ++turn;
    const { withinMs, ...filter } = auditFilter.value;
    const given = Object.fromEntries(Object.entries(filter).filter(([, value]) => value.trim() !== ''));
    const from = withinMs === undefined ? {} : { from: now() - withinMs };
    const query = { ...given, ...from, limit: 50, ...(pageToken !== undefined && { pageToken }) };
    const before = pageToken !== undefined && audit.value.type === 'there' ? audit.value.value.items : [];
    const answer = await settled(control.audit(query));
    if (mine !== turn) return; // a newer query was started
    audit.value = askedOf(
      answer.ok ? { ok: true, value: { ...answer.value, items: [...before, ...answer.value.items] } } : answer,
    );
  }

  async function readMetrics(): Promise<void> {
    const answer = await settled(control.metrics());
    const before = metrics.value.type === 'there' ? metrics.value.value : undefined;
    metrics.value = answer.ok ? { type: 'there', value: viewOf(answer.value, before, now()) } : askedOf(answer);
  }

  return {
    readiness,
    activity,
    plan,
    planId,
    views,
    auditFilter,
    audit,
    verification,
    metrics,
    budgets,
    problem,
    open() {
      watch();
      const read = (): void => void (metrics.value.type !== 'refused' && readMetrics());
      read();
      const timer = setInterval(read, readEveryMs);
      return () => {
        clearInterval(timer);
        control.leave();
      };
    },
    watch,
    readPlan,
    readPlans,
    cancelRun: (runId) => act(control.cancelRun(runId)),
    async openPlan(id) {
      planId.value = id;
      plan.value = id === undefined ? undefined : asking;
      await readPlan();
    },
    async steerPlan(how) {
      if (planId.value !== undefined) await act(control.steerPlan(planId.value, how));
      await readPlan();
    },
    async narrowAudit(filter) {
      auditFilter.value = { ...auditFilter.value, ...filter };
      await readAudit();
    },
    async moreAudit() {
      if (audit.value.type === 'there') await readAudit(audit.value.value.nextPageToken);
    },
    async verify() {
      verification.value = asking;
      verification.value = askedOf(await settled(control.verify()));
    },
    readMetrics,
    async readBudgets() {
      budgets.value = askedOf(await settled(control.budgets()));
    },
  };
}

function viewOf(text: string, before: MetricsView | undefined, at: number): MetricsView {
  const families = readPrometheus(text);
  const values = families.flatMap(({ name, samples }) =>
    samples.map(({ labels, value }): readonly [string, readonly number[]] => {
      const key = historyKey(name, labels);
      return [key, [...before?.history.get(key) ?? [], value].slice(-mostValues)];
    })
  );
  const earlier = before?.totals ?? [];
  const isTooSoon = at - (earlier.at(-1)?.at ?? -Infinity) < shortestMs;
  const totals = isTooSoon ? earlier : [...earlier, totalsOf(families, at)].slice(-mostReadings);
  return { families, history: new Map(values), totals };
}

export function historyKey(name: string, labels: Readonly<Record<string, string>>): string {
  return `${name} ${seriesKey(labels)}`;
}

/** A worker that has ended counts as a refusal. */
async function settled<T>(asked: Promise<Answer<T>>): Promise<Answer<T>> {
  return await asked.catch((): Answer<T> => ({
    ok: false,
    error: { code: 'unavailable', message: 'The worker that signs requests does not respond', retryable: true },
  }));
}

function askedOf<T>(answer: Answer<T>): Asked<T> {
  return answer.ok ? { type: 'there', value: answer.value } : { type: 'refused', error: answer.error };
}
