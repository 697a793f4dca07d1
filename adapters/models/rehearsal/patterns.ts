/** Patterns of texts that can be values. */

import type { Shape } from './shape.ts';

/** A name that only a program would create, or a path: it contains a digit, an underscore, a hyphen, a dot or a slash between letters. */
export const identifier = '(?<![\\p{L}\\d_/.])(?:(?:\\.{1,2}|~|[\\w.-]+)?(?:/[\\w.-]*\\w)+(?![\\w/])|' +
  '(?=[A-Za-z]*(?:[\\d_-]|\\.[A-Za-z]))[A-Za-z][\\w.-]*\\w(?![\\w/]))';

/** A name in capitals. */
export const capitalised =
  "\\p{Lu}[\\p{L}\\p{M}\\d’'-]*(?:[ ](?:(?:de|da|do|del|la|of|the|van|von)[ ])?\\p{Lu}[\\p{L}\\p{M}\\d’'-]*)*";

/** Words that end a phrase. */
export const stops =
  'in|at|for|from|to|on|under|by|with|and|or|near|about|into|until|as|using|via|please|then|is|are|per';

/** Up to six words that a preposition or a punctuation mark ends. */
export const phrase = `(?:(?!(?:${stops})\\b)[^\\s,;:!?\\uE000-\\uE002]+(?<![.!?])(?:[ ]|(?=[.,;:!?]|$))){1,6}`;

/** Returns the text as the shape allows it: shortened, in capitals or in small letters; `undefined` when none of these fits. */
export function conform(value: string | undefined, { pattern, maxLength, kind }: Shape): string | undefined {
  if (value === undefined || (kind !== 'string' && kind !== 'any')) return undefined;
  const text = value.trim().slice(0, maxLength);
  if (text === '') return undefined;
  return pattern ? [text, text.toUpperCase(), text.toLowerCase()].find((form) => pattern.test(form)) : text;
}

/** A text as a pattern that matches it and nothing else. Runtimes of 2024 have no `RegExp.escape`. */
export function escapeRegExp(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);
}

/** A pattern of plain words that matches them in small letters and in capitals, whatever the flags of the whole. */
export function anyCase(pattern: string): string {
  return pattern.replaceAll(/\p{L}/gu, (letter) => {
    const [small, large] = [letter.toLowerCase(), letter.toUpperCase()];
    return small === large || large.length > letter.length ? letter : `[${small}${large}]`;
  });
}
