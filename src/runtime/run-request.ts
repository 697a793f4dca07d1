/** A caller's request: one run of an agent on a chat. */

import * as v from 'valibot';
import type { UIMessage } from '../contracts/ai-types.ts';
import { PinnaceError } from '../base/errors.ts';
import { otherNames, OutputSpec, RunSettings } from '../base/model-settings.ts';
import { readData } from '../base/json.ts';
import { Money } from '../base/record-fields.ts';
import { parse } from '../base/parse.ts';
import { LimitOverrides } from '../base/schema.ts';
import { requireOutputSchema } from '../tools/json-schema/json-schema.ts';
import type { Limits } from './limits.ts';
import { isTimeZone } from './budget-terms.ts';
import { asRecord } from '../base/is-record.ts';
import { uncovered } from './message-parts.ts';

const Id = v.pipe(v.string(), v.minLength(1), v.maxLength(256));

/** An id that appears in events and traces: no spaces, quotes or control characters. */
const RuntimeId = v.pipe(
  v.string(),
  v.minLength(1),
  v.maxLength(128),
  v.regex(/^[\w.:/@-]+$/, 'must be letters, digits and _ . : / @ -'),
);

/**
 * A message as AI SDK clients send it. Its parts are checked by `toModelMessages`. System messages come from the agent alone. An answer
 * that was stopped before its first word has no parts.
 */
const Message = v.pipe(
  v.looseObject({
    id: v.pipe(v.string(), v.maxLength(256)),
    role: v.picklist(['user', 'assistant'], 'must be "user" or "assistant"'),
    parts: v.pipe(v.array(v.looseObject({ type: v.pipe(v.string(), v.maxLength(128)) }))),
  }, /* @__PURE__ */ otherNames({ parts: '[{ type: "text", text }] and no "content"' })),
  v.forward(v.check(({ role, parts }) => role === 'assistant' || parts.length > 0, 'must be at least 1 long'), [
    'parts',
  ]),
);

/** Something the model should know: data with a source, never instructions. */
const ContextItem = v.strictObject({
  content: v.pipe(v.string(), v.maxLength(65_536)),
  source: v.optional(v.pipe(v.string(), v.maxLength(1024))),
  /** It is not recorded, and later turns are without it: what comes behind it is then no longer in a cache. */
  ephemeral: v.optional(v.boolean()),
});
export type ContextItem = v.InferOutput<typeof ContextItem>;

/** A plan that was started before. The run shows its progress. */
const PlanToFollow = v.strictObject({ planId: Id });

/** What a run may use in all. A step that does not fit is not taken. */
const RunBudget = v.strictObject({
  tokens: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1))),
  cost: v.optional(Money),
});

/** The schema of a run request. */
export const RunRequest = v.strictObject({
  agentId: Id,
  /** Names the caller's own runtime, in events, spans and the run's record; changes nothing else. */
  runtimeId: v.optional(RuntimeId),
  chat: v.strictObject({
    id: Id,
    messages: v.pipe(v.array(Message), v.minLength(1)),
    /** The server stores the messages: send the new one, and the run has those before it. */
    store: v.optional(v.boolean()),
  }),
  context: v.optional(v.pipe(v.array(ContextItem), v.maxLength(50)), []),
  limits: v.optional(LimitOverrides),
  budget: v.optional(RunBudget),
  /** What the last answer must be; goes before the agent's own `output`. A run that follows a plan has none. */
  output: v.optional(OutputSpec),
  /** What this run sets of its agent, as far as the record or the scope `registry:write` allows. A run that follows a plan has none. */
  settings: v.optional(RunSettings),
  /** The time zone of the caller, for the date that the agent's `facts` name. */
  timeZone: v.optional(
    v.pipe(v.string(), v.maxLength(64), v.check(isTimeZone, 'must be a time zone such as "Europe/Berlin"')),
  ),
  /** The agent plans: the last message is the goal, and these are the terms (`{}` for the usual ones), read by the planner. */
  planner: v.optional(v.union([PlanToFollow, v.looseObject({})])),
}, /* @__PURE__ */ otherNames({ agentId: 'the id of an agent', chat: '{ id, messages }' }));
export type RunRequest = Omit<v.InferOutput<typeof RunRequest>, 'chat'> & {
  readonly chat: { readonly id: string; readonly messages: UIMessage[]; readonly store?: boolean | undefined };
};

/** The chat of a run request. */
interface RunChat {
  /** The id of the chat, up to 256 characters. */
  readonly id: string;
  /** The messages of the chat, the new one last; with `store`, the new one alone. */
  readonly messages: readonly UIMessage[];
  /** Whether the server stores the messages. Default: no. */
  readonly store?: boolean | undefined;
}

