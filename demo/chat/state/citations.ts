/** The sources that answers cite by their numbers, which go on through a chat. */

import { untracked } from '@preact/signals';
import type { CitedSource } from './run-data.ts';
import { answerText, type AssistantMessage, type Message } from './message.ts';

/** The sources by their numbers, of an answer and of those before it; where two share one, the later counts. */
export function citable(messages: readonly Message[], answer: AssistantMessage): ReadonlyMap<number, CitedSource> {
  const last = messages.at(-1);
  const end = answer === last ? messages.length : messages.indexOf(answer);
  const earlier = settledWithSources(messages).filter(({ place }) => place < end);
  return new Map(
    [...earlier.map(({ message }) => message), answer].flatMap(sourcesIn).map((source) => [source.n, source]),
  );
}

interface Settled {
  readonly place: number;
  readonly message: AssistantMessage;
}

const settled = new WeakMap<readonly Message[], readonly Settled[]>();

/** The sources of all messages but the last, which no longer change; a long chat is scanned once. */
function settledWithSources(messages: readonly Message[]): readonly Settled[] {
  const known = settled.get(messages) ??
    messages.slice(0, -1).flatMap((message, place) =>
      message.role === 'assistant' && message.parts.peek().some(({ type }) => type === 'citations')
        ? [{ place, message }]
        : []
    );
  settled.set(messages, known);
  return known;
}

/** The sources that the calls of an answer returned, by number. */
export function sourcesIn(message: Message): readonly CitedSource[] {
  if (message.role === 'user') return [];
  const all = message.parts.value.flatMap((part) => part.type === 'citations' ? part.sources : []);
  return [...new Map(all.map((source) => [source.n, source])).values()].toSorted((a, b) => a.n - b.n);
}

/** The numbers that a text cites, as in `[1]` or `[1, 3]`. */
export function numbersCited(text: string): ReadonlySet<number> {
  const found = text.matchAll(new RegExp(citation, 'g'));
  return new Set([...found].flatMap(([, numbers]) => numbersOf(numbers ?? '')));
}

/**
 * The numbers by which people see the sources of an answer: from 1 in each, in the order in which it cites them. Those that it does not
 * cite follow.
 */
export function shownNumbers(message: AssistantMessage): ReadonlyMap<number, number> {
  return untracked(() => { // what draws a number need not be drawn with each word
    const text = answerText(message);
    const before = numbered.get(message);
    if (before?.text === text && before.parts === message.parts.value) return before.numbers;
    const all = new Set([...numbersCited(text), ...sourcesIn(message).map(({ n }) => n)]);
    const numbers = new Map([...all].map((n, at) => [n, at + 1]));
    numbered.set(message, { text, parts: message.parts.value, numbers });
    return numbers;
  });
}

const numbered = new WeakMap<
  AssistantMessage,
  { readonly text: string; readonly parts: unknown; readonly numbers: ReadonlyMap<number, number> }
>();

/** Numbers in brackets, that are no link's text. */
export const citation = /\[(\d{1,5}(?:[,;] ?\d{1,5}){0,9})\](?!\()/;

/** The numbers of one citation. */
export function numbersOf(numbers: string): number[] {
  return numbers.split(/[,;] ?/).map(Number);
}
