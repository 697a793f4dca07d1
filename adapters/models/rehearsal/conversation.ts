/** What the rehearsal model reads in a prompt: the last user message, and what was called since then. */

import type { LanguageModel } from '../../../src/contracts/ai-types.ts';
import { inFull } from './follow-up.ts';
import { own } from './shape.ts';
import { asRecord } from '../../../src/base/is-record.ts';

/** What a model is called with. */
export type ModelCallOptions = Parameters<LanguageModel['doStream']>[0];
type Message = ModelCallOptions['prompt'][number];
type ResultPart = Extract<Extract<Message, { role: 'tool' }>['content'][number], { type: 'tool-result' }>;

/** What came of a call. */
export type Outcome =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'failure'; readonly text: string; readonly data: unknown }
  | { readonly kind: 'denial'; readonly text: string };

/** A call in the prompt. */
export interface PastCall {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly input: unknown;
  readonly outcome: Outcome | undefined;
}

/** A prompt as the model reads it. */
export interface Conversation {
  /** The text of the last user message. */
  readonly message: string;
  /** The files of the last user message, by name or type. */
  readonly files: readonly string[];
  /** The calls since then, by step. */
  readonly steps: readonly (readonly PastCall[])[];
  /** What tools returned in all the prompt, in order. */
  readonly results: readonly unknown[];
  readonly callIds: ReadonlySet<string>;
  /** Every call in all the prompt, in order. */
  readonly past: readonly PastCall[];
  /** The root of the tree that the instructions name, if they name one. */
  readonly rootId: string;
}

/** Reads a prompt. */
export function readConversation(prompt: ModelCallOptions['prompt']): Conversation {
  const outcomes = outcomesOf(prompt);
  const steps = prompt.map((message) => callsOf(message, outcomes));
  const lastUser = prompt.findLastIndex(({ role }) => role === 'user');
  const before = prompt.findLast(({ role }, i) => role === 'user' && i < lastUser);
  return {
    message: inFull(textOf(prompt[lastUser]), textOf(before)),
    files: filesOf(prompt[lastUser]),
    steps: steps.slice(lastUser + 1).filter((calls) => calls.length > 0),
    results: [...outcomes.values()].flatMap((outcome) => outcome.kind === 'value' ? [outcome.value] : []),
    past: steps.flat(),
    rootId: rootIn(prompt),
    callIds: new Set(steps.flat().map(({ toolCallId }) => toolCallId)),
  };
}

/** "The root's nodeId is "yard"." */
function rootIn(prompt: ModelCallOptions['prompt']): string {
  const [system] = prompt;
  const text = system?.role === 'system' ? system.content : '';
  return /\broot(?:['’]s)?(?:\s+(?:nodeId|node|id))*\s+is\s+["“`]([^"”`]+)["”`]/u.exec(text)?.[1] ?? 'root';
}

function textOf(message: Message | undefined): string {
  if (message?.role !== 'user') return '';
  return message.content.flatMap((part) => part.type === 'text' && !textFile.test(part.text) ? [part.text] : []).join(
    '\n',
  );
}

/** How the runtime gives a model the text of a file. */
const textFile = /^File ("(?:[^"\\]|\\.)*") \([\w/+.-]+\):\n/u;

function filesOf(message: Message | undefined): readonly string[] {
  if (message?.role !== 'user') return [];
  return message.content.flatMap((part) => {
    if (part.type === 'file') return [part.filename ?? part.mediaType];
    const name = part.type === 'text' ? textFile.exec(part.text)?.[1] : undefined;
    return name === undefined ? [] : [String(JSON.parse(name)) || 'a text'];
  });
}

function callsOf(message: Message, outcomes: ReadonlyMap<string, Outcome>): readonly PastCall[] {
  if (message.role !== 'assistant') return [];
  return message.content.flatMap((part) =>
    part.type === 'tool-call'
      ? [{
        toolCallId: part.toolCallId,
        toolName: part.toolName,
        input: part.input,
        outcome: outcomes.get(part.toolCallId),
      }]
      : []
  );
}

function outcomesOf(prompt: ModelCallOptions['prompt']): ReadonlyMap<string, Outcome> {
  const outcomes = new Map<string, Outcome>();
  for (const message of prompt) {
    if (message.role !== 'tool' && message.role !== 'assistant') continue;
    for (const part of message.content) {
      if (part.type === 'tool-result') outcomes.set(part.toolCallId, toOutcome(part.output));
    }
  }
  return outcomes;
}

function toOutcome(output: ResultPart['output']): Outcome {
  switch (output.type) {
    case 'text':
      return { kind: 'value', value: output.value };
    case 'json':
      return failureIn(output.value) ?? { kind: 'value', value: output.value };
    case 'content':
      return {
        kind: 'value',
        value: output.value.map((part) => part.type === 'text' ? part.text : `(${part.type})`).join('\n'),
      };
    case 'execution-denied':
      return { kind: 'denial', text: output.reason ?? '' };
    case 'error-text':
      return failure(output.value);
    case 'error-json':
      return failure(output.value);
    default:
      return { kind: 'value', value: output satisfies never };
  }
}

/** Some tools return their failure: `{ ok: false, error }`, MCP's `{ isError: true, content }`, or a program's `{ isError: true, error }`. */
function failureIn(value: unknown): Outcome | undefined {
  if (own(value, 'ok') === false && own(value, 'error') !== undefined) return failure(own(value, 'error'));
  return own(value, 'isError') === true ? failure(own(value, 'content') ?? own(value, 'error')) : undefined;
}

function failure(thrown: unknown): Outcome {
  const error = typeof thrown === 'string' ? thrown.replace(/^(?:\w*Error:\s*)+/u, '') : thrown;
  const data = typeof error === 'string' ? parsed(error) : error;
  const message = own(data, 'message') ?? own(own(data, 'error'), 'message') ??
    [data].flat().map((part) => own(part, 'text')).find((text) => typeof text === 'string') ?? error;
  return { kind: 'failure', text: typeof message === 'string' ? message : stringify(message), data };
}

function parsed(text: string): unknown {
  try {
    return asRecord(JSON.parse(text));
  } catch {
    return {};
  }
}

/** Returns a value as JSON text, also one that JSON does not know. */
export function stringify(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return '(a value that is not JSON)';
  }
}
