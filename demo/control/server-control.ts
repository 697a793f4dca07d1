/** The console interface of an endpoint, through the worker that signs. */

import type { EventQuery, Verification } from '../../src/events/event-query.ts';
import type { LoggedEvent } from '../../src/events/audit.ts';
import type { Page } from '../../src/runtime/index.ts';
import type { PlanView } from '../../src/planner/planner.ts';
import type { BudgetView } from '../../src/runtime/budgets.ts';
import type { PlanSteering } from './page-control.ts';
import type { RegistryControl } from './registry-control.ts';
import type { RunHead } from './runs-control.ts';
import type { Answer } from './answer.ts';

/** A run from the endpoint's events. */
export interface SeenRun
  extends Pick<RunHead, 'runId' | 'traceId' | 'agentId' | 'startedAt' | 'status' | 'end' | 'durationMs'> {
  readonly by: string;
  readonly error?: string;
}

/** A plan from the endpoint's events. */
export interface SeenPlan {
  readonly planId: string;
  readonly traceId: string;
  readonly by: string;
  /** `running`, or how its last activity ended. */
  readonly state: string;
  readonly startedAt: string;
}

/** The endpoint's stored events, the latest first. */
export interface Activity {
  readonly runs: readonly SeenRun[];
  readonly plans: readonly SeenPlan[];
  /** Why it is incomplete: `dropped`, the endpoint has dropped older events; `cut`, there were too many. */
  readonly gap?: 'dropped' | 'cut' | undefined;
}

/** Whether the endpoint can work. */
export interface Readiness {
  readonly status: string;
  /** For principals with the scope `admin`. */
  readonly checks?: Readonly<Record<string, string>>;
}

export interface ConsoleControl extends RegistryControl {
  readiness(): Promise<Answer<Readiness>>;
  /** Reports the runs and plans, and then their changes, until the next `watch` or `leave`. */
  watch(onActivity: (activity: Answer<Activity>) => void): void;
  leave(): void;
  cancelRun(runId: string): Promise<Answer<void>>;
  plan(planId: string): Promise<Answer<PlanView>>;
  steerPlan(planId: string, how: PlanSteering): Promise<Answer<void>>;
  /** The oldest first. */
  audit(query: EventQuery): Promise<Answer<Page<LoggedEvent>>>;
  verify(): Promise<Answer<Verification>>;
  /** What the caller may use in a period, and what is used of it. */
  budgets(): Promise<Answer<readonly BudgetView[]>>;
  /** In the text format of Prometheus. */
  metrics(): Promise<Answer<string>>;
}
