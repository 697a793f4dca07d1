/** What the scripted model reads in a prompt: the last user message, and what was called since then. */

import { asRecord } from '../../../src/base/is-record.ts';
import type { LanguageModel } from '../../../src/contracts/ai-types.ts';

export type ModelCallOptions = Parameters<LanguageModel['doStream']>[0];
type Message = ModelCallOptions['prompt'][number];
type ResultPart = Extract<Extract<Message, { role: 'tool' }>['content'][number], { type: 'tool-result' }>;

/** A call with its input as JSON text. */
export interface Call {
  readonly toolName: string;
  readonly input: string;
}

/** What came of a call. */
export type Outcome =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'failure' | 'denial'; readonly text: string; readonly data?: unknown };

export interface PastCall {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly input: unknown;
  readonly outcome: Outcome | undefined;
}

/** A prompt as the model reads it. */
export interface Conversation {
  /** The text of the last user message; "And in miles?" is the message before with another unit. */
  readonly message: string;
  /** The files of the last user message, by name or type. */
  readonly files: readonly string[];
  /** The calls since then, by step. */
  readonly steps: readonly (readonly PastCall[])[];
  /** Every call in all the prompt, in order. */
  readonly past: readonly PastCall[];
  /** What tools returned in all the prompt, in order. */
  readonly results: readonly unknown[];
  readonly system: string;
}

/** What runs add to the messages of a person: context, and what the answer must be. */
const added =
  /^(?:Context for the next message|Summary of the earlier|Your final answer must|Instructions of the user|The (?:JSON|instr))/;

function isSaid({ role, content }: Message): boolean {
  const [first] = role === 'user' ? content : [];
  return role === 'user' && !(first?.type === 'text' && added.test(first.text));
}

/** Returns what the model reads where it loads tools: these among its own, and their calls under their names. */
export function withLoaded(options: ModelCallOptions): ModelCallOptions {
  const { prompt, tools = [] } = options;
  if (!tools.some(({ name }) => name === 'tool_call')) return options;
  const usable = new Map(tools.filter(({ name }) => name !== 'tool_call').map((tool) => [tool.name, tool]));
  const names = new Map<string, string>();
  const read = prompt.map((message) =>
    message.role !== 'assistant' && message.role !== 'tool' ? message : {
      ...message,
      content: message.content.map((part) => {
        if (part.type === 'tool-call' && part.toolName === 'tool_call') {
          const { name, arguments: input } = asRecord(part.input);
          names.set(part.toolCallId, String(name));
          return { ...part, toolName: String(name), input };
        }
        if (part.type !== 'tool-result') return part;
        for (const one of part.toolName === 'tool_load' ? definitionsIn(part.output) : []) {
          const { name, description, inputSchema } = asRecord(one);
          if (typeof name !== 'string' || inputSchema === undefined || usable.has(name)) continue;
          usable.set(name, {
            type: 'function',
            name,
            description: String(description),
            inputSchema: asRecord(inputSchema),
          });
        }
        return { ...part, toolName: names.get(part.toolCallId) ?? part.toolName };
      }),
    } as Message
  ); // the same parts, under other names
  return { ...options, prompt: read, tools: [...usable.values()] };
}

function definitionsIn(output: ResultPart['output']): readonly unknown[] {
  const loaded = output.type === 'json' ? asRecord(output.value)['loaded'] : undefined;
  return Array.isArray(loaded) ? loaded : [];
}

export function readConversation(prompt: ModelCallOptions['prompt']): Conversation {
  const outcomes = new Map(
    prompt.flatMap((message) =>
      message.role === 'tool' || message.role === 'assistant'
        ? message.content.flatMap((part) =>
          part.type === 'tool-result' ? [[part.toolCallId, toOutcome(part.output)] as const] : []
        )
        : []
    ),
  );
  const steps = prompt.map((message): readonly PastCall[] =>
    message.role !== 'assistant' ? [] : message.content.flatMap((part) => {
      if (part.type !== 'tool-call') return [];
      const { toolCallId, toolName, input } = part;
      return [{ toolCallId, toolName, input, outcome: outcomes.get(toolCallId) }];
    })
  );
  const lastUser = prompt.findLastIndex(isSaid);
  const before = prompt.findLast((message, at) => isSaid(message) && at < lastUser);
  return {
    message: inFull(textOf(prompt[lastUser]), textOf(before)),
    files: filesOf(prompt[lastUser]),
    steps: steps.slice(lastUser + 1).filter((calls) => calls.length > 0),
    past: steps.flat(),
    results: [...outcomes.values()].flatMap((outcome) => outcome.kind === 'value' ? [outcome.value] : []),
    system: prompt[0]?.role === 'system' ? prompt[0].content : '',
  };
}

function inFull(message: string, before: string): string {
  const wanted = /^(?:and|what about|how about) (?:in|to|at|for) ([\p{L} ]{2,40})\W*$/iu.exec(message)?.[1];
  const ending = /\b(in|into|to|at|for) [^,;.?!]{1,60}(\W*)$/iu;
  return wanted && ending.test(before) ? before.replace(ending, `$1 ${wanted}$2`) : message;
}

/** How the runtime gives a model the text of a file. */
const textFile = /^File ("(?:[^"\\]|\\.)*") \([\w/+.-]+\):\n/u;

function textOf(message: Message | undefined): string {
  if (message?.role !== 'user') return '';
  return message.content.flatMap((part) => part.type === 'text' && !textFile.test(part.text) ? [part.text] : [])
    .join('\n');
}

function filesOf(message: Message | undefined): readonly string[] {
  if (message?.role !== 'user') return [];
  return message.content.flatMap((part) => {
    if (part.type === 'file') return [part.filename ?? part.mediaType];
    const name = part.type === 'text' ? textFile.exec(part.text)?.[1] : undefined;
    return name === undefined ? [] : [String(JSON.parse(name)) || 'a text'];
  });
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
  const data = typeof error === 'string' ? asRecord(parseJson(error)) : error;
  const message = own(data, 'message') ?? own(own(data, 'error'), 'message') ??
    [data].flat().map((part) => own(part, 'text')).find((text) => typeof text === 'string') ?? error;
  return { kind: 'failure', text: typeof message === 'string' ? message : stringify(message), data };
}

/** Returns an own property of whatever it is. */
export function own(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined;
}

/** Returns the value when it is an array, else an empty one. */
export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Returns a value as JSON text, also one that JSON does not know. */
export function stringify(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return '(a value that is not JSON)';
  }
}

/** Returns the value of a JSON text, or `undefined`. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

export function callOf(toolName: string, input: unknown): Call {
  return { toolName, input: JSON.stringify(input) };
}
