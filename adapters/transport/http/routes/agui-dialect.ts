/** A run's stream in the events of AG-UI. */

import { PinnaceError } from '../../../../src/base/errors.ts';
import { asRecord, isRecord } from '../../../../src/base/is-record.ts';
import { parse } from '../../../../src/base/parse.ts';
import type { UIMessageChunk } from '../../../../src/contracts/ai-types.ts';
import { type Decide, isDecided } from '../../chat/chat-request.ts';
import type { SseDialect } from '../sse.ts';
import { type AguiContent, type AguiInput, AguiUserMessage } from './agui.ts';

export function createAguiDialect({ threadId, runId, state, messages, tools = [] }: AguiInput): SseDialect {
  const offeredTools = tools.map(({ name }) => name);
  const knownCalls = new Set(messages.flatMap(({ toolCalls = [] }) => toolCalls.map(({ id }) => id)));
  const events = createAguiEvents({ threadId, runId, state, offeredTools, knownCalls });
  const framesOf = (given: readonly AguiEvent[]): string =>
    given.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
  return {
    // Safe: the runtime has recorded the text as a chunk.
    frames: ({ text }) => framesOf(events.next(JSON.parse(text) as UIMessageChunk)),
    end: () => framesOf(events.end()),
  };
}

/** What a client may set in `forwardedProps`. */
const fields = ['limits', 'budget', 'output', 'settings'] as const;

interface Answer {
  readonly of: WaitingApproval;
  readonly decision: { readonly approved: boolean; readonly reason?: string };
}

/**
 * Stores the decisions in `resume`. Those that were stored before stay as they are.
 * @throws PinnaceError `invalid_argument` for an answer that is none, and what `decide` throws.
 */
export async function decideResumed({ resume = [] }: AguiInput, decide: Decide): Promise<void> {
  const answers = resume.map(answerOf);
  const approvals = Map.groupBy(answers, ({ of }) => of.approvalId);
  if ([...approvals.values()].some((each) => new Set(each.map(({ decision }) => decision.approved)).size > 1)) {
    throw refused('agui_interrupt', 'an interrupt has two answers');
  }
  await Promise.all(answers.map(async ({ of: { runId, approvalId }, decision }) => {
    try {
      await decide(runId, approvalId, decision);
    } catch (error) {
      if (!(error instanceof PinnaceError && isDecided(error))) throw error;
    }
  }));
}

/**
 * Returns the request. The endpoint stores the chat: of the messages only the last one counts, which must be of a person, unless
 * the run goes on after an interrupt.
 * @throws PinnaceError `invalid_argument` when there is nothing to answer.
 */
export function aguiRequest(agentId: string, input: AguiInput): Readonly<Record<string, unknown>> {
  const { threadId, context = [], state, forwardedProps } = input;
  const given = isRecord(forwardedProps)
    ? Object.fromEntries(
      fields.flatMap((name) => forwardedProps[name] === undefined ? [] : [[name, forwardedProps[name]]]),
    )
    : {};
  const known = context.map(({ description, value }) => ({ source: description.slice(0, 1024), content: value }));
  const shared = isRecord(state) && Object.keys(state).length > 0
    ? [{ source: 'state of the application', content: JSON.stringify(state) }]
    : [];
  return {
    ...given,
    agentId,
    context: [...known, ...shared],
    chat: { id: threadId, store: true, messages: [messageOf(input)] },
  };
}

function messageOf({ messages, resume = [] }: AguiInput): Readonly<Record<string, unknown>> {
  const [first] = resume;
  if (first) {
    // The stored answer counts, never what a client says of it.
    return { id: answerOf(first).of.messageId, role: 'assistant', parts: [{ type: 'step-start' }] };
  }
  const last = messages.findLast(({ role }) => role !== 'activity' && role !== 'reasoning'); // of a client's own page
  if (last?.role !== 'user') throw refused('agui_no_message', 'the last message must be one of the role "user"');
  const { id, content } = parse(AguiUserMessage, last, { what: 'the last message' });
  return {
    id,
    role: 'user',
    parts: typeof content === 'string' ? [{ type: 'text', text: content }] : content.map(partOf),
  };
}

