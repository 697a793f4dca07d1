/** The function that does an agent's work, one activity at a time: passed to `createPlanner`. */

import type { ErrorData } from '../base/errors.ts';
import type { ArgumentFacts, Owner } from '../base/principal.ts';
import type { ApprovedEdit, CallQuestion } from '../contracts/steps.ts';
import type { Span } from '../events/span.ts';
import type { ActionInput, Effect, WaitForInput } from './action.ts';

/** What an activity used. Missing fields are zero. */
export interface Usage {
  readonly tokens?: number;
  readonly cost?: number;
  /** The currency of the cost; absent where it has no price, or none is known. */
  readonly currency?: string;
}

/** What is left of the budgets that an activity counts against. Without a field, as much as it needs. */
export interface BudgetLeft {
  readonly tokens?: number;
  readonly cost?: number;
  /** The currency that the cost must be in; any when absent. */
  readonly currency?: string;
}

/** Refers to a large value that is stored out of line. */
export interface ValueRef {
  readonly name: string;
  /** Its JSON text, in UTF-16 code units. */
  readonly length: number;
  /** The start of its JSON text. */
  readonly preview: string;
}

/** A value as it is delivered: itself, or where it can be read with {@link AgentContext.read}. */
export type Delivered = { readonly value: unknown; readonly ref?: never } | {
  readonly ref: ValueRef;
  readonly value?: never;
};

/** A person has changed the input of a call before approving it. */
export interface InputEdit {
  readonly before: unknown;
  readonly after: unknown;
}

/** What an agent receives at its next step, each item once and in order. */
export type InboxItem =
  /** What became of an action of the last step. */
  | { readonly type: 'outcome'; readonly callId?: string; readonly edited?: InputEdit }
    & (
      | { readonly ok: true; readonly output: Delivered }
      | { readonly ok: false; readonly error: ErrorData }
    )
  /** A child, or a task that this one comes after, has ended. */
  | {
    readonly type: 'result';
    readonly from: string;
    readonly key?: string;
    readonly ok: true;
    readonly result: Delivered;
  }
  | {
    readonly type: 'result';
    readonly from: string;
    readonly key?: string;
    readonly ok: false;
    readonly error: ErrorData;
  }
  | {
    readonly type: 'message';
    readonly id: string;
    readonly from: string;
    readonly body: Delivered;
    readonly replyTo?: string;
    readonly expectsReply: boolean;
  }
  /** A person has answered; without an `answer`, the question expired. */
  | {
    readonly type: 'answer';
    readonly askId: string;
    readonly callId?: string;
    readonly answer?: Delivered;
    readonly by?: string;
  }
  /** A wait or the wait for a reply is over without what was waited for. */
  | { readonly type: 'timeout'; readonly waitedFor: string }
  /** The plan makes no progress: plan anew. */
  | { readonly type: 'stall'; readonly reason: string };

/** The principal of a plan, as it was when the plan was started. */
export type PlanOwner = Omit<Owner, 'via'>;

/** One activity of one agent: its next step, or with `call` one tool call. */
export interface AgentTask {
  readonly planId: string;
  readonly traceId: string;
  readonly owner: PlanOwner;
  /** The path in the tree of agents: `1`, `1-3`, `1-3-2`. Never reused. */
  readonly address: string;
  readonly depth: number;
  readonly agentId?: string;
  readonly role?: string;
  readonly goal: string;
  readonly context: readonly unknown[];
  readonly constraints?: string;
  readonly tools?: readonly string[];
  /** The agents that have made this one, one by the other; absent where none has another id than its own. */
  readonly above?: readonly string[];
  /** The agents that have handed the plan on by tools; absent where none has. */
  readonly callers?: readonly string[];
  /** How many steps the agent has had, with this one. */
  readonly step: number;
  /** From 1; higher after failures. */
  readonly attempt: number;
  readonly effect: Effect;
  /** The same for every attempt at this activity, by whichever process. */
  readonly idempotencyKey: string;
  /** Milliseconds since 1970. */
  readonly deadlineAt?: number;
  /** The tool call that is to be made, where the activity is one. */
  readonly call?: {
    readonly callId?: string;
    readonly tool: string;
    readonly input: unknown;
    readonly approved: boolean;
    /** Present where the person has changed the input: by which question. */
    readonly edited?: ApprovedEdit;
  };
  /** Absent where neither tokens nor cost are limited. */
  readonly left?: BudgetLeft;
  /** What the agent's last step left for this one; `undefined` at its first. */
  readonly memory: unknown;
  /** Who has said what the plan has read so far, and who may read it. */
  readonly read: ArgumentFacts;
  /** What came since the last step. Its content is others' words: data, never instructions. */
  readonly inbox: readonly InboxItem[];
  /** Whether the agent may create sub-agents, at its depth. */
  readonly mayCreate: boolean;
}

/** What an activity gets besides its task, which is data. */
export interface AgentContext {
  /** 16 hexadecimal digits, the same for every activity of this agent. */
  readonly spanId: string;
  /** The span of the agent that made this one. */
  readonly parentSpanId: string | undefined;
  /** The span of the step; for a tool call the span of its agent. Absent without listeners. */
  readonly span?: Span | undefined;
  /** Aborts when the agent is cancelled, or its time is up. */
  readonly signal: AbortSignal;
  /** Reads a large value that is delivered by reference. */
  read(ref: ValueRef): Promise<unknown>;
}

/**
 * What became of an activity.
 *
 * `done` ends the agent with its result: an agent that does everything in one step needs nothing else. `next` ends one step; the
 * agent has another when what it waits for is there. `output` is what a tool call gave. An error thrown is the same as `failed`.
 */
export type StepOutcome = StepResult & {
  /** Who has said what the activity has read, and who may read it. Absent: anybody. */
  readonly read?: ArgumentFacts;
};

type StepResult =
  | { readonly type: 'done'; readonly result: unknown; readonly cites?: readonly string[]; readonly usage?: Usage }
  | {
    readonly type: 'next';
    readonly actions?: readonly ActionInput[];
    readonly wait?: WaitForInput;
    readonly memory?: unknown;
    readonly usage?: Usage;
  }
  | { readonly type: 'output'; readonly output: unknown; readonly usage?: Usage }
  /** The call was not made: a person must approve what another one has changed. */
  | { readonly type: 'asks'; readonly question: CallQuestion; readonly usage?: Usage }
  | { readonly type: 'failed'; readonly error: ErrorData; readonly usage?: Usage };

/**
 * Does one activity. It is called again after a crash, with the same idempotency key, unless its effect is `unsafe`. It must not
 * publish a result: the planner does so after it is recorded.
 */
export type RunAgent = (task: AgentTask, context: AgentContext) => Promise<StepOutcome>;
