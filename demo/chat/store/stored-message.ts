/** The storage format of a message, and its conversions. */

import { signal } from '@preact/signals';
import * as v from 'valibot';
import { AttachedFile, withoutBytes } from '../../files/state/attached-file.ts';
import { CitedSources } from '../state/run-data.ts';
import {
  type AssistantMessage,
  createAnswer,
  createTextPart,
  createToolPart,
  isSettled,
  type Message,
  type Outcome,
  type Part,
  type ReasoningPart,
  type TextPart,
  type ToolPart,
} from '../state/message.ts';
import { createPlanPart } from '../state/plan.ts';
import { type PlanPart } from '../../plan/state/plan-data.ts';
import { PlanReply, PlanSnapshot, PlanView } from '../../plan/state/plan-data.ts';
import {
  AppRef,
  Approval,
  CompactionData,
  ContextData,
  ErrorShape,
  Fallback,
  LogLine,
  Need,
  readAs,
  RunData,
  ToolFailure,
  Usage,
} from '../state/run-data.ts';

const StoredCall = v.object({
  name: v.string(),
  title: v.optional(v.string()),
  dynamic: v.boolean(),
  state: v.picklist(['starting', 'input', 'running', 'waiting', 'result', 'error', 'denied', 'undecided', 'stopped']),
  input: v.optional(v.unknown()),
  output: v.optional(v.unknown()),
  errorText: v.optional(v.string()),
  failure: v.optional(ToolFailure),
  approval: v.optional(Approval),
  program: v.optional(v.unknown()),
  quoted: v.optional(v.unknown()),
  app: v.optional(AppRef),
  need: v.optional(Need),
  startedAt: v.number(),
  endedAt: v.optional(v.number()),
});

const StoredPart = v.variant('type', [
  v.object({ type: v.literal('text'), text: v.string() }),
  v.object({ type: v.literal('reasoning'), text: v.string() }),
  v.object({
    type: v.literal('tool'),
    toolCallId: v.string(),
    call: StoredCall,
    inputText: v.string(),
    logs: v.array(LogLine),
  }),
  v.object({
    type: v.literal('plan'),
    view: PlanView,
    at: v.optional(v.number()),
    /** Written before 0.3.0: the views so far. */
    history: v.optional(v.array(PlanSnapshot)),
    replies: v.record(v.string(), PlanReply),
  }),
  v.object({ type: v.literal('citations'), ...CitedSources.entries }),
  v.object({ type: v.literal('source'), title: v.string(), url: v.optional(v.string()) }),
  v.object({ type: v.literal('file'), url: v.string(), mediaType: v.string() }),
  v.object({ type: v.literal('steering'), id: v.string(), text: v.string() }),
  v.object({ type: v.literal('compaction'), id: v.string(), ...CompactionData.entries }),
  v.object({ type: v.literal('context'), data: ContextData }),
  v.object({ type: v.literal('step') }),
]);
type StoredPart = v.InferOutput<typeof StoredPart>;

const StoredOutcome = v.variant('type', [
  v.object({ type: v.literal('running') }),
  v.object({ type: v.literal('done'), finishReason: v.optional(v.string()), endedAt: v.number() }),
  v.object({ type: v.literal('stopped'), by: v.picklist(['person', 'page', 'runtime']), endedAt: v.number() }),
  v.object({ type: v.literal('waiting'), endedAt: v.number() }),
  v.object({ type: v.picklist(['limited', 'failed', 'interrupted']), error: ErrorShape, endedAt: v.number() }),
]);

const StoredMessage = v.variant('role', [
  v.object({
    role: v.literal('user'),
    id: v.string(),
    text: v.string(),
    files: v.optional(v.array(AttachedFile)),
    after: v.optional(v.string()),
  }),
  v.object({
    role: v.literal('assistant'),
    id: v.string(),
    model: v.string(),
    startedAt: v.number(),
    via: v.optional(v.string()),
    outcome: StoredOutcome,
    facts: v.object({
      run: v.optional(RunData),
      usage: v.optional(Usage),
      fallback: v.optional(Fallback),
    }),
    parts: v.array(StoredPart),
    runFrom: v.optional(v.number()),
    after: v.optional(v.string()),
  }),
]);
type StoredMessage = v.InferOutput<typeof StoredMessage>;

