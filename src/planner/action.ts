/** What an agent of a plan may want done: the primitives `create`, `send` and `ask_human`, revising the plan, and calling tools. */

import * as v from 'valibot';
import { JsonSchema } from '../base/schema.ts';
import { mostApprovers } from '../permission/authorize.ts';
import { approverName } from '../permission/ownership.ts';

const longestText = 65_536;
const Text = v.pipe(v.string(), v.minLength(1), v.maxLength(longestText));
const nameForm = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$/;
const Name = v.pipe(
  v.string(),
  v.regex(nameForm, 'must be 1 to 128 letters, digits, "_", "." or "-"'),
);
const Address = v.pipe(v.string(), v.minLength(1), v.maxLength(200));
const Count = v.pipe(v.number(), v.integer(), v.minValue(1));
const CallId = v.optional(v.pipe(v.string(), v.maxLength(16_400)));
/** At most a year. */
export const DurationMs = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(31_536_000_000));

/** What may be used up. A missing field is no limit of its own. */
export const Budget = v.strictObject({
  agents: v.optional(Count),
  /** Model and tool calls. */
  steps: v.optional(Count),
  tokens: v.optional(Count),
  /** In the unit of `usage.cost`. */
  cost: v.optional(v.pipe(v.number(), v.minValue(0))),
});
export type Budget = v.InferOutput<typeof Budget>;

/**
 * What running an activity twice does. `pure`: nothing, so it is run again freely. `idempotent`: nothing when it gets the same
 * idempotency key. `unsafe`: maybe harm, so its start is on record before it, and it is never repeated without a person.
 */
export const Effect = v.picklist(['pure', 'idempotent', 'unsafe']);
export type Effect = v.InferOutput<typeof Effect>;

/** How often a failure that may pass is tried again. The time between doubles, up to an hour. */
export const Retry = v.strictObject({
  /** Attempts in all. */
  attempts: v.pipe(Count, v.maxValue(100)),
  backoffMs: v.optional(DurationMs, 1000),
});
export type Retry = v.InferOutput<typeof Retry>;

/** What a child's failure means to its parent: it fails too, it receives the error, or it continues without this result. */
export const OnFailure = v.picklist(['fail', 'collect', 'ignore']);
export type OnFailure = v.InferOutput<typeof OnFailure>;

const taskEntries = {
  goal: Text,
  /** Names the agent of the registry that does it; without one, the composition decides by `role`. */
  agentId: v.optional(Name),
  role: v.optional(v.pipe(v.string(), v.maxLength(200))),
  context: v.optional(v.pipe(v.array(v.unknown()), v.maxLength(100))),
  constraints: v.optional(Text),
  /** Narrows the tools that the agent may use. */
  tools: v.optional(v.pipe(v.array(Name), v.maxLength(100))),
  effect: v.optional(Effect, 'pure'),
  /** Whose limit of calls at once it counts against. */
  provider: v.optional(Name),
  /** Siblings, by key or address, that must have ended before; it is given their results. */
  after: v.optional(v.pipe(v.array(Address), v.maxLength(1000)), []),
  onFailure: v.optional(OnFailure),
  retry: v.optional(Retry),
  /** Taken from the parent's until it ends. */
  budget: v.optional(Budget),
  timeoutMs: v.optional(DurationMs),
};

/** One task of a given plan. */
export const Task = v.strictObject({ key: Name, ...taskEntries });
export type Task = v.InferOutput<typeof Task>;
/** A task as callers write it: fields with defaults are optional. */
export type TaskInput = v.InferInput<typeof Task>;

/** What happens to an unanswered question: the agent fails, continues without an answer, or continues with a default. */
export const OnTimeout = v.union([
  v.picklist(['fail', 'continue']),
  v.strictObject({ default: v.unknown() }),
]);
export type OnTimeout = v.InferOutput<typeof OnTimeout>;

/** Makes a sub-agent. The same `key` again is the same child. */
export const CreateAction = v.strictObject({
  type: v.literal('create'),
  callId: CallId,
  key: v.optional(Name),
  ...taskEntries,
});
export type CreateAction = v.InferOutput<typeof CreateAction>;

