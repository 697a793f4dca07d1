/** What an agent that is composed in code has besides its record. */

import type { Issue } from '../../base/parse.ts';
import type { Principal } from '../../base/principal.ts';
import type { Agent } from '../../base/schema.ts';
import type { UIMessage } from '../../contracts/ai-types.ts';
import type { ContextItem } from '../run-request.ts';

/** The request that instructions are made for. Its messages come from the client: never let them decide what the agent may do. */
export interface InstructionsRequest {
  /** The agent that runs. */
  readonly agentId: string;
  /** Absent in a step of a plan. */
  readonly chat?: { readonly id: string; readonly messages: readonly UIMessage[] };
  /** The context items of the request. */
  readonly context: readonly ContextItem[];
  /** Who runs the agent. */
  readonly principal: Principal;
}

/** Returns the instructions of a run. Is called once for each run, and has two seconds. */
export type Instructions = (
  request: InstructionsRequest,
  options: { readonly signal: AbortSignal },
) => string | Promise<string>;

/** A step of a run, with its calls and their results. */
export interface FinishedStep {
  readonly text: string;
  readonly finishReason: string;
  readonly calls: readonly FinishedCall[];
}

/** A call of a step. */
export interface FinishedCall {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly input: unknown;
  /** What the model receives: the output, or the text of the error. Absent where the call has no result. */
  readonly output?: unknown;
  readonly isError: boolean;
}

/** Whether the run ends now. Is called with all steps of the run after each step that another one would follow. */
export type StopCondition = (steps: readonly FinishedStep[]) => boolean;

/** The code of an agent. */
export interface AgentCode {
  readonly instructions?: Instructions | undefined;
  readonly stopWhen?: StopCondition | undefined;
  /** Checks what the JSON Schema of `output` cannot say. */
  readonly checkOutput?: ((data: unknown) => Promise<readonly Issue[]>) | undefined;
}

/** An agent that is composed in code, made by `defineAgent`. */
export interface CodeAgent {
  readonly record: Agent;
  readonly code: AgentCode;
}
