/** The seam between agents and plans: an agent's work outside a run, one model call or one tool call at a time. */

import type { ErrorData } from '../base/errors.ts';
import type { ArgumentFacts, Principal } from '../base/principal.ts';
import type { Money } from '../base/record-fields.ts';
import type { JsonSchema, ToolDefinition } from '../base/schema.ts';
import type { Span } from './event-sink.ts';

/** The agent that does a step, and the task that the step belongs to. */
export interface StepOf {
  readonly agentId: string;
  /** The principal that the agent works for, as verified when the work started. */
  readonly owner: Omit<Principal, 'via' | 'session'>;
  /** Identifies the task: tools loaded in one step stay loaded in the next. The task of a plan starts with the id of the plan. */
  readonly taskId: string;
  readonly traceId: string;
  /** The span around the step; absent when events have no listener. */
  readonly span?: Span | undefined;
  readonly signal: AbortSignal;
  /** Limits the agent's tools to these names. */
  readonly only?: readonly string[] | undefined;
  /** The agents that created this one, directly or through others. It has the data sources and the `egress` that all of them have. */
  readonly above?: readonly string[] | undefined;
  /** The agents that handed the work on through tools. It has the `egress` that all of them have. */
  readonly callers?: readonly string[] | undefined;
  /** Who has said what the model had read, and who may read it: at a call, when it wrote the call. Absent: anybody. */
  readonly read?: ArgumentFacts | undefined;
}

/** Something new for the model. */
export type StepInput =
  | { readonly type: 'text'; readonly text: string }
  | {
    readonly type: 'outcome';
    readonly callId: string;
    readonly outcome: ToolOutcome;
    /** What a person has changed the input from, and to. */
    readonly edited?: { readonly before: unknown; readonly after: unknown } | undefined;
  };

/** What a step may use. Absent: as much as it needs. */
interface StepBudget {
  readonly tokens?: number | undefined;
  /** Without a currency, in that of the model. */
  readonly cost?: { readonly amount: number; readonly currency?: string | undefined } | undefined;
}

/** What a step has used. */
export interface StepUsage {
  readonly tokens: number;
  /** Absent without prices. */
  readonly cost?: Money | undefined;
}

/** One model call. */
export interface ThinkRequest extends StepOf {
  readonly budget?: StepBudget | undefined;
  /** Is called when the call has ended, also when it failed. */
  readonly onUsage?: (used: StepUsage) => void;
  /** The `history` of the last thought; `undefined` for the first. */
  readonly history: unknown;
  readonly inputs: readonly StepInput[];
  /** Comes before the agent's own instructions. */
  readonly instructions: string;
  /** Actions beside the agent's tools. A tool with the name of a primitive is hidden. */
  readonly primitives: readonly Pick<ToolDefinition, 'name' | 'description' | 'paramsSchema'>[];
}

/** What a person is asked about a call; all absent where there is no question. */
export interface CallQuestion {
  /** The question for the person who must approve the call. */
  readonly approval?: string;
  /** What is to be done, in words of the definition, and what the tool shows of it. */
  readonly about?: { readonly title: string; readonly quote?: string | undefined; readonly toolId: string };
  /** Who decides in place of the owner, and whether another person than the one who has asked must. */
  readonly approvers?: readonly string[];
  readonly fourEyes?: true;
  /** What the person may change. */
  readonly edit?: { readonly input: unknown; readonly schema: JsonSchema };
}

/** The question by which a person has changed the input of a call. */
export type ApprovedEdit = Pick<CallQuestion, 'approvers' | 'fourEyes'> & { readonly quote?: string | undefined };

/** A call that the model requests. */
export type ThoughtCall =
  & { readonly callId: string; readonly name: string; readonly input: unknown }
  & (
    | { readonly kind: 'primitive' }
    | CallQuestion & {
      readonly kind: 'tool';
      /** The effect of making the call twice. */
      readonly effect: 'pure' | 'idempotent' | 'unsafe';
    }
    | { readonly kind: 'refused'; readonly error: ErrorData }
  );

/** The result of a model call. */
export interface Thought {
  readonly text: string;
  readonly calls: readonly ThoughtCall[];
  /** JSON, for the next model call. */
  readonly history: unknown;
  readonly tokens: number;
}

/** One tool call. */
export interface ActRequest extends StepOf {
  readonly tool: string;
  readonly input: unknown;
  readonly callId: string;
  /** A person has approved this call. */
  readonly approved: boolean;
  /** Present where that person has changed its input: it asks anew where a rule or the tool wants another decision on that. */
  readonly edited?: ApprovedEdit | undefined;
  /** What the agents that it calls may use. */
  readonly budget?: StepBudget | undefined;
}

/** The steps of agents. Each step resolves the agent again: a disabled agent does nothing more. */
export interface AgentSteps {
  /** @throws PinnaceError as a run does before its first chunk, and as its model call fails. */
  think(request: ThinkRequest): Promise<Thought>;
  /** Never throws. */
  act(
    request: ActRequest,
  ): Promise<
    ToolOutcome & Partial<StepUsage> & {
      readonly read?: ArgumentFacts; /** It was not made. */
      readonly asks?: CallQuestion;
    }
  >;
}

/** The outcome of a tool call. */
export type ToolOutcome =
  | { readonly ok: true; readonly output: unknown }
  | { readonly ok: false; readonly error: ErrorData };