/** Returns the message as data. */
export function toStored(message: Message): StoredMessage {
  if (message.role === 'user') {
    const { files, ...rest } = message;
    return { ...rest, ...(files && { files: [...files.value] }) };
  }
  const { role, id, model, startedAt, via, parts, outcome, facts, runFrom, after } = message;
  return {
    role,
    id,
    model,
    startedAt,
    ...(via !== undefined && { via }),
    outcome: outcome.value,
    facts: facts.value,
    parts: parts.value.map(toStoredPart),
    ...(after !== undefined && { after }),
    ...(runFrom.value > 0 && { runFrom: runFrom.value }),
  };
}

/** Reads a stored message. */
export function fromStored(value: unknown): Message | undefined {
  const stored = readAs(StoredMessage, value);
  if (stored?.role === 'user') {
    const { files, ...rest } = stored;
    return { ...rest, ...(files && { files: signal(files) }) };
  }
  if (!stored) return undefined;
  const message = createAnswer(stored);
  message.parts.value = stored.parts.map(fromStoredPart);
  message.facts.value = stored.facts;
  message.outcome.value = stored.outcome;
  message.runFrom.value = stored.runFrom ?? 0;
  return message;
}

/** The same message without tool results, for a storage that takes no values of that size. */
export function withoutOutputs(message: StoredMessage): StoredMessage {
  if (message.role === 'user') return { ...message, ...(message.files && { files: withoutBytes(message.files) }) };
  return { ...message, parts: message.parts.map(withoutOutput) };
}

function withoutOutput(part: StoredPart): StoredPart {
  if (part.type === 'file') return { ...part, url: '' };
  if (part.type !== 'tool') return part;
  return { ...part, inputText: '', call: { ...part.call, output: 'Too large to store' } };
}

function toStoredPart(part: Part): StoredPart {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return { type: part.type, text: part.text.value };
    case 'tool':
      return toStoredTool(part);
    case 'plan':
      return toStoredPlan(part);
    case 'citations':
      return { ...part, sources: [...part.sources] };
    default:
      return part;
  }
}

function toStoredTool({ type, toolCallId, call, inputText, logs }: ToolPart): StoredPart {
  // The text of a complete input is the input once more.
  const text = call.value.input === undefined ? inputText.value : '';
  return { type, toolCallId, call: call.value, inputText: text, logs: [...logs.value] };
}

function toStoredPlan({ type, view, at, replies }: PlanPart): StoredPart {
  return { type, view: view.value, at: at.value, replies: replies.value };
}

function fromStoredPart(part: StoredPart): Part {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return fromStoredText(part);
    case 'tool':
      return createToolPart(part.toolCallId, part.call, part);
    case 'plan':
      return createPlanPart(part.view, { at: part.at ?? part.history?.at(-1)?.at, replies: part.replies });
    default:
      return part;
  }
}

function fromStoredText({ type, text }: { type: 'text' | 'reasoning'; text: string }): TextPart | ReasoningPart {
  return createTextPart(type, { text, done: true });
}

/** Ends an answer that was stored unfinished and has no writer. */
export function cutOff(message: AssistantMessage): void {
  const outcome: Outcome = { type: 'stopped', by: 'page', endedAt: message.startedAt };
  message.outcome.value = outcome;
  for (const part of message.parts.value) {
    // What waits for a person goes on waiting.
    if (part.type !== 'tool' || isSettled(part.call.value.state) || part.call.value.state === 'waiting') continue;
    part.call.value = { ...part.call.value, state: 'stopped' };
  }
}
