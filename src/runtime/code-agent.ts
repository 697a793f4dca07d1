/** Composes an agent in code. */

import * as v from 'valibot';
import { checkOptions } from '../base/check-options.ts';
import { PinnaceError } from '../base/errors.ts';
import { type Issue, parse } from '../base/parse.ts';
import type { AgentFields } from '../base/agent-input.ts';
import type { OutputLabel, StandardSchema } from '../base/model-settings.ts';
import { Agent, type JsonSchema, withEntryTools } from '../base/schema.ts';
import { isStandard, issuesOf, readStandard } from '../tools/define-tool.ts';
import { requireOutputSchema } from '../tools/json-schema/json-schema.ts';
import type { Principal } from '../base/principal.ts';
import type { UIMessage } from '../contracts/ai-types.ts';
import type { ContextItem } from './run-request.ts';

/** What `defineAgent` takes: a record, of which some fields may be code. */
export interface AgentOptions extends AgentFields {
  /** What requests name as `agentId`: 1 to 128 letters, digits, `_`, `.` and `-`. */
  readonly id: string;
  /** The system prompt: a text, or a function of the request. Default: `''`. */
  readonly instructions?: string | Instructions;
  /** When a function of `instructions` is called: once for a chat, or in each of its runs. Default: `'chat'`. */
  readonly refresh?: 'chat' | 'turn';
  /** Ends a run after a step that another one would follow. The run ends as `completed`. */
  readonly stopWhen?: StopCondition;
  /** What the last answer must be. `schema` is a JSON Schema, or a schema of valibot or another library with JSON Schema. */
  readonly output?: CodeOutput;
}

/** What the last answer of a run must be. */
interface CodeOutput extends OutputLabel {
  /** A JSON Schema, or a schema of valibot or another library with JSON Schema. */
  readonly schema: JsonSchema | StandardSchema;
}

/**
 * Creates an agent for `createRuntime({ agents })`. All tenants share it.
 *
 * @throws PinnaceError `invalid_argument` for a record that breaks its schema, and for an `output` that JSON Schema cannot express.
 * @example
 * const helper = defineAgent({
 *   id: 'helper',
 *   name: 'Helper',
 *   providerId: 'default',
 *   instructions: ({ principal }) => `You help ${principal.subject}.`,
 *   stopWhen: (steps) => steps.length >= 3,
 * });
 */
export function defineAgent(given: AgentOptions): CodeAgent {
  const what = typeof given?.id === 'string' ? `agent "${given.id}"` : 'an agent';
  checkOptions(`define ${what}`, given, {
    id: ['given', 'what requests name as "agentId"'],
    stopWhen: ['function?', 'a function (steps) => boolean'],
  });
  const { instructions, refresh, stopWhen, output, ...options } = given;
  const standard = output && isStandard(output.schema) ? output.schema : undefined;
  const record = parse(
    AgentOfAll,
    withEntryTools({
      ...options,
      ...(instructions !== undefined && typeof instructions !== 'function' && { instructions }),
      ...(output && { output: { ...output, schema: standard ? jsonSchemaOf(standard) : output.schema } }),
    }),
    { what },
  );
  if (record.output) requireOutputSchema(record.output.schema);
  return {
    record,
    code: {
      instructions: typeof instructions === 'function' ? instructions : undefined,
      refresh,
      stopWhen,
      checkOutput: standard && (async (data) => issuesOf(await standard['~standard'].validate(data))),
    },
  };
}

/** An agent in code has no owner: a tenant's own record goes before it. */
const AgentOfAll = v.omit(Agent, ['tenant']);

function jsonSchemaOf(schema: StandardSchema): JsonSchema {
  try {
    return readStandard(schema).jsonSchema;
  } catch (cause) {
    throw new PinnaceError(
      'invalid_argument',
      'Cannot use the schema of "output": JSON Schema cannot express it; pass the JSON Schema itself',
      { cause, details: { reason: 'invalid_schema' } },
    );
  }
}

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

/**
 * Returns the instructions of a chat. Is called once for a chat, and again when the agent's record has changed; in each run with
 * `refresh: 'turn'`. It has two seconds.
 */
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
  readonly refresh?: AgentOptions['refresh'] | undefined;
  readonly stopWhen?: StopCondition | undefined;
  /** Checks what the JSON Schema of `output` cannot say. */
  readonly checkOutput?: ((data: unknown) => Promise<readonly Issue[]>) | undefined;
}

/** An agent that is composed in code, made by `defineAgent`. */
export interface CodeAgent {
  readonly record: Agent;
  readonly code: AgentCode;
}
