/** Makes a long prompt fit: own strategy, shorter outputs, a summary, fewer turns. Loaded when a chat becomes long. */

import type { LanguageModelV4Message, LanguageModelV4ToolResultPart } from '@ai-sdk/provider';
import { PinnaceError } from '../base/errors.ts';
import type { UIMessageChunk } from '../contracts/ai-types.ts';
import { type Compaction, originOf, summaryMessage, withOrigin } from './message-parts.ts';
import { toPrompt } from './model-prompt.ts';
import {
  chatStart,
  currentTurn,
  type FitOptions,
  isPinned,
  isSummary,
  messageTokens,
  outputTokens,
  roomOf,
  turnStarts,
} from './estimate-prompt.ts';
import { raceAbort } from '../base/until-aborted.ts';
import type { ContextState, ContextStrategy } from '../contracts/context-strategy.ts';

type Prompt = readonly LanguageModelV4Message[];

/** The current turn keeps the outputs of so many steps, as long as that fits. */
const mostFullResults = 3;

/** Replaces messages of the prompt until it fits; yields the chunk of a summary. @throws PinnaceError as `ContextWindow.fit`. */
export async function* fitPrompt(
  prompt: LanguageModelV4Message[],
  options: FitOptions,
): AsyncGenerator<readonly UIMessageChunk[], void> {
  const { tokensOf, contextTokens } = options;
  const room = roomOf(contextTokens);
  const replace = (messages: Prompt): void => void prompt.splice(0, prompt.length, ...messages);
  if (options.strategy) replace(await applyStrategy(options.strategy, prompt, options));
  const tokensBefore = tokensOf(prompt);
  if (tokensBefore <= room) return;
  let fitted = shorten(prompt, { fullResults: mostFullResults });
  const given = new Set(prompt);
  const shortened = fitted.filter((message) => !given.has(message)).length;
  if (tokensOf(fitted) > room) {
    const summarized = await summarizeOldest(prompt, { ...options, fitted, tokensBefore });
    if (summarized) {
      yield [chunkOf(summarized.compaction, options)];
      fitted = summarized.prompt;
    }
  }
  const count = fitted.length;
  fitted = dropOldest(fitted, { ...options, room });
  const dropped = count - fitted.length;
  if (tokensOf(fitted) > room) fitted = shorten(fitted, { fullResults: 1 });
  replace(fitted);
  const tokensAfter = tokensOf(prompt);
  if (tokensAfter > contextTokens) throw tooLong(tokensAfter, contextTokens);
  if (shortened + dropped > 0) options.onTrimmed?.({ shortened, dropped, tokensBefore, tokensAfter });
}

interface Summarized {
  readonly compaction: Compaction;
  readonly prompt: LanguageModelV4Message[];
}

/** After a summary the chat has this share of the window, so that the next summary is far. */
const recentShare = 0.25;
/** What is summarized fills this share of the window; the rest is for instructions and the summary. */
const transcriptShare = 0.7;

/** Summarizes the oldest turns; `undefined` where there are none, or there is no summary. Rejects only when the run is stopped. */
async function summarizeOldest(
  prompt: Prompt,
  { fitted, tokensBefore, ...options }: FitOptions & { readonly fitted: Prompt; readonly tokensBefore: number },
): Promise<Summarized | undefined> {
  const { summarize, signal, tokensOf, scale, contextTokens } = options;
  const cut = cutOf(fitted, contextTokens * recentShare / scale);
  const first = fitted[cut];
  if (!summarize || !first) return undefined;
  const covered = prompt.slice(chatStart(prompt), prompt.indexOf(first)); // with outputs and all: the summary is made of them
  const through = covered.findLast((message) => originOf(message)?.kind !== 'context');
  const throughMessageId = through && originOf(through)?.id;
  const toSummarize = covered.filter((message) => !isPinned(message));
  if (throughMessageId === undefined || toSummarize.every(isSummary)) return undefined;
  const summary = await summarize(toSummarize, { mostTokens: contextTokens * transcriptShare / scale }).catch(
    (error: unknown) => {
      if (signal.aborted) throw error;
      return undefined; // its span has the error; the oldest turns are left out instead
    },
  );
  if (summary === undefined) return undefined;
  const messages = [
    ...fitted.slice(0, chatStart(fitted)),
    ...toPrompt('', [summaryMessage({ throughMessageId, summary })]),
    ...covered.filter(isPinned),
    ...fitted.slice(cut),
  ];
  const compaction = { throughMessageId, summary, tokensBefore, tokensAfter: tokensOf(messages) };
  return { compaction, prompt: messages };
}

/** Where the turns start that stay as they are: so many of the newest as fit, and the current one. */
function cutOf(prompt: Prompt, most: number): number {
  const current = currentTurn(prompt);
  const starts = new Set(turnStarts(prompt).slice(1));
  let [cut, size] = [current, 0];
  for (const [at, message] of [...prompt.entries()].toReversed()) {
    size += messageTokens(message);
    if (size > most) break;
    if (at < current && starts.has(at)) cut = at;
  }
  return cut;
}