function partOf(part: AguiContent): Readonly<Record<string, unknown>> {
  if (part.type === 'text') return { type: 'text', text: part.text };
  const { filename } = part.type === 'binary' ? part : asRecord(part['metadata']);
  const { type, value, mimeType } = part.type === 'binary' ? sourceOf(part) : part.source;
  if (type === 'file') {
    throw refused('agui_file_source', 'a file of a provider cannot be read here; send its data or its address');
  }
  const mediaType = mimeType ?? 'application/octet-stream';
  const url = type === 'url' || value.startsWith('data:') ? value : `data:${mediaType};base64,${value}`;
  return { type: 'file', mediaType, url, ...(typeof filename === 'string' && { filename }) };
}

function sourceOf({ data, url, mimeType }: Extract<AguiContent, { readonly type: 'binary' }>) {
  if (data !== undefined) return { type: 'data', value: data, mimeType };
  return { type: url === undefined ? 'file' : 'url', value: url ?? '', mimeType };
}

function answerOf({ interruptId, status, payload }: NonNullable<AguiInput['resume']>[number]): Answer {
  const of = fromInterruptId(interruptId);
  if (!of) throw refused('agui_interrupt', 'there is no interrupt of this id; send it as it was received');
  if (status === 'cancelled') return { of, decision: { approved: false, reason: 'Canceled' } };
  const answer = typeof payload === 'string' ? readAnswer(payload) : payload;
  if (typeof answer === 'boolean') return { of, decision: { approved: answer } };
  const { approved, reason, editedArgs } = asRecord(answer);
  if (editedArgs !== undefined) throw refused('agui_interrupt', 'a call is made as it was asked for, or not at all');
  if (typeof approved !== 'boolean') {
    throw refused('agui_interrupt', 'the payload must be { "approved": true or false, "reason"?: "…" }');
  }
  return { of, decision: { approved, ...(typeof reason === 'string' && { reason }) } };
}

