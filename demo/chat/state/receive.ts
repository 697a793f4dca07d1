/** Turns the chunks of a stream into the parts of an answer. A delta costs one string concatenation, whatever the answer's length. */

import { batch } from '@preact/signals';
import type { UIMessageChunk } from '../../../src/contracts/ai-types.ts';
import { StoredAttachment } from '../../files/state/attached-file.ts';
import {
  type AssistantMessage,
  createTextPart,
  isSettled,
  type Outcome,
  type Part,
  type ReasoningPart,
  type RunFacts,
  type TextPart,
  type ToolCall,
} from './message.ts';
import { cancelPlan, planOf, receivePlan } from './plan.ts';
import { PlanView } from '../../plan/state/plan-data.ts';
import {
  addUsage,
  AppRef,
  AskedCall,
  type CitationsPart,
  CitedSources,
  CompactionData,
  ContextData,
  type ErrorShape,
  Fallback,
  Need,
  readAs,
  RetryData,
  RunData,
  ToolFailure,
  ToolLog,
  ToolProgress,
  Usage,
} from './run-data.ts';
import { createToolCalls, type ToolCalls } from './tool-calls.ts';

/** Takes in chunks, in whatever order they come, until the answer has ended. */
export interface Receiver {
  receive(chunk: UIMessageChunk): void;
  /** Ends the answer when the stream did not: stopped by a person, or broken off. Does nothing after the end. */
  end(outcome: Outcome): void;
}

interface ReceiverOptions {
  readonly now: () => number;
  /** Called with the address of a file that the run has stored. */
  readonly onStored?: ((stored: StoredAttachment) => void) | undefined;
  /** Returns who stopped the run, when its stream reports a stop. */
  readonly stoppedBy?: () => 'person' | 'runtime';
}

/** Creates a receiver that fills `message`, or goes on where it waited. What it does not know, and what comes after the end, it leaves alone. */
export function createReceiver(
  message: AssistantMessage,
  { now, onStored = () => undefined, stoppedBy = () => 'runtime' }: ReceiverOptions,
): Receiver {
  const add = (part: Part): void => void (message.parts.value = [...message.parts.value, part]);
  const draft: Draft = {
    message,
    add,
    now,
    onStored,
    stoppedBy,
    end,
    texts: createTexts(add),
    calls: createToolCalls({ add, now, known: message.parts.value }),
    approvals: new Map(),
    usedBefore: usageBefore(message),
  };

  function end(outcome: Outcome): void {
    if (message.outcome.value.type !== 'running') return;
    batch(() => {
      draft.texts.endAll();
      draft.calls.settleAll();
      if (outcome.type === 'stopped' && outcome.by === 'person') cancelPlan(message);
      message.retry.value = undefined;
      message.outcome.value = outcome;
    });
  }

  return {
    end,
    receive(chunk) {
      const handle = handlerOf(chunk);
      if (message.outcome.value.type !== 'running') return;
      batch(() => {
        message.retry.value = undefined; // whatever comes next, the call is made
        handle?.(draft, chunk);
      });
    },
  };
}

/** Each run that follows a plan reports the plan's total usage: only the time adds up. */
function usageBefore(message: AssistantMessage): Usage | undefined {
  const { usage } = message.facts.value;
  return usage && planOf(message) ? readAs(Usage, { durationMs: usage.durationMs }) : usage;
}

type TextKind = 'text' | 'reasoning';

/** What is being written, by kind and id. An id may come again after its end and is another part then. */
interface Texts {
  start(kind: TextKind, id: string): TextPart | ReasoningPart;
  /** Appends; starts a text whose start did not arrive. */
  append(kind: TextKind, chunk: { readonly id: string; readonly delta: string }): void;
  end(kind: TextKind, id: string): void;
  endAll(): void;
}

/** An answer that is being written. */
interface Draft {
  readonly message: AssistantMessage;
  readonly texts: Texts;
  readonly calls: ToolCalls;
  /** The call of each requested approval. */
  readonly approvals: Map<string, string>;
  /** What the runs before this one used, when the answer waited for a person. */
  readonly usedBefore: RunFacts['usage'];
  readonly now: () => number;
  readonly stoppedBy: () => 'person' | 'runtime';
  readonly add: (part: Part) => void;
  /** Called with the address of a stored file. */
  readonly onStored: (stored: StoredAttachment) => void;
  readonly end: (outcome: Outcome) => void;
}

type ChunkOf<T extends UIMessageChunk['type']> = Extract<UIMessageChunk, { type: T }>;
type Handlers = { readonly [T in UIMessageChunk['type']]?: (draft: Draft, chunk: ChunkOf<T>) => void };