/** Leaves out the oldest turns until the rest fits. Summaries, pinned messages and the current turn stay. */
function dropOldest(
  prompt: LanguageModelV4Message[],
  { tokensOf, scale, room }: Pick<FitOptions, 'tokensOf' | 'scale'> & { readonly room: number },
): LanguageModelV4Message[] {
  const isFixed = (message: LanguageModelV4Message): boolean => isPinned(message) || isSummary(message);
  let excess = tokensOf(prompt) - room;
  let dropped = 0;
  for (const end of turnStarts(prompt).slice(1)) {
    if (excess <= 0) break;
    for (const message of prompt.slice(dropped, end)) if (!isFixed(message)) excess -= messageTokens(message) * scale;
    dropped = end;
  }
  return dropped === 0 ? prompt : prompt.filter((message, at) => at >= dropped || isFixed(message));
}

function chunkOf(compaction: Compaction, { runId, citations = 0 }: FitOptions): UIMessageChunk {
  const data = { ...compaction, ...(citations > 0 && { citations }) };
  return { type: 'data-compaction', id: `${runId}:${data.throughMessageId}`, data };
}

function tooLong(tokens: number, contextTokens: number): PinnaceError {
  return new PinnaceError(
    'budget_exceeded',
    `Cannot call the model: the messages take about ${tokens} tokens, and the model takes ${contextTokens}. Send shorter messages, or start a new chat`,
    { details: { reason: 'context_window', tokens, contextTokens } },
  );
}

type Message = LanguageModelV4Message;

/** Returns the prompt as the strategy wants it. @throws PinnaceError `internal` with the reason `context_strategy`. */
async function applyStrategy(
  strategy: ContextStrategy,
  prompt: readonly Message[],
  { agentId, runId, signal, contextTokens, tokensOf }: FitOptions,
): Promise<readonly Message[]> {
  const start = chatStart(prompt);
  const messages = prompt.slice(start).map((message) => {
    const id = originOf(message)?.id;
    return { message, tokens: messageTokens(message), isPinned: isPinned(message), ...(id !== undefined && { id }) };
  });
  const state = { agentId, runId, messages, tokens: tokensOf(prompt), contextTokens, signal };
  const chosen = await callStrategy(strategy, state);
  if (!chosen) return prompt;
  requireComplete(chosen);
  return [...prompt.slice(0, start), ...chosen];
}

async function callStrategy(
  strategy: ContextStrategy,
  state: ContextState,
): Promise<readonly Message[] | undefined> {
  try {
    return await raceAbort(Promise.resolve(strategy(state)), state.signal);
  } catch (cause) {
    state.signal.throwIfAborted();
    throw failed('it failed', cause);
  }
}

/** Models refuse a call without its result, and a result without its call. */
function requireComplete(messages: readonly Message[]): void {
  const open = new Set<string>();
  for (const { role, content } of messages) {
    if (role === 'system') throw failed('it returned a system message');
    if (role === 'user' && open.size > 0) throw failed('it left out the result of a call');
    for (const part of typeof content === 'string' ? [] : content) {
      if (part.type === 'tool-call' && part.providerExecuted !== true) open.add(part.toolCallId);
      if (part.type !== 'tool-result' || role !== 'tool') continue;
      if (!open.delete(part.toolCallId)) throw failed('it left out the call of a result');
    }
  }
  if (open.size > 0) throw failed('it left out the result of a call');
}

function failed(why: string, cause?: unknown): PinnaceError {
  return new PinnaceError('internal', `Cannot fit the chat into the context window: ${why}`, {
    details: { reason: 'context_strategy' },
    cause,
  });
}

const leftOut = 'The output was left out to save space. Call the tool again if it is needed.';
/** Shorter outputs stay. */
const leastTokens = 64;

/**
 * Returns the prompt with all outputs and reasoning before the current turn shortened, and in that turn all outputs but the newest
 * `fullResults` messages of them. Reasoning of the current turn stays: reasoning models need it back.
 */
function shorten(prompt: readonly Message[], { fullResults }: { readonly fullResults: number }): Message[] {
  const current = currentTurn(prompt);
  const results = prompt.flatMap(({ role }, at) => role === 'tool' ? [at] : []);
  const newest = Math.max(current, results.at(-fullResults) ?? 0);
  return prompt.flatMap((message, at) => {
    if (isPinned(message)) return [message];
    if (message.role === 'tool') return [at < newest ? withoutOutputs(message) : message];
    return message.role === 'assistant' && at < current ? withoutReasoning(message) : [message];
  });
}

function withoutOutputs(message: Extract<Message, { role: 'tool' }>): Message {
  const content = message.content.map((part) => part.type === 'tool-result' ? withoutOutput(part) : part);
  if (content.every((part, at) => part === message.content[at])) return message;
  return withOrigin({ ...message, content }, originOf(message));
}

function withoutOutput(part: LanguageModelV4ToolResultPart): LanguageModelV4ToolResultPart {
  if (outputTokens(part.output) < leastTokens) return part;
  return { ...part, output: { type: 'text', value: leftOut } };
}

function withoutReasoning(message: Extract<Message, { role: 'assistant' }>): readonly Message[] {
  const content = message.content.filter(({ type }) => type !== 'reasoning' && type !== 'reasoning-file');
  if (content.length === message.content.length) return [message];
  return content.length === 0 ? [] : [withOrigin({ ...message, content }, originOf(message))];
}