/** An answer as JSON: libraries resolve an interrupt with a text. */
function readAnswer(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function refused(reason: string, why: string): PinnaceError {
  return new PinnaceError('invalid_argument', `Cannot run the agent: ${why}`, { details: { reason } });
}

export type AguiEvents = ReturnType<typeof createAguiEvents>;

export function createAguiEvents(run: AguiRun) {
  const { threadId, runId } = run;
  const outcome = createAguiOutcome(run);
  const speech = createSpeech(() => tools.isOpen());
  const tools = createAguiTools(run.knownCalls, speech.lastText);
  let step = 0;
  let isStarted = false;
  let isInStep = false;

  const start = (): readonly AguiEvent[] => {
    if (isStarted) return [];
    isStarted = true;
    const ignored = run.offeredTools.length > 0
      ? [{ type: 'CUSTOM', name: 'tools-not-used', value: run.offeredTools }]
      : [];
    return [{ type: 'RUN_STARTED', threadId, runId, protocolVersion: '1.0' }, ...ignored];
  };
  const endStep = (): readonly AguiEvent[] => {
    const open = [...tools.closeAll(), ...speech.sayHeld(), ...speech.closeAll()];
    if (!isInStep) return open;
    isInStep = false;
    return [...open, { type: 'STEP_FINISHED', stepName: `step-${step}` }];
  };
  const ofChunk = (chunk: UIMessageChunk): readonly AguiEvent[] => {
    switch (chunk.type) {
      case 'start':
        outcome.messageId = chunk.messageId ?? '';
        speech.startMessage(outcome.messageId);
        return [];
      case 'start-step':
        isInStep = true;
        return [{ type: 'STEP_STARTED', stepName: `step-${++step}` }];
      case 'finish-step':
        return endStep();
      case 'text-start':
      case 'text-delta':
      case 'text-end':
      case 'reasoning-start':
      case 'reasoning-delta':
      case 'reasoning-end':
        return speech.say(chunk);
      case 'tool-input-start':
      case 'tool-input-available':
        return [...speech.closeAll(), ...tools.of(chunk), ...speech.sayHeld()];
      default:
        return [...tools.of(chunk), ...outcome.of(chunk), ...speech.sayHeld()];
    }
  };
  return {
    next: (chunk: UIMessageChunk): readonly AguiEvent[] => [...start(), ...ofChunk(chunk)],
    end: (): readonly AguiEvent[] => [...start(), ...endStep(), outcome.end()],
  };
}

interface SpanChunk {
  readonly type: string;
  readonly id: string;
  readonly delta?: string;
}

/** Translates texts and thoughts. Clients of earlier versions take one message or call at a time: a text within a call follows it. */
function createSpeech(isInCall: () => boolean) {
  const texts = createSpans('TEXT_MESSAGE', 'assistant');
  const thoughts = createSpans('REASONING_MESSAGE', 'reasoning');
  const held: SpanChunk[] = [];
  const say = (chunk: SpanChunk): readonly AguiEvent[] => {
    if (!isInCall()) return (chunk.type.startsWith('text') ? texts : thoughts).of(chunk);
    held.push(chunk);
    return [];
  };
  return {
    say,
    sayHeld: (): readonly AguiEvent[] => isInCall() ? [] : held.splice(0).flatMap(say),
    closeAll: (): readonly AguiEvent[] => [...texts.closeAll(), ...thoughts.closeAll()],
    lastText: (): string | undefined => texts.last(),
    startMessage: (id: string) => void (texts.prefix = thoughts.prefix = id),
  };
}

/** Translates the start, the deltas and the end of texts or thoughts. The id of a text is unique in its chat. */
function createSpans(kind: 'TEXT_MESSAGE' | 'REASONING_MESSAGE', role: string) {
  const open = new Map<string, string>();
  const isReasoning = kind === 'REASONING_MESSAGE';
  let count = 0;
  let last: string | undefined;
  const close = (id: string): readonly AguiEvent[] => {
    const messageId = open.get(id);
    if (messageId === undefined) return [];
    open.delete(id);
    const end = { type: `${kind}_END`, messageId };
    return isReasoning ? [end, { type: 'REASONING_END', messageId }] : [end];
  };
  const spans = {
    prefix: '',
    /** The id of the last message. */
    last: (): string | undefined => last,
    closeAll: (): readonly AguiEvent[] => [...open.keys()].flatMap(close),
    of({ type, id, delta = '' }: SpanChunk): readonly AguiEvent[] {
      if (type.endsWith('-end')) return close(id);
      if (type.endsWith('-delta')) {
        const messageId = open.get(id);
        if (delta === '') return [];
        if (messageId !== undefined) return [{ type: `${kind}_CONTENT`, messageId, delta }];
        return [...spans.of({ type: '-start', id }), ...spans.of({ type, id, delta })]; // it goes on after a call
      }
      last = `${spans.prefix}-${isReasoning ? 'r' : 't'}${++count}`;
      open.set(id, last);
      const start = { type: `${kind}_START`, messageId: last, role };
      return isReasoning ? [{ type: 'REASONING_START', messageId: last }, start] : [start];
    },
  };
  return spans;
}

const responseSchema = {
  type: 'object',
  properties: { approved: { type: 'boolean' }, reason: { type: 'string' } },
  required: ['approved'],
};

/** The data parts that are state of the application, by their field in it. */
const stateFields: Readonly<Record<string, string>> = { 'data-output': 'output', 'data-plan': 'plan' };

interface RunData {
  readonly runId?: string;
  readonly state?: string;
  readonly error?: { readonly code?: string; readonly message?: string };
}

interface Approval {
  readonly approvalId: string;
  readonly toolCallId: string;
  readonly message?: string;
}

export function createAguiOutcome({ threadId, runId, state: sent }: AguiRun) {
  let run: RunData = {};
  let usage: Readonly<Record<string, unknown>> | undefined;
  let errorText: string | undefined;
  let shared = typeof sent === 'object' && sent !== null && !Array.isArray(sent) ? sent : {};
  const waiting: Approval[] = [];

  const ofData = ({ type, data }: { readonly type: string; readonly data: unknown }): readonly AguiEvent[] => {
    if (type === 'data-run') run = data as RunData; // of the runtime, as its schema says
    if (type === 'data-usage') usage = usageOf(data as Readonly<Record<string, unknown>>);
    const custom = { type: 'CUSTOM', name: type, value: data };
    const field = stateFields[type];
    if (field === undefined) return [custom];
    shared = { ...shared, [field]: data };
    return [custom, { type: 'STATE_SNAPSHOT', snapshot: shared }];
  };
  const outcomeOf = (messageId: string): Readonly<Record<string, unknown>> => {
    if (run.state === 'cancelled') return { type: 'cancelled' };
    if (run.state !== 'awaiting_approval' || waiting.length === 0) return { type: 'success' };
    const interrupts = waiting.map(({ approvalId, toolCallId, message }) => ({
      id: toInterruptId({ runId: run.runId ?? '', approvalId, messageId }),
      reason: 'tool_approval',
      toolCallId,
      responseSchema,
      ...(message !== undefined && { message }),
    }));
    return { type: 'interrupt', interrupts };
  };
  return {
    messageId: '',
    of(chunk: UIMessageChunk): readonly AguiEvent[] {
      if ('data' in chunk) return ofData(chunk);
      if (chunk.type === 'error') errorText = chunk.errorText;
      if (chunk.type === 'abort') run = { ...run, state: 'cancelled' };
      if (chunk.type === 'tool-approval-request') waiting.push(approvalOf(chunk));
      return chunk.type.startsWith('source-') || chunk.type === 'file'
        ? [{ type: 'CUSTOM', name: chunk.type, value: chunk }]
        : [];
    },
    /** The one event that ends the run. A run that a limit has stopped is an error, with the code of the limit. */
    end(): AguiEvent {
      const counted = usage && { usage: [usage] };
      if (errorText !== undefined || (run.error && run.state !== 'cancelled')) {
        const { code = 'internal', message = errorText ?? 'The run failed' } = run.error ?? {};
        return { type: 'RUN_ERROR', message, code, ...counted };
      }
      return { type: 'RUN_FINISHED', threadId, runId, outcome: outcomeOf(this.messageId), ...counted };
    },
  };
}

function approvalOf(chunk: { readonly approvalId: string; readonly toolCallId: string }): Approval {
  const { approvalId, toolCallId, reason }: typeof chunk & { readonly reason?: unknown } = chunk;
  return { approvalId, toolCallId, ...(typeof reason === 'string' && { message: reason }) };
}

/** Only counts: AG-UI has no place for cost and steps, which `data-usage` has. */
function usageOf(usage: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const names = ['inputTokens', 'outputTokens', 'totalTokens'];
  return Object.fromEntries(names.flatMap((name) => typeof usage[name] === 'number' ? [[name, usage[name]]] : []));
}

interface OpenCall {
  readonly toolCallId: string;
  hasArgs: boolean;
}

/**
 * Creates the translator. `parent` returns the message that a call belongs to. A call of `known` is part of the client's thread, which
 * would add its input to the one that it has: only its result is sent.
 */
export function createAguiTools(known: ReadonlySet<string>, parent: () => string | undefined) {
  const open = new Map<string, OpenCall>();
  const start = (toolCallId: string, toolCallName: string): AguiEvent => {
    open.set(toolCallId, { toolCallId, hasArgs: false });
    const parentMessageId = parent();
    return {
      type: 'TOOL_CALL_START',
      toolCallId,
      toolCallName,
      ...(parentMessageId !== undefined && { parentMessageId }),
    };
  };
  const args = (toolCallId: string, delta: string): readonly AguiEvent[] => {
    const call = open.get(toolCallId);
    if (!call || delta === '') return [];
    call.hasArgs = true;
    return [{ type: 'TOOL_CALL_ARGS', toolCallId, delta }];
  };
  const end = (toolCallId: string): readonly AguiEvent[] =>
    open.delete(toolCallId) ? [{ type: 'TOOL_CALL_END', toolCallId }] : [];
  /** The whole call, where its input was not streamed. */
  const whole = ({ toolCallId, toolName, input }: InputChunk): readonly AguiEvent[] => {
    if (known.has(toolCallId)) return [];
    const opened = open.has(toolCallId) ? [] : [start(toolCallId, toolName)];
    const rest = open.get(toolCallId)?.hasArgs === true ? [] : args(toolCallId, JSON.stringify(input) ?? '{}');
    return [...opened, ...rest, ...end(toolCallId)];
  };
  return {
    isOpen: (): boolean => open.size > 0,
    closeAll: (): readonly AguiEvent[] => [...open.keys()].flatMap(end),
    of(chunk: UIMessageChunk): readonly AguiEvent[] {
      switch (chunk.type) {
        case 'tool-input-start':
          return known.has(chunk.toolCallId) ? [] : [start(chunk.toolCallId, chunk.toolName)];
        case 'tool-input-delta':
          return args(chunk.toolCallId, chunk.inputTextDelta);
        case 'tool-input-available':
          return whole(chunk);
        case 'tool-input-error':
          return [...whole(chunk), result(chunk.toolCallId, { error: chunk.errorText })];
        case 'tool-output-available':
          return chunk.preliminary === true ? [] : [result(chunk.toolCallId, chunk.output)];
        case 'tool-output-error':
          return [result(chunk.toolCallId, { error: chunk.errorText })];
        case 'tool-output-denied':
          return [result(chunk.toolCallId, { error: 'The call was denied' })];
        default:
          return [];
      }
    },
  };
}

interface InputChunk {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly input: unknown;
}

function result(toolCallId: string, output: unknown): AguiEvent {
  const content = typeof output === 'string' ? output : JSON.stringify(output) ?? '';
  return { type: 'TOOL_CALL_RESULT', messageId: `${toolCallId}-result`, toolCallId, content, role: 'tool' };
}

export interface AguiEvent {
  readonly type: string;
  readonly [field: string]: unknown;
}

export interface AguiRun {
  readonly threadId: string;
  readonly runId: string;
  readonly state: unknown;
  /** The names of tools that the client offered. Runs do not call them. */
  readonly offeredTools: readonly string[];
  /** The ids of the calls in the client's thread. */
  readonly knownCalls: ReadonlySet<string>;
}

export interface WaitingApproval {
  readonly runId: string;
  readonly approvalId: string;
  /** The message that the run answers in. */
  readonly messageId: string;
}

export function toInterruptId({ runId, approvalId, messageId }: WaitingApproval): string {
  return [runId, approvalId, messageId].map(encodeURIComponent).join(':');
}

/** Reads the id of an interrupt; `undefined` when it is none. What it names is checked by the runtime. */
export function fromInterruptId(id: string): WaitingApproval | undefined {
  const parts = id.split(':');
  if (parts.length !== 3 || parts.some((part) => part === '')) return undefined;
  try {
    const [runId = '', approvalId = '', messageId = ''] = parts.map(decodeURIComponent);
    return { runId, approvalId, messageId };
  } catch {
    return undefined; // a broken escape
  }
}