const handlers: Handlers = {
  'text-start': ({ texts }, { id }) => void texts.start('text', id),
  'text-delta': ({ texts }, chunk) => texts.append('text', chunk),
  'text-end': ({ texts }, { id }) => texts.end('text', id),
  'reasoning-start': ({ texts }, { id }) => void texts.start('reasoning', id),
  'reasoning-delta': ({ texts }, chunk) => texts.append('reasoning', chunk),
  'reasoning-end': ({ texts }, { id }) => texts.end('reasoning', id),

  'start-step': ({ add }) => add({ type: 'step' }),
  'finish-step': ({ texts }) => texts.endAll(),
  'reset-step': resetStep,
  'steering-message': ({ add }, { id, parts }) =>
    add({ type: 'steering', id, text: parts.flatMap((part) => part.type === 'text' ? [part.text] : []).join('\n\n') }),

  'source-url': ({ add }, { title, url }) => add({ type: 'source', title: title ?? url, url }),
  'source-document': ({ add }, { title }) => add({ type: 'source', title }),
  file: ({ add }, { url, mediaType }) => add({ type: 'file', url, mediaType }),

  'tool-input-start': ({ calls }, chunk) => calls.update(chunk.toolCallId, named(chunk)),
  'tool-input-delta': appendInput,
  'tool-input-available': receiveInput,
  'tool-input-error': ({ calls }, chunk) =>
    calls.settle(chunk.toolCallId, { ...named(chunk), input: chunk.input, state: 'error', errorText: chunk.errorText }),
  'tool-approval-request': requestApproval,
  'tool-approval-response': answerApproval,
  'tool-output-available': receiveOutput,
  'tool-output-error': receiveFailure,
  'tool-output-denied': ({ calls }, { toolCallId }) => calls.settle(toolCallId, { state: 'denied' }),

  'data-run': ({ message }, { data }) => learn(message, { run: readAs(RunData, data) }),
  'data-usage': ({ message, usedBefore }, { data }) =>
    learn(message, { usage: addUsage(usedBefore, readAs(Usage, data)) }),
  'data-model': ({ message }, { data }) => learn(message, { fallback: readAs(Fallback, data) }),
  'data-plan': ({ message, add, now }, { data }) => {
    const view = readAs(PlanView, data);
    if (view) receivePlan(message, view, { at: now(), add });
  },
  'data-attachment': ({ onStored }, { data }) => {
    const stored = readAs(StoredAttachment, data);
    if (stored) onStored(stored);
  },
  'data-sources': receiveSources,
  'data-compaction': ({ add }, { id = '', data }) => {
    const compaction = readAs(CompactionData, data);
    if (compaction) add({ type: 'compaction', id, ...compaction });
  },
  'data-context': ({ add }, { data }) => {
    const context = readAs(ContextData, data);
    if (context) add({ type: 'context', data: context });
  },
  'data-program': ({ calls }, { id = '', data }) => calls.update(id, { program: data }),
  'data-quoted': ({ calls }, { data }) => {
    const { toolCallId } = (data ?? {}) as { readonly toolCallId?: unknown }; // the card reads the rest
    if (typeof toolCallId === 'string') calls.update(toolCallId, { quoted: data });
  },
  'data-interruption': ({ calls }, { data }) => {
    const need = readAs(Need, data);
    if (need) calls.update(need.toolCallId, { need });
  },
  'data-retry': ({ message, now }, { data }) => {
    const retry = readAs(RetryData, data);
    // The runtime's clock may differ from this one; a reader that joins later has less to wait.
    if (retry) {
      message.retry.value = { ...retry, dueAt: now() + Math.min(retry.delayMs, Math.max(0, retry.retryAt - now())) };
    }
  },
  'data-mcp-app': ({ calls }, { data }) => {
    const app = readAs(AppRef, data);
    if (app) calls.update(app.toolCallId, { app: { ...app, isNew: true } });
  },
  'data-tool-error': ({ calls }, { data }) => {
    const failure = readAs(ToolFailure, data);
    if (failure) calls.fail(failure);
  },
  'data-tool-progress': ({ calls }, { data }) => {
    const progress = readAs(ToolProgress, data);
    if (progress) calls.update(progress.toolCallId, { progress });
  },
  'data-tool-log': ({ calls }, { data }) => {
    const log = readAs(ToolLog, data);
    if (log) calls.log(log.toolCallId, { level: log.level, text: log.text });
  },

  finish,
  abort: ({ end, stoppedBy, now }) => end({ type: 'stopped', by: stoppedBy(), endedAt: now() }),
  error: ({ end, message, now }, { errorText }) =>
    end({
      type: isInterrupted(message) ? 'interrupted' : 'failed',
      error: errorOf(message, errorText),
      endedAt: now(),
    }),
};

/** Returns what this chunk does, or nothing for one that is not known. */
function handlerOf({ type }: UIMessageChunk): ((draft: Draft, chunk: UIMessageChunk) => void) | undefined {
  // Safe: each handler is stored under the type of its chunks.
  return Object.hasOwn(handlers, type) ? handlers[type] as (draft: Draft, chunk: UIMessageChunk) => void : undefined;
}

function resetStep({ message, texts, calls }: Draft): void {
  texts.endAll();
  const parts = message.parts.value;
  message.parts.value = parts.slice(0, parts.findLastIndex(({ type }) => type === 'step') + 1);
  calls.forgetAllBut(message.parts.value);
}

