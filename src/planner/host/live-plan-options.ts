/** A plan that this process runs, and what it is run with. Types only. */

import type { Storage } from '../../contracts/storage.ts';
import type { Report } from '../../events/report.ts';
import type { JournalHead } from '../../log/journal-record.ts';
import type { AuthorizeCreate } from '../decide/authorize-create.ts';
import type { Draft } from '../decide/draft.ts';
import type { ProviderPlaces } from '../decide/provider-places.ts';
import type { OwnedPlan } from '../journal/found-plan.ts';
import type { Inbound, PlanHead } from '../journal/plan-record.ts';
import type { PlanLimits } from '../model/plan-limits.ts';
import type { PlanState } from '../model/plan-state.ts';
import type { PlanEvent } from '../model/plan-event.ts';
import type { PlanEvents } from './emit-plan.ts';
import type { RunAgent } from './run-agent.ts';

/** How a process released a plan. */
export type Release = 'ended' | 'suspended' | 'lost' | 'closed';

/** A plan that this process runs. */
export interface LivePlan {
  readonly state: PlanState;
  readonly head: PlanHead;
  /** How many events are committed. */
  readonly committed: number;
  /** Resolves when this process no longer has the plan. */
  readonly released: Promise<Release>;
  /** Decides and records; what follows is started. */
  write(decide: (draft: Draft) => void): void;
  /** Takes what came from outside. */
  take(inbound: Inbound): void;
  /** Looks at the time and at free places again. */
  pump(): void;
  /** Lets go of the plan as it is, as a process does that ends. */
  close(): void;
}

/** What a live plan is created with. */
export interface LivePlanOptions {
  readonly storage: Storage;
  readonly planId: string;
  readonly head: JournalHead<PlanHead>;
  readonly version: string;
  /** Folded up to the head. */
  readonly state: PlanState;
  readonly snapshots: OwnedPlan['snapshots'];
  /** What has come from outside before. */
  readonly inbound: Inbound;
  readonly runAgent: RunAgent;
  readonly authorize: AuthorizeCreate | undefined;
  readonly limits: PlanLimits;
  readonly places: ProviderPlaces;
  readonly now: () => number;
  readonly events: PlanEvents | undefined;
  readonly report: Report;
  /** Counts each commit. */
  readonly counting: ((events: readonly PlanEvent[]) => void) | undefined;
}
