/** One call of the browser's model: a choice among tools, then either the input of the chosen one or a text. */

import { PinnaceError } from '../../../src/base/errors.ts';
import { isSessionEnded, nameOf } from './failures.ts';
import type { PromptMessage, PromptOptions, PromptSession } from './prompt-api.ts';
import type { AnswerPiece, GenerateRequest, OfferedTool, TokenCounts } from './protocol.ts';
import type { Sessions } from './sessions.ts';

interface GenerateOptions {
  readonly sessions: Sessions;
  readonly signal: AbortSignal;
  readonly emit: (piece: AnswerPiece) => void;
}

const noTool = 'none';

/**
 * Emits the answer and returns its tokens. The choice of a tool is made on a copy of the conversation, so that it does not become a
 * part of it. Rejects as the Prompt API does. A conversation that the browser has ended is opened again once.
 */
export async function generate(request: GenerateRequest, options: GenerateOptions): Promise<TokenCounts> {
  const { sessions, signal } = options;
  const { session, rest, isContinued } = await sessions.take(request.messages, signal);
  let isKept = false;
  try {
    const counter = createCounter(signal);
    const tool = await chooseTool(session, { request, rest, counter });
    if (tool) {
      options.emit({ type: 'tool', ...tool });
      sessions.keep(session, request.messages.slice(0, request.messages.length - rest.length));
    } else {
      const text = await streamText(session, { request, rest, counter, emit: options.emit });
      sessions.keep(session, [...request.messages, { role: 'assistant', content: text }]);
    }
    isKept = true;
    return counter.tokens();
  } catch (error) {
    if (isContinued && isSessionEnded(error)) return await generate(request, options);
    throw error;
  } finally {
    if (!isKept) session.destroy();
  }
}

interface Turn {
  readonly request: GenerateRequest;
  readonly rest: readonly PromptMessage[];
  readonly counter: Counter;
}

/** Returns the chosen tool with its input; `undefined`: the model answers in words. */
async function chooseTool(
  session: PromptSession,
  { request: { tools, mustChoose }, rest, counter }: Turn,
): Promise<{ readonly name: string; readonly input: string } | undefined> {
  if (tools.length === 0) return undefined;
  const copy = await session.clone({ signal: counter.signal });
  try {
    const choices = [...(mustChoose ? [] : [noTool]), ...tools.map(({ name }) => name)];
    const said = await counter.prompt(copy, [...rest, user(questionOf(mustChoose))], choiceOf(choices));
    const tool = tools.find(({ name }) => name === chosenIn(said));
    if (tool) return { name: tool.name, input: await inputFor(copy, tool, counter) };
    if (!mustChoose) return undefined;
    throw new PinnaceError('unavailable', 'The browser’s model chose no tool, although it must', {
      details: { reason: 'provider_invalid_response' },
    });
  } finally {
    copy.destroy();
  }
}

/** A schema that the browser cannot constrain to becomes any object: the runtime checks the input in any case. */
async function inputFor(copy: PromptSession, { name, inputSchema }: OfferedTool, counter: Counter): Promise<string> {
  const question = [user(`Write the input of the tool ${JSON.stringify(name)} as JSON.`)];
  try {
    return await counter.prompt(copy, question, inputSchema);
  } catch (error) {
    if (nameOf(error) !== 'NotSupportedError') throw error;
    return await counter.prompt(copy, question, { type: 'object' });
  }
}

async function streamText(
  session: PromptSession,
  { request: { constraint }, rest, counter, emit }: Turn & Pick<GenerateOptions, 'emit'>,
): Promise<string> {
  let text = '';
  await counter.count(session, { input: rest, constraint }, async (options) => {
    const reader = session.promptStreaming(rest, options).getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      text += value;
      if (value !== '') emit({ type: 'text', text: value });
    }
  });
  return text;
}

function questionOf(mustChoose: boolean): string {
  return mustChoose
    ? 'Choose the tool for your next step.'
    : `Choose the tool for your next step, or ${JSON.stringify(noTool)} to answer now.`;
}

function choiceOf(choices: readonly string[]): unknown {
  return {
    type: 'object',
    properties: { tool: { type: 'string', enum: choices } },
    required: ['tool'],
    additionalProperties: false,
  };
}

/** Browsers that ignore constraints answer in words. */
function chosenIn(text: string): unknown {
  try {
    const value = JSON.parse(text) as { readonly tool?: unknown } | null; // or any other JSON, which has no such field
    return value?.tool;
  } catch {
    return undefined; // no JSON names no tool
  }
}

function user(content: string): PromptMessage {
  return { role: 'user', content };
}

interface Counter {
  readonly signal: AbortSignal;
  prompt(session: PromptSession, input: readonly PromptMessage[], constraint: unknown): Promise<string>;
  count<T>(
    session: PromptSession,
    what: { readonly input: readonly PromptMessage[]; readonly constraint: unknown },
    work: (options: PromptOptions) => Promise<T>,
  ): Promise<T>;
  tokens(): TokenCounts;
}

/** Adds up the tokens of prompts: all that the model read, and what it wrote. */
function createCounter(signal: AbortSignal): Counter {
  let input: number | undefined = 0;
  let output: number | undefined = 0;
  const counter: Counter = {
    signal,
    tokens: () => ({ input, output }),
    prompt: (session, messages, constraint) =>
      counter.count(session, { input: messages, constraint }, (options) => session.prompt(messages, options)),
    async count(session, { input: messages, constraint }, work) {
      const options = { signal, ...(constraint !== undefined && { responseConstraint: constraint }) };
      const before = session.contextUsage;
      const added = await session.measureContextUsage?.(messages, options).catch(() => undefined); // not counted, then
      const result = await work(options);
      const read = before === undefined || added === undefined ? undefined : before + added;
      const after = session.contextUsage;
      input = sum(input, read);
      output = sum(output, read === undefined || after === undefined ? undefined : Math.max(0, after - read));
      return result;
    },
  };
  return counter;
}

function sum(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? undefined : a + b;
}
