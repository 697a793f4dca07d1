/** How many tokens a message takes, about. */

import type { Tool } from '../tools/tool.ts';
import { charactersPerToken, toolTokens } from '../base/text.ts';
import type { LanguageModelV4FilePart, LanguageModelV4Message, LanguageModelV4ToolResultPart } from '@ai-sdk/provider';
import { type AppliedCompaction, type MessageOrigin, originOf } from './message-parts.ts';
import type { ContextStrategy } from '../contracts/context-strategy.ts';

const tokensOfImage = 1_500;
/** Any other file counts as an image for each piece of this length, such as a page of a PDF. */
const bytesOfImage = 65_536;
const lengthOfRole = 28;
const lengthOfResult = 70;

const known = new WeakMap<LanguageModelV4Message, number>();

/** Estimates a message once: the length of its JSON, and a fixed count for an image. A message is not changed after that. */
export function messageTokens(message: LanguageModelV4Message): number {
  let tokens = known.get(message);
  if (tokens === undefined) {
    const { content } = message;
    const length = typeof content === 'string' ? lengthOf(content) : sumOf(content, partLength);
    tokens = Math.ceil((length + lengthOfRole) / charactersPerToken);
    known.set(message, tokens);
  }
  return tokens;
}

/** The sum over messages. */
export function promptTokens(messages: readonly LanguageModelV4Message[]): number {
  let sum = 0;
  for (const message of messages) sum += messageTokens(message);
  return sum;
}

/** The same for any JSON. */
export function valueTokens(value: unknown): number {
  return Math.ceil(lengthOf(value) / charactersPerToken);
}

type Output = LanguageModelV4ToolResultPart['output'];

const lengthOfOutput = new WeakMap<Output, number>();

/** The same for the output of a tool. */
export function outputTokens(output: Output): number {
  return Math.ceil(outputLength(output) / charactersPerToken);
}

function outputLength(output: Output): number {
  let length = lengthOfOutput.get(output);
  if (length === undefined) {
    length = output.type === 'content'
      ? sumOf(output.value, (item) => item.type === 'file' ? fileLength(item) : lengthOf(item))
      : lengthOf(output);
    lengthOfOutput.set(output, length);
  }
  return length;
}

type Part = Exclude<LanguageModelV4Message['content'], string>[number];

function partLength(part: Part): number {
  if (part.type === 'file' || part.type === 'reasoning-file') return fileLength(part);
  if (part.type !== 'tool-result') return lengthOf(part);
  return outputLength(part.output) + part.toolCallId.length + part.toolName.length + lengthOfResult;
}

/** The length of JSON, without escapes: no text is written for it. */
function lengthOf(value: unknown): number {
  if (typeof value === 'string') return textLength(value);
  if (typeof value !== 'object' || value === null) return 6;
  if (Array.isArray(value)) return 2 + sumOf(value, lengthOf);
  let length = 2;
  for (const name of Object.keys(value)) length += name.length + 4 + lengthOf((value as Record<string, unknown>)[name]); // JSON
  return length;
}

function sumOf<Item>(items: readonly Item[], measure: (item: Item) => number): number {
  let sum = 0;
  for (const item of items) sum += measure(item) + 1;
  return sum;
}

/** Behind this come scripts in which about every character is a token. */
const firstWide = 0x2e80;
const samples = 16;

/** The length of a text in the measure of Latin letters, by samples of it. */
function textLength(text: string): number {
  const { length } = text;
  const step = Math.ceil(length / samples);
  let wide = 0;
  let looked = 0;
  for (let at = 0; at < length; at += step) {
    looked++;
    if (text.charCodeAt(at) >= firstWide) wide++;
  }
  return 2 + length + (wide === 0 ? 0 : length * (wide / looked) * (charactersPerToken - 1));
}

/** About how many tokens a text takes. */
export function textTokens(text: string): number {
  return Math.ceil(textLength(text) / charactersPerToken);
}

/** About how many tokens a file takes. */
export function fileTokens(file: Pick<LanguageModelV4FilePart, 'mediaType' | 'data'>): number {
  return Math.ceil(fileLength(file) / charactersPerToken);
}

function fileLength({ mediaType, data }: Pick<LanguageModelV4FilePart, 'mediaType' | 'data'>): number {
  const bytes = bytesOf(data);
  if (mediaType.startsWith('text/')) return bytes;
  const pieces = mediaType.startsWith('image') ? 1 : Math.ceil(bytes / bytesOfImage);
  return tokensOfImage * charactersPerToken * pieces;
}

function bytesOf(data: LanguageModelV4FilePart['data']): number {
  if (data.type === 'text') return data.text.length;
  if (data.type !== 'data') return bytesOfImage;
  return typeof data.data === 'string' ? data.data.length * 0.75 : data.data.length;
}

