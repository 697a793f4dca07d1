/** Creates planners. */

import { checkKnownOptions, optional } from '../base/check-options.ts';
import { loadOnce, onUse } from '../base/load-once.ts';
import type { UIMessageChunk } from '../contracts/ai-types.ts';
import type { Plans } from '../contracts/plans.ts';
import { createReport, reportedHook, reportedPort, reportHidden, unreported } from '../events/report.ts';
import { steadyStorage } from '../log/commits.ts';
import { DueIndex } from '../log/due.ts';
import { Instances } from '../log/instances.ts';
import { defaultPlanLimits } from './plan-limits.ts';
import type {
  CreatePlannerOptions,
  LoadedPlanner,
  OpenPlanner,
  OpenPlannerOptions,
  Planner,
  RuntimePlannerOptions,
} from './planner.ts';

const loadPlanner = /* @__PURE__ */ loadOnce(() => import('./open-planner.ts'));

/**
 * Creates a planner. Between plans it holds no timer and no connection. Its code is loaded with the first plan.
 *
 * @example
 * const planner = createPlanner({ storage, runAgent: async ({ goal }) => ({ type: 'done', result: goal.length }) });
 * const outcome = await planner.run({ goal: 'Count the letters' }, localPrincipal());
 */
export function createPlanner(options: CreatePlannerOptions): Planner {
  checkKnownOptions('create the planner', options, {
    storage: ['.commit', 'a storage, such as memoryStorage()'],
    runAgent: ['function', 'a function, such as modelAgent( … )'],
    ...optional('limits', 'authorize', 'emit', 'metrics', 'onError', 'now', 'report', 'readAs'),
  });
  const { onError, ...given } = options;
  const report = createReport(onError);
  const { authorize } = given;
  const parts = {
    ...given,
    report,
    storage: reportedPort(given.storage, report, { kind: 'storage', isRetried: true }),
    authorize: authorize && reportedHook(authorize, report, 'authorize'),
  };
  return plannerOnUse(parts, async (shared) => (await loadPlanner()).openPlanner({ ...parts, ...shared }));
}

/** The plans of a runtime's runs, and the planner that makes them. */
interface RuntimePlans extends Plans {
  readonly take: OpenPlanner['take'];
  readonly planner: Planner;
}

const loadRuntimePlanner = /* @__PURE__ */ loadOnce(() => import('./runtime-planner.ts'));

/** Creates the planner of a runtime, whose agents work by its steps. Its code is loaded with the first plan. */
export function createRuntimePlans(options: RuntimePlannerOptions): RuntimePlans {
  const planner = plannerOnUse(
    options,
    async (shared) => (await loadRuntimePlanner()).openRuntimePlanner({ ...shared, ...options }),
  );
  return { ...planner, planner };
}

/** What the planner has in common with the index of due things and the instances outside of it. */
type Shared = Required<Pick<RuntimePlannerOptions, 'arm' | 'instances'>>;

/** Creates the planner. A call rejects when loading fails, and the next call loads again. */
export function plannerOnUse(
  { storage: given, limits, metrics, report = unreported, now = Date.now, instances: shared }: Pick<
    OpenPlannerOptions,
    'storage' | 'limits' | 'metrics' | 'report' | 'now' | 'instances'
  >,
  load: (shared: Shared) => Promise<LoadedPlanner>,
): OpenPlanner {
  const { planner, loaded, close } = closable(() => load({ arm: (at) => due.arm(at), instances }));
  const wake: OpenPlanner['wake'] = async (planId) => await (await planner()).wake(planId);
  const take: OpenPlanner['take'] = async (planId, left) => await (await planner()).take(planId, left);
  const storage = steadyStorage(given, limits?.storageGraceMs ?? defaultPlanLimits.storageGraceMs);
  const instances = shared ?? new Instances({ storage, rooms: { plan: take } });
  const due = new DueIndex({
    storage,
    rooms: { plan: wake }, // which loads what continues plans when one is due
    onError: (error, planId) => reportHidden(report, error, { kind: 'plan', planId }),
    now,
  });
  metrics?.gauge('pinnace_open_plans', () => loaded()?.openPlans() ?? 0);
  return {
    ...onUse(
      planner,
      'start',
      'run',
      'outcome',
      'events',
      'view',
      'questions',
      'reply',
      'cancel',
      'stop',
      'pause',
      'resume',
      'read',
    ),
    stream: (...args) => streamOnUse(async () => (await planner()).stream(...args)),
    async *follow(...args) {
      yield* (await planner()).follow(...args);
    },
    async sweep() {
      loaded()?.pump();
      instances.glance();
      return await due.sweep();
    },
    wake,
    take,
    async close(options) {
      due.close();
      await close(options);
      if (shared) return;
      if (options?.handOver === true) await instances.leave().catch(() => undefined); // the storage is away: then it is silent
      instances.close();
    },
    openPlans: () => loaded()?.openPlans() ?? 0,
  };
}

function closable(load: () => Promise<LoadedPlanner>): {
  readonly planner: () => Promise<LoadedPlanner>;
  readonly loaded: () => LoadedPlanner | undefined;
  readonly close: OpenPlanner['close'];
} {
  let loaded: LoadedPlanner | undefined;
  let isClosed = false;
  return {
    planner: loadOnce(async () => {
      const planner = await load();
      if (isClosed) await planner.close(); // it then refuses new plans, and still reads those that are stored
      return loaded = planner;
    }),
    loaded: () => loaded,
    async close(options) {
      isClosed = true;
      await loaded?.close(options);
    },
  };
}

function streamOnUse(open: () => Promise<ReadableStream<UIMessageChunk>>): ReadableStream<UIMessageChunk> {
  let reader: Promise<ReadableStreamDefaultReader<UIMessageChunk>> | undefined;
  return new ReadableStream({
    async pull(controller) {
      reader ??= open().then((stream) => stream.getReader());
      const { done, value } = await (await reader).read();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: async (reason) => await (await reader)?.cancel(reason),
  }, { highWaterMark: 0 });
}
