/**
 * Calls of loaded tools. The list of tools that a provider receives never depends on what is loaded: a loaded tool is called by the one
 * constant tool `tool_call`, or where its provider takes definitions in the middle of a chat, by its own name.
 *
 * What must hold:
 *
 * 1. The wrapper is only on the wire. Log, chat, rules, approvals, events and audit have the tool's own name, id and input.
 * 2. The prompt is a pure function of messages and tools: each instance writes the same bytes.
 * 3. Loading is no permission: allowlist, masks, pins and availability are checked at each call. What is loaded is read from the chat,
 *    and a forged result makes nothing callable that they do not.
 * 4. A provider is given the tool's definition of today alone, and only where the chat shows that very definition: text of a result, of an
 *    error or of a client never becomes one.
 */

import type {
  LanguageModelV4CallOptions,
  LanguageModelV4Message,
  LanguageModelV4StreamPart,
  LanguageModelV4ToolCall,
} from '@ai-sdk/provider';
import { asArray, asRecord, isRecord } from '../base/is-record.ts';
import { canonicalJson } from '../base/json.ts';
import type { Provider } from '../base/schema.ts';
import type { ModelMessage, UIMessage } from '../contracts/ai-types.ts';
import { definitionMark, toolCallName } from '../discovery/discovery-tools.ts';
import { originOf, withOrigin } from './message-parts.ts';

type Prompt = LanguageModelV4CallOptions['prompt'];
type Tools = LanguageModelV4CallOptions['tools'];
type Options = NonNullable<LanguageModelV4Message['providerOptions']>;

const namesOf = new WeakMap<object, ReadonlySet<string>>();
const wrapped = new WeakMap<
  LanguageModelV4Message,
  { readonly names: ReadonlySet<string>; readonly to: LanguageModelV4Message }
>();

/** Returns the prompt as the provider receives it: calls of tools that are not among these are calls of `tool_call`. */
export function wrapCalls(prompt: Prompt, tools: Tools): Prompt {
  if (!tools?.some(({ name }) => name === toolCallName)) return [...prompt];
  const names = namesOf.get(tools) ?? new Set(tools.map(({ name }) => name));
  namesOf.set(tools, names);
  return prompt.map((message) => {
    const known = wrapped.get(message);
    if (known?.names === names) return known.to;
    const to = wrapMessage(message, names);
    wrapped.set(message, { names, to });
    return to;
  });
}

/** The definition of a tool as `tool_load` returns it; `undefined` for one that the run does not have. */
export type DefinitionOf = (name: string) => LoadedDefinition | undefined;

interface LoadedDefinition {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: object;
}

/** How a provider takes definitions in the middle of a chat: the options of an empty system message. */
const additions: Readonly<Record<string, (tools: readonly LoadedDefinition[]) => Options>> = {
  anthropic: (tools) => ({
    anthropic: {
      toolChanges: tools.map(({ name, description, inputSchema }) => ({
        type: 'tool_addition',
        tool: { type: 'function', name, description, inputSchema: { ...inputSchema } },
      })),
    },
  }),
  openai: (tools) => ({
    openai: {
      additionalTools: tools.map(({ name, description, inputSchema }) => ({
        type: 'function',
        name,
        description,
        parameters: { ...inputSchema },
      })),
    },
  }),
};

/** The providers whose records refuse definitions in the middle. */
const refusing = new WeakSet<object>();

/** How the models of a provider receive what was loaded; `undefined` where it is called by `tool_call`. */
export function nativeFormOf(
  provider: Pick<Provider, 'toolLoading'>,
  { provider: name }: { readonly provider: string },
): string | undefined {
  if (provider.toolLoading !== 'native' || refusing.has(provider)) return undefined;
  const [family = ''] = name.split('.', 1);
  return family in additions && !name.endsWith('.chat') && !name.endsWith('.completion') ? family : undefined;
}

/** Whether an error refuses such definitions. Then its provider is remembered, and called without. */
export function refusesAdditions(thrown: unknown, provider: object): boolean {
  const { statusCode, responseBody, name, message } = asRecord(thrown);
  const isRefused = (statusCode === 400 || statusCode === 422) &&
    /beta|tool|system/i.test(`${String(responseBody)} ${String(message)}`);
  if (!isRefused && name !== 'AI_UnsupportedFunctionalityError') return false;
  refusing.add(provider);
  return true;
}

const withoutCall = new WeakMap<object, NonNullable<Tools>>();

/** Returns what a provider receives that takes definitions in the middle: each before the answer that may call the tool. */
export function addTools(
  { prompt, tools }: { readonly prompt: Prompt; readonly tools: Tools },
  { form, definitionOf }: { readonly form: string; readonly definitionOf: DefinitionOf },
): { readonly prompt: Prompt; readonly tools: Tools } {
  const make = additions[form];
  if (!make || !tools?.some(({ name }) => name === toolCallName)) return { prompt: [...prompt], tools };
  const offered = withoutCall.get(tools) ?? tools.filter(({ name }) => name !== toolCallName);
  withoutCall.set(tools, offered); // the same list for each call: it is hashed once
  const added: LanguageModelV4Message[] = [];
  let waiting = new Map<string, LoadedDefinition>();
  const flush = (): void => {
    if (waiting.size === 0) return;
    const message = { role: 'system', content: '', providerOptions: make([...waiting.values()]) } as const;
    added.push(withOrigin(message, { id: '', kind: 'definitions', isPinned: false }));
    waiting = new Map();
  };
  for (const message of prompt) {
    if (message.role === 'assistant') flush();
    added.push(message);
    if (message.role !== 'tool') continue;
    for (const [name, shown] of loadedIn([message])) {
      const definition = definitionOf(name);
      if (definition && shown && canonicalJson(shown) === canonicalJson(definition)) waiting.set(name, definition);
    }
  }
  flush();
  return { prompt: added, tools: offered };
}