type Prompt = readonly LanguageModelV4Message[];

/** Where each turn starts. Messages before the first belong to none: instructions, a summary, a greeting. */
export function turnStarts(prompt: Prompt): readonly number[] {
  return prompt.flatMap((message, at) => {
    if (originOf(message)?.kind !== 'user') return [];
    return [kindAt(prompt, at - 1) === 'context' ? at - 1 : at]; // the context of a request goes with its last message
  });
}

/** Where the chat starts, behind the instructions. */
export function chatStart(prompt: Prompt): number {
  return prompt[0]?.role === 'system' ? 1 : 0;
}

/** Where the turn starts that the run answers. */
export function currentTurn(prompt: Prompt): number {
  return turnStarts(prompt).at(-1) ?? chatStart(prompt);
}

/** Whether a message must stay as it is. */
export function isPinned(message: LanguageModelV4Message): boolean {
  return message.role === 'system' || originOf(message)?.isPinned === true;
}

/** Whether a message is the summary of earlier ones. */
export function isSummary(message: LanguageModelV4Message): boolean {
  return originOf(message)?.kind === 'summary';
}

function kindAt(prompt: Prompt, at: number): MessageOrigin['kind'] | undefined {
  const message = prompt[at];
  return message && originOf(message)?.kind;
}

/** The context window of a model of which neither its provider's record nor the agent's says more. */
export const defaultContextTokens = 128_000;

/** How many tokens a prompt may have: the rest of the window is for the answer, and for what the estimate misses. */
export function roomOf(contextTokens: number): number {
  return contextTokens * 0.8;
}

/** What a context window is made of. */
export interface ContextWindowOptions {
  readonly contextTokens: number;
  /** About how many tokens the definitions of the next step's tools take. */
  readonly toolTokens: () => number;
  readonly strategy: ContextStrategy | undefined;
  readonly agentId: string;
  readonly runId: string;
  readonly signal: AbortSignal;
  /** The highest number of a source that the chat has cited. */
  readonly citations?: number;
  /** Summarizes messages as a step of the run; absent where there is none. */
  readonly summarize?: Summarize;
  /** The message of the answer. */
  readonly messageId?: string;
  /** The compaction that the chat has. */
  readonly applied?: AppliedCompaction | undefined;
  /** Is called with what was done. */
  readonly onApplied?: (compaction: AppliedCompaction) => void;
  /** The names of the tools that the chat has loaded. */
  readonly loaded?: () => readonly string[] | undefined;
  /** Is called when messages were replaced, and by what. */
  readonly onReplaced?: (by: 'strategy' | 'compaction') => void;
  /** Is called when messages were shortened or left out. */
  readonly onTrimmed?: (facts: Trimmed) => void;
}

/**
 * Returns the summary of these messages, of which `mostTokens` fit into one call; rejects when the model returns none. `undefined` when
 * the run has no step left for it.
 */
type Summarize = (
  messages: readonly LanguageModelV4Message[],
  options: { readonly mostTokens: number },
) => Promise<string | undefined>;

/**
 * Replaces messages of the prompt until it fits a window of so many tokens, without a model. It stays as it is when it cannot fit.
 *
 * @throws PinnaceError `budget_exceeded` with the reason `context_window`.
 */
export type FitPrompt = (prompt: LanguageModelV4Message[], contextTokens: number) => Promise<void>;

/** How much was trimmed without a model. */
interface Trimmed extends Readonly<Record<string, number>> {
  /** Messages whose tool outputs or reasoning were left out. */
  readonly shortened: number;
  /** Messages that were left out. */
  readonly dropped: number;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
}

/** What a prompt is fitted with. */
export interface FitOptions extends ContextWindowOptions {
  /** About how many tokens a call with these messages has. */
  readonly tokensOf: (messages: readonly LanguageModelV4Message[]) => number;
  /** How many tokens one of an estimate is, as the model has counted. */
  readonly scale: number;
}

const ofTool = new WeakMap<Tool, number>();
const ofTools = new WeakMap<readonly Tool[], number>();

/** About how many tokens these definitions take in one step, as name, description and input schema in JSON. */
export function definitionTokens(tools: readonly Tool[]): number {
  const counted = ofTools.get(tools) ?? tools.reduce((sum, tool) => sum + tokensOf(tool), 0);
  ofTools.set(tools, counted);
  return counted;
}

function tokensOf(tool: Tool): number {
  const { name, description, paramsSchema } = tool.definition;
  const counted = ofTool.get(tool) ?? toolTokens(name, description, paramsSchema);
  ofTool.set(tool, counted);
  return counted;
}
