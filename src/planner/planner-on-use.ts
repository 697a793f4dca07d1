/** A planner whose code is loaded with its first use: most runs need no plan. */

import type { UIMessageChunk } from '../contracts/ai-types.ts';
import { loadOnce } from '../base/load-once.ts';
import { outlast } from '../log/outage.ts';
import { duePlans } from './host/sweep.ts';
import { defaultPlanLimits } from './model/plan-limits.ts';
import type { CreatePlannerOptions, OpenPlanner } from './planner.ts';

/** Creates the planner. A call rejects when loading fails, and the next call loads again. */
export function plannerOnUse(
  { storage, limits, metrics, now = Date.now }: Pick<CreatePlannerOptions, 'storage' | 'limits' | 'metrics' | 'now'>,
  load: () => Promise<OpenPlanner>,
): OpenPlanner {
  const { planner, loaded, close } = closable(load);
  metrics?.gauge('pinnace_open_plans', () => loaded()?.openPlans() ?? 0);
  return {
    start: async (...args) => await (await planner()).start(...args),
    run: async (...args) => await (await planner()).run(...args),
    outcome: async (...args) => await (await planner()).outcome(...args),
    events: async (...args) => await (await planner()).events(...args),
    stream: (...args) => streamOnUse(async () => (await planner()).stream(...args)),
    async *follow(...args) {
      yield* (await planner()).follow(...args);
    },
    view: async (...args) => await (await planner()).view(...args),
    questions: async (...args) => await (await planner()).questions(...args),
    reply: async (...args) => await (await planner()).reply(...args),
    cancel: async (...args) => await (await planner()).cancel(...args),
    stop: async (...args) => await (await planner()).stop(...args),
    pause: async (...args) => await (await planner()).pause(...args),
    resume: async (...args) => await (await planner()).resume(...args),
    read: async (...args) => await (await planner()).read(...args),
    async sweep() {
      if (loaded()) return await (await planner()).sweep();
      // Processes without plans sweep as well: they need not load what continues them.
      const due = await outlast(
        () => duePlans(storage, now()),
        limits?.storageGraceMs ?? defaultPlanLimits.storageGraceMs,
      );
      return due.length > 0 ? await (await planner()).sweep() : 0;
    },
    close,
    openPlans: () => loaded()?.openPlans() ?? 0,
  };
}

function closable(load: () => Promise<OpenPlanner>): {
  readonly planner: () => Promise<OpenPlanner>;
  readonly loaded: () => OpenPlanner | undefined;
  readonly close: () => Promise<void>;
} {
  let loaded: OpenPlanner | undefined;
  let isClosed = false;
  return {
    planner: loadOnce(async () => {
      const planner = await load();
      if (isClosed) await planner.close(); // it then refuses new plans, and still reads those that are stored
      return loaded = planner;
    }),
    loaded: () => loaded,
    async close() {
      isClosed = true;
      await loaded?.close();
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
