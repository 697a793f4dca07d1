/** Composes an agent in code. */

import * as v from 'valibot';
import { checkOptions } from '../../base/check-options.ts';
import { PinnaceError } from '../../base/errors.ts';
import { parse } from '../../base/parse.ts';
import type { AgentFields } from '../../base/agent/agent-input.ts';
import type { OutputLabel } from '../../base/agent/output-spec.ts';
import { Agent, type JsonSchema } from '../../base/schema.ts';
import type { StandardSchema } from '../../base/agent/standard-schema.ts';
import { isStandard, issuesOf, readStandard } from '../../tools/define-tool.ts';
import { requireOutputSchema } from '../../tools/json-schema/json-schema.ts';
import type { CodeAgent, Instructions, StopCondition } from './agent-code.ts';

/** What `defineAgent` takes: a record, of which some fields may be code. */
export interface AgentOptions extends AgentFields {
  /** What requests name as `agentId`: 1 to 128 letters, digits, `_`, `.` and `-`. */
  readonly id: string;
  /** The system prompt: a text, or a function of the request. Default: `''`. */
  readonly instructions?: string | Instructions;
  /** Ends a run after a step that another one would follow. The run ends as `completed`. */
  readonly stopWhen?: StopCondition;
  /** What the last answer must be. `schema` is a JSON Schema, or a schema of valibot or another library with JSON Schema. */
  readonly output?: CodeOutput;
}

/** What the last answer of a run must be. */
export interface CodeOutput extends OutputLabel {
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
  const { instructions, stopWhen, output, ...options } = given;
  const standard = output && isStandard(output.schema) ? output.schema : undefined;
  const record = parse(
    AgentOfAll,
    {
      ...options,
      ...(instructions !== undefined && typeof instructions !== 'function' && { instructions }),
      ...(output && { output: { ...output, schema: standard ? jsonSchemaOf(standard) : output.schema } }),
    },
    { what },
  );
  if (record.output) requireOutputSchema(record.output.schema);
  return {
    record,
    code: {
      instructions: typeof instructions === 'function' ? instructions : undefined,
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
