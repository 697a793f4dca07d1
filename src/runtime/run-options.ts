/** What one run is made of. Types only. */

import type { Principal } from '../base/principal.ts';
import type { Agent } from '../base/schema.ts';
import type { Span } from '../events/span.ts';
import type { RunRedaction } from '../permission/redaction/run-redaction.ts';
import type { ResumedRun } from './forks/resumed-run.ts';
import type { StepTools } from './step-tools.ts';
import type { ModelMessage } from '../contracts/ai-types.ts';
import type { FollowedPlan } from './followed-plan.ts';
import type { ToolSet } from './tool-sets.ts';
import type { Limits } from './limits.ts';
import type { Resolved, ResolvedModel, Resolver } from './resolver.ts';
import type { RunAbort } from './run-abort.ts';
import type { RunRequest } from './run-request.ts';
import type { RuntimeParts } from './runtime-options.ts';

/** A request with all that it names. */
export interface ResolvedRun extends ResolvedModel, Pick<Resolved, 'fallbacks' | 'code'> {
  readonly request: RunRequest;
  readonly agent: Agent;
  readonly toolSet: ToolSet;
  readonly stepTools: StepTools;
  readonly messages: readonly ModelMessage[];
  readonly limits: Limits;
  /** The run whose message this one continues. */
  readonly continues: string | undefined;
  /** The plan that the run follows instead of calling the model. */
  readonly plan: FollowedPlan | undefined;
  /** Where it goes on, for a run that an earlier one is the start of. */
  readonly resumed?: ResumedRun;
}

/** Which run it is, and what ends it. */
export interface RunIdentity {
  readonly runId: string;
  readonly traceId: string;
  readonly span: Span;
  /** When it was requested, in milliseconds since 1970: its span starts then, and its duration counts from then. */
  readonly startedAt: number;
  readonly principal: Principal;
  readonly abort: RunAbort;
  readonly redaction: RunRedaction;
}

/** What a run takes from its runtime. */
type RunServices =
  & Pick<
    RuntimeParts,
    'authorize' | 'keep' | 'storage' | 'interruptions' | 'slots' | 'discovery' | 'startGate' | 'ttlMs' | 'now'
  >
  & Pick<
    RuntimeParts,
    | 'recorder'
    | 'metrics'
    | 'digests'
    | 'report'
    | 'contextStrategy'
    | 'blobs'
    | 'egress'
    | 'sandbox'
    | 'content'
    | 'runs'
    | 'budgets'
  >
  & { readonly resolveSecret: Resolver['secret'] };

/** Everything that one run needs, resolved. */
export interface RunOptions extends ResolvedRun, RunIdentity, RunServices {
  /** The ids of calls of its stored chat, in messages that the run is without. */
  readonly otherCallIds?: readonly string[] | undefined;
}