/** Sources that arrive again replace the earlier ones. */
function receiveSources({ message, add }: Draft, { data }: ChunkOf<`data-${string}`>): void {
  const cited = readAs(CitedSources, data);
  if (!cited) return;
  const part: CitationsPart = { type: 'citations', ...cited };
  const isOld = (other: Part): boolean => other.type === 'citations' && other.toolCallId === part.toolCallId;
  if (message.parts.value.some(isOld)) {
    message.parts.value = message.parts.value.map((other) => isOld(other) ? part : other);
  } else add(part);
}

function appendInput({ calls }: Draft, { toolCallId, inputTextDelta }: ChunkOf<'tool-input-delta'>): void {
  const { call, inputText } = calls.get(toolCallId);
  inputText.value += inputTextDelta;
  if (call.value.state === 'starting') calls.update(toolCallId, { state: 'input' });
}

/** An outcome may have arrived first; keep it, and an unanswered question too. */
function receiveInput({ calls, now }: Draft, chunk: ChunkOf<'tool-input-available'>): void {
  const { toolCallId, input } = chunk;
  const { state, approval } = calls.get(toolCallId).call.value;
  const isStarted = isSettled(state) || (state === 'waiting' && (!approval?.decision || isDenied({ approval })));
  calls.update(toolCallId, { ...named(chunk), input, ...(!isStarted && { state: 'running', startedAt: now() }) });
}

function receiveOutput({ calls }: Draft, { toolCallId, output, preliminary }: ChunkOf<'tool-output-available'>): void {
  if (preliminary) calls.update(toolCallId, { output });
  else calls.settle(toolCallId, { state: 'result', output });
}

function receiveFailure({ calls }: Draft, { toolCallId, errorText }: ChunkOf<'tool-output-error'>): void {
  calls.settle(toolCallId, { state: isDenied(calls.get(toolCallId).call.value) ? 'denied' : 'error', errorText });
}

function isDenied({ approval }: Pick<ToolCall, 'approval'>): boolean {
  return typeof approval?.decision === 'object' && !approval.decision.approved;
}

function requestApproval({ calls, approvals, message }: Draft, chunk: ChunkOf<'tool-approval-request'>): void {
  const { approvalId, toolCallId, reason, approvalDescriptor } = chunk;
  approvals.set(approvalId, toolCallId);
  const runId = message.facts.value.run?.runId ?? '';
  calls.update(toolCallId, {
    state: 'waiting',
    approval: { id: approvalId, runId, reason, asked: readAs(AskedCall, approvalDescriptor) },
  });
}

function answerApproval({ calls, approvals }: Draft, chunk: ChunkOf<'tool-approval-response'>): void {
  const toolCallId = approvals.get(chunk.approvalId);
  if (toolCallId !== undefined && chunk.approved) calls.update(toolCallId, { state: 'running' });
}

/** What could not be read leaves what was known. */
function learn({ facts }: AssistantMessage, learned: RunFacts): void {
  if (Object.values(learned).some((fact) => fact !== undefined)) facts.value = { ...facts.value, ...learned };
}

function finish({ message, end, now }: Draft, { finishReason }: ChunkOf<'finish'>): void {
  const { state, error } = message.facts.value.run ?? {};
  const endedAt = now();
  if (error) end({ type: state === 'stopped' ? 'limited' : 'failed', error, endedAt });
  else if (state === 'awaiting_approval' || state === 'suspended') end({ type: 'waiting', endedAt });
  else end({ type: 'done', finishReason, endedAt });
}

const isInterrupted = ({ facts }: AssistantMessage): boolean => facts.value.run?.state === 'interrupted';

/** The stream's own error is a text without a code; the run's data part came before and says more. */
function errorOf(message: AssistantMessage, errorText: string): ErrorShape {
  return message.facts.value.run?.error ?? { code: 'internal', message: errorText, retryable: false };
}

function named(chunk: { toolName: string; title?: string; dynamic?: boolean }): Partial<ToolCall> {
  return {
    name: chunk.toolName,
    dynamic: chunk.dynamic === true,
    ...(chunk.title !== undefined && { title: chunk.title }),
  };
}

/** Creates the texts of one answer; `add` appends a part to it. */
function createTexts(add: (part: Part) => void): Texts {
  const open = new Map<string, TextPart | ReasoningPart>();

  function start(kind: TextKind, id: string): TextPart | ReasoningPart {
    const part = createTextPart(kind);
    open.set(`${kind} ${id}`, part);
    add(part);
    return part;
  }

  return {
    start,
    append(kind, { id, delta }) {
      if (typeof delta !== 'string') return;
      const { text } = open.get(`${kind} ${id}`) ?? start(kind, id);
      text.value += delta;
    },
    end(kind, id) {
      const part = open.get(`${kind} ${id}`);
      if (part) part.done.value = true;
      open.delete(`${kind} ${id}`);
    },
    endAll() {
      for (const part of open.values()) part.done.value = true;
      open.clear();
    },
  };
}