/** A run request as callers write it. */
export interface RunRequestInput {
  /** The id of the agent to run. */
  agentId: string;
  /** The chat that the run continues. */
  readonly chat: RunChat;
  /**
   * What the model should know besides the chat: data, never instructions. Up to 50 items of 65,536 characters. They stay in the chat, as
   * `data-context` of the answer, but for those with `ephemeral: true`.
   */
  context?: v.InferInput<typeof ContextItem>[] | undefined;
  /** Limits of this run. They can only lower those of the agent and of the runtime. */
  limits?: LimitOverrides | undefined;
  /** What the run may use in all: `tokens`, and `cost` (`amount`, `currency`). A step that does not fit is not taken. */
  budget?: v.InferInput<typeof RunBudget> | undefined;
  /** The JSON Schema of the last answer; goes before the agent's own. Not with `planner`. */
  output?: OutputSpec | undefined;
  /** Settings of this run, as far as the agent's `callerSettings` or the scope `registry:write` allow. Not with `planner`. */
  settings?: RunSettings | undefined;
  /** The time zone of the caller, for the date that the agent's `facts` name. Default: `'UTC'`. */
  timeZone?: string | undefined;
  /**
   * The agent plans: the last message is the goal, and these are the terms (`{}` for the usual ones), or a plan to follow. Over HTTP the
   * agent's record must allow it (`plans: true`), and the plan ends when its client leaves; with `background: true` it goes on.
   */
  planner?: v.InferInput<typeof PlanToFollow> | { [term: string]: unknown } | undefined;
  /** Names the caller's own runtime in events, spans and the run's record. Up to 128 letters, digits and `_ . : / @ -`. */
  runtimeId?: string | undefined;
}

/**
 * Parses a run request from anywhere.
 *
 * @throws PinnaceError `invalid_argument` that names what is wrong: the shape, a limit, or data that is not JSON.
 */
export function parseRunRequest(given: unknown, limits: Limits): RunRequest {
  refuseLibrarySchema(given);
  const data = readData(given);
  checkCounts(data, limits);
  const request = parse(RunRequest, data, { what: 'the run request' });
  checkSize(request.chat.messages as unknown as readonly UIMessage[], limits); // only lengths of its parts are read
  if (request.output) requireOutput(request.output, request.planner !== undefined);
  if (request.settings && request.planner) throw settingsInPlan();
  // Safe enough to pass on: `toModelMessages` checks the parts before it reads them.
  return request as unknown as RunRequest;
}

/** Schemas of libraries hold functions: say what to pass, before they are refused as no JSON. */
function refuseLibrarySchema(data: unknown): void {
  const output = (data as { readonly output?: { readonly schema?: unknown } } | null | undefined)?.output;
  const why = isLibrarySchema(output)
    ? '"output" takes { schema }, with a JSON Schema, such as { schema: z.toJSONSchema(schema) }'
    : isLibrarySchema(output?.schema) && '"output.schema" takes a JSON Schema, such as z.toJSONSchema(schema)';
  if (why === false) return;
  throw new PinnaceError('invalid_argument', `Cannot read the run request: ${why}`, {
    details: { reason: 'invalid_schema' },
  });
}

function isLibrarySchema(given: unknown): boolean {
  return (typeof given === 'object' || typeof given === 'function') && given !== null && '~standard' in given;
}

function settingsInPlan(): PinnaceError {
  return new PinnaceError(
    'invalid_argument',
    'Cannot read the run request: the agents of a plan have settings of their own; remove "settings" or "planner"',
    { details: { reason: 'settings_in_plan' } },
  );
}

function requireOutput({ schema }: OutputSpec, isPlanned: boolean): void {
  requireOutputSchema(schema);
  if (!isPlanned) return;
  throw new PinnaceError(
    'invalid_argument',
    'Cannot read the run request: a plan has no structured answer; remove "output" or "planner"',
    { details: { reason: 'output_in_plan' } },
  );
}

/** Messages that a compaction covers may be sent along, as long as they are no more than this many times the others. */
const mostCovered = 10;
const partsPerMessage = 50;
/** The most of a part of an answer: what a run has said, its caller may send back. As much as one event of a run may have. */
const answerPartLength = 1_048_576;

/** Counts before the schema looks, which describes each message that is wrong. @throws PinnaceError `invalid_argument`. */
function checkCounts(data: unknown, { messages: most }: Limits): void {
  const { messages } = asRecord(asRecord(data)['chat']);
  if (!Array.isArray(messages)) return;
  if (messages.length > most * mostCovered) throw tooMany(messages.length, most);
  let count = 0;
  for (const message of messages) {
    const { parts } = asRecord(message);
    if (Array.isArray(parts)) count += parts.length;
  }
  const mostParts = most * partsPerMessage;
  if (count > mostParts) {
    throw tooLarge('too_many_parts', `its messages have ${count} parts, ${mostParts} are allowed`);
  }
}

/** Checks how many messages a request has, and how long they are. @throws PinnaceError `invalid_argument`. */
export function checkSize(messages: readonly UIMessage[], limits: Limits): void {
  const count = uncovered(messages).length;
  if (count > limits.messages) throw tooMany(count, limits.messages);
  let total = 0;
  for (const [m, { role, parts }] of messages.entries()) {
    const most = role === 'assistant' ? Math.max(limits.partLength, answerPartLength) : limits.partLength;
    for (const [p, part] of parts.entries()) {
      const { length } = JSON.stringify(part);
      total += length;
      if (length > most && !isFile(part)) {
        const where = `chat.messages.${m}.parts.${p}`;
        throw tooLarge('part_too_large', `"${where}" is ${length} long, ${most} is allowed`);
      }
    }
  }
  if (total > limits.requestLength) {
    throw tooLarge('request_too_large', `it is ${total} long, ${limits.requestLength} is allowed`);
  }
}

function tooMany(length: number, most: number): PinnaceError {
  return tooLarge('too_many_messages', `the chat has ${length} messages, send the last ${most}`);
}

/** Files have limits of their own, for what they are decoded. */
function isFile(part: unknown): boolean {
  return asRecord(part)['type'] === 'file';
}

function tooLarge(reason: string, why: string): PinnaceError {
  return new PinnaceError('invalid_argument', `Cannot read the run request: ${why}`, { details: { reason } });
}
