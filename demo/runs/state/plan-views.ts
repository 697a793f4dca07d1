/** What the plans of a list are for and how they are: their events do not say. */

import { type ReadonlySignal, signal } from '@preact/signals';
import type { PlanView } from '../../../src/planner/planner.ts';
import type { Answer } from '../../control/answer.ts';
import type { SeenPlan } from '../../control/server-control.ts';

/** The views of the latest plans. */
export interface PlanViews {
  /** By the ids of the plans, as far as the endpoint shows them. */
  readonly views: ReadonlySignal<ReadonlyMap<string, PlanView>>;
  /** Reads the views of the latest plans, except those that were read after their end. */
  readonly read: () => Promise<void>;
}

interface PlanViewsOptions {
  /** The latest first. */
  readonly plans: () => readonly SeenPlan[];
  readonly viewOf: (planId: string) => Promise<Answer<PlanView>>;
  /** Waits between two reads; a timer when absent. */
  readonly pause?: (ms: number) => Promise<void>;
}

const most = 20;
/** A busy endpoint changes its plans many times a second, and each read takes up to twenty requests. */
const pauseMs = 1_000;

/** Creates the views. Nothing is read before the first `read`. */
export function createPlanViews({ plans, viewOf, pause = wait }: PlanViewsOptions): PlanViews {
  const views = signal<ReadonlyMap<string, PlanView>>(new Map());
  let isOld = false;
  let isReading = false;

  async function readOnce(): Promise<void> {
    const wanted = plans().slice(0, most).filter(({ planId }) => !isOver(views.value.get(planId)));
    const answers = await Promise.all(wanted.map(({ planId }) => viewOf(planId)));
    const read = answers.flatMap((answer) => answer.ok ? [[answer.value.planId, answer.value] as const] : []);
    views.value = new Map([...views.value, ...read]);
  }

  return {
    views,
    async read() {
      isOld = true; // a change during a read or a pause is read afterwards
      if (isReading) return;
      isReading = true;
      while (isOld) {
        isOld = false;
        await readOnce();
        await pause(pauseMs);
      }
      isReading = false;
    },
  };
}

/** Whether the plan has ended. */
export function isOver(plan: PlanView | undefined): boolean {
  return plan !== undefined && ['done', 'failed', 'cancelled'].includes(plan.state);
}

async function wait(ms: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, ms));
}