function wrapMessage(message: LanguageModelV4Message, names: ReadonlySet<string>): LanguageModelV4Message {
  if (message.role === 'assistant') {
    const content = message.content.map((part) => {
      if (part.type !== 'tool-call' || part.providerExecuted === true || names.has(part.toolName)) return part;
      return { ...part, toolName: toolCallName, input: { name: part.toolName, arguments: part.input } };
    });
    return content.every((part, at) => part === message.content[at])
      ? message
      : withOrigin({ ...message, content }, originOf(message));
  }
  if (message.role !== 'tool') return message;
  const content = message.content.map((part) =>
    part.type !== 'tool-result' || names.has(part.toolName) ? part : { ...part, toolName: toolCallName }
  );
  return content.every((part, at) => part === message.content[at])
    ? message
    : withOrigin({ ...message, content }, originOf(message));
}

/** Returns the call that is meant; a call of `tool_call` that names none stays, and its check says what it lacks. */
export function unwrapCall<Call extends LanguageModelV4ToolCall>(part: Call): Call {
  if (part.toolName !== toolCallName) return part;
  const given = jsonOf(part.input);
  if (!isRecord(given) || typeof given['name'] !== 'string') return part;
  const { name, arguments: input = {} } = given;
  return { ...part, toolName: name, input: typeof input === 'string' ? input : JSON.stringify(input) };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

type StartPart = Extract<LanguageModelV4StreamPart, { type: 'tool-input-start' }>;

/** A name behind more text than this is read with the whole call. */
const longestHead = 512;
const head = /^\s*\{\s*"name"\s*:\s*("(?:[^"\\]|\\.)*")\s*,\s*"arguments"\s*:\s*(?=\{)/;

/** The streamed input of a call of `tool_call`: from when its name is read, it is the input of that tool. */
export class WrappedInput {
  readonly #start: StartPart;
  #text = '';
  isStarted = false;
  #depth = 0;
  #isInText = false;
  #isEscaped = false;
  #isDone = false;

  constructor(start: StartPart) {
    this.#start = start;
  }

  /** Takes a piece. Returns the start of the inner call once, and the piece of its input. */
  take(delta: string): { readonly start?: StartPart; readonly delta: string } {
    if (this.#isDone) return { delta: '' };
    if (this.isStarted) return { delta: this.#pieceOf(delta) };
    this.#text += delta;
    const found = head.exec(this.#text);
    if (!found) {
      this.#isDone = this.#text.length > longestHead;
      return { delta: '' };
    }
    this.isStarted = true;
    const toolName = JSON.parse(found[1] ?? '""') as string; // the pattern takes a text alone
    return { start: { ...this.#start, toolName }, delta: this.#pieceOf(this.#text.slice(found[0].length)) };
  }

  /** Up to the brace that closes the input. */
  #pieceOf(text: string): string {
    for (let at = 0; at < text.length; at++) {
      const char = text[at];
      if (this.#isEscaped) this.#isEscaped = false;
      else if (this.#isInText) {
        if (char === '\\') this.#isEscaped = true;
        else if (char === '"') this.#isInText = false;
      } else if (char === '"') this.#isInText = true;
      else if (char === '{' || char === '[') this.#depth++;
      else if ((char === '}' || char === ']') && --this.#depth === 0) {
        this.#isDone = true;
        return text.slice(0, at + 1);
      }
    }
    return text;
  }
}

/** The tools that a chat has loaded, with the JSON of their definitions where the chat has it. */
export type LoadedTools = ReadonlyMap<string, unknown>;

/** Reads what was loaded from messages of a chat: from results of `tool_load`, errors with a definition, and compactions. */
export function loadedIn(messages: readonly (UIMessage | ModelMessage)[]): LoadedTools {
  const loaded = new Map<string, unknown>();
  const add = (definition: unknown): void => {
    const { name, inputSchema } = asRecord(definition);
    if (typeof name !== 'string') return;
    if (inputSchema !== undefined || !loaded.has(name)) {
      loaded.set(name, inputSchema === undefined ? undefined : definition);
    }
  };
  for (const message of messages) {
    const parts: readonly unknown[] = 'parts' in message
      ? message.parts
      : typeof message.content === 'string'
      ? []
      : message.content;
    for (const part of parts) {
      const { type, toolName, output, errorText, data } = asRecord(part);
      const value = asRecord(output);
      const isLoad = type === 'tool-tool_load' || toolName === 'tool_load';
      if (isLoad) asArray(value['loaded'] ?? asRecord(value['value'])['loaded']).forEach(add);
      else if (typeof errorText === 'string') add(definitionIn(errorText));
      else if (value['type'] === 'error-text') add(definitionIn(value['value']));
      if (type === 'data-compaction') { for (const name of asArray(asRecord(data)['loaded'])) add({ name }); }
    }
  }
  return loaded;
}

function definitionIn(text: unknown): unknown {
  if (typeof text !== 'string') return undefined;
  const at = text.indexOf(definitionMark);
  return at < 0 ? undefined : jsonOf(text.slice(at + definitionMark.length));
}
