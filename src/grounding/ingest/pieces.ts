/** Cuts text into pieces that are small enough to be found and shown, where it has a natural end. */

import { PinnaceError } from '../../base/errors.ts';
import type { Turns } from '../../base/turns.ts';

export interface Piece {
  readonly text: string;
  /** The headings above it. */
  readonly title?: string;
  readonly lines?: readonly [from: number, to: number];
  /** Fields that filters can read. */
  readonly metadata?: Readonly<Record<string, unknown>>;
}

export interface ReadOptions {
  readonly length: number;
  readonly turns: Turns;
  readonly budget: TextBudget;
}

export interface NumberedLine {
  readonly text: string;
  readonly number: number;
}

/** Lines of a text, whatever ends them. */
export function numberedLines(text: string): NumberedLine[] {
  return text.split(/\r\n|\r|\n/).map((line, at) => ({ text: line, number: at + 1 }));
}

/**
 * Puts whole lines together until they have about `length` characters, and ends a piece at an empty line where there is one in
 * its second half. A line that is longer is cut at a sentence, a word, or at last anywhere.
 */
export function piecesOf(
  lines: readonly NumberedLine[],
  { length, title }: { readonly length: number; readonly title?: string },
): Piece[] {
  const pieces: Piece[] = [];
  let [text, size, from, to] = ['', 0, 0, 0];
  const close = (): void => {
    const trimmed = text.trim();
    if (trimmed !== '') pieces.push({ text: trimmed, ...(title !== undefined && { title }), lines: [from, to] });
    [text, size, from, to] = ['', 0, 0, 0];
  };
  const add = (part: string, number: number): void => {
    const isEmpty = part.trim() === '';
    if (size + part.length > length || (isEmpty && size > length / 2)) close();
    text += size === 0 ? part : `\n${part}`;
    size += part.length + 1;
    if (isEmpty) return;
    from ||= number;
    to = number;
  };
  for (const line of lines) {
    let rest = line.text;
    while (rest.length > length) {
      const end = cutAt(rest, length);
      add(rest.slice(0, end), line.number);
      rest = rest.slice(end);
    }
    add(rest, line.number);
  }
  close();
  return pieces;
}

function cutAt(text: string, length: number): number {
  const head = text.slice(0, length);
  const sentence = Math.max(
    head.lastIndexOf('. '),
    head.lastIndexOf('。'),
    head.lastIndexOf('! '),
    head.lastIndexOf('? '),
  );
  if (sentence > length / 2) return sentence + 1;
  const space = head.lastIndexOf(' ');
  if (space > length / 2) return space + 1;
  const code = text.charCodeAt(length);
  return code >= 0xdc00 && code <= 0xdfff ? length - 1 : length; // no half of a surrogate pair
}

/** The most text of one file, in UTF-16 code units. */
export const mostText = 16_777_216;

/** What is left for the text of one file. Every reader takes from it before it makes text. */
export class TextBudget {
  /** What is being read, for the error. */
  part = 'it';
  readonly #most: number;
  #left: number;

  constructor(most: number = mostText) {
    this.#most = most;
    this.#left = most;
  }

  /** @throws PinnaceError `invalid_argument` with the reason `text_too_long` when more is taken than there is. */
  take(characters: number): void {
    this.require(characters);
    this.#left -= characters;
  }

  /** Throws as {@link take} does, and takes nothing: before text is made that is taken later. */
  require(characters: number): void {
    if (characters <= this.#left) return;
    const most = this.#most.toLocaleString('en');
    throw new PinnaceError(
      'invalid_argument',
      `Cannot read the file: with ${this.part}, its text is longer than ${most} characters; split the file`,
      { details: { reason: 'text_too_long', part: this.part } },
    );
  }
}
