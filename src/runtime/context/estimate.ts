/** How many tokens a message takes, about. */

import { charactersPerToken } from '../../base/estimate-tokens.ts';
import type { LanguageModelV4FilePart, LanguageModelV4Message, LanguageModelV4ToolResultPart } from '@ai-sdk/provider';

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