/** Sends a message to `parent`, or to a child or sibling by key or address. */
export const SendAction = v.strictObject({
  type: v.literal('send'),
  callId: CallId,
  to: Address,
  body: v.unknown(),
  /** The agent waits until a message answers this one. */
  expectReply: v.optional(v.boolean(), false),
  /** The id of the message that this one answers. */
  replyTo: v.optional(Address),
  timeoutMs: v.optional(DurationMs),
});
export type SendAction = v.InferOutput<typeof SendAction>;

/** A question to a person. Only the agent that asks it waits. */
export const AskAction = v.strictObject({
  type: v.literal('ask_human'),
  callId: CallId,
  question: v.pipe(v.string(), v.minLength(1), v.maxLength(8192)),
  /** What an answer must be; without one, and without options, a text. */
  schema: v.optional(JsonSchema),
  options: v.optional(v.pipe(v.array(v.pipe(v.string(), v.maxLength(500))), v.minLength(1), v.maxLength(50))),
  timeoutMs: v.optional(DurationMs),
  onTimeout: v.optional(OnTimeout, 'fail'),
});
export type AskAction = v.InferOutput<typeof AskAction>;

/** Records the state of the plan, and drops children that it no longer needs. */
export const ReviseAction = v.strictObject({
  type: v.literal('plan_revise'),
  callId: CallId,
  outline: v.optional(v.pipe(v.array(v.pipe(v.string(), v.maxLength(2000))), v.maxLength(200)), []),
  facts: v.optional(v.pipe(v.array(v.pipe(v.string(), v.maxLength(2000))), v.maxLength(200)), []),
  drop: v.optional(v.pipe(v.array(Address), v.maxLength(1000)), []),
});
export type ReviseAction = v.InferOutput<typeof ReviseAction>;

const Shown = v.pipe(v.string(), v.maxLength(1000));

/** Calls a tool as an activity of its own. */
export const CallAction = v.strictObject({
  type: v.literal('call'),
  callId: CallId,
  tool: v.pipe(v.string(), v.minLength(1), v.maxLength(200)),
  input: v.unknown(),
  effect: v.optional(Effect, 'unsafe'),
  provider: v.optional(Name),
  retry: v.optional(Retry),
  /** A person must approve the call, and is shown this text, made of the real call. */
  approval: v.optional(v.pipe(v.string(), v.maxLength(65_536))),
  /** What is to be done, in words of the definition, and what the tool shows of it. */
  about: v.optional(v.strictObject({ title: Shown, quote: v.optional(Shown), toolId: Shown })),
  /** Who decides in place of the owner: `subject:bo`, `role:finance`, `actor:bo`. */
  approvers: v.optional(v.pipe(v.array(v.pipe(v.string(), v.regex(approverName))), v.maxLength(mostApprovers))),
  /** Another person than the one who has asked must decide. */
  fourEyes: v.optional(v.literal(true)),
  /** What that person may change. */
  edit: v.optional(v.strictObject({ input: v.unknown(), schema: JsonSchema })),
});
export type CallAction = v.InferOutput<typeof CallAction>;

/** One thing that an agent wants done. */
export const Action = v.variant('type', [CreateAction, SendAction, AskAction, ReviseAction, CallAction]);
export type Action = v.InferOutput<typeof Action>;
/** An action as agents write it: fields with defaults are optional. */
export type ActionInput = v.InferInput<typeof Action>;

/** What an agent waits for before its next step. Without it: for all children that are not done yet. */
export const WaitFor = v.variant('mode', [
  v.strictObject({
    /** Every one has ended; the first has succeeded, or none is left; the first has ended. */
    mode: v.picklist(['all', 'any', 'race']),
    /** Children by key or address; without it all that are not done yet. */
    of: v.optional(v.array(Address)),
    timeoutMs: v.optional(DurationMs),
  }),
  v.strictObject({ mode: v.literal('message'), timeoutMs: v.optional(DurationMs) }),
  v.strictObject({ mode: v.literal('none') }),
]);
export type WaitFor = v.InferOutput<typeof WaitFor>;
/** What a task waits for, as callers write it. */
export type WaitForInput = v.InferInput<typeof WaitFor>;
