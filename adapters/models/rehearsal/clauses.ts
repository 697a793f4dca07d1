/** Splits a message into requests. */

import { mask } from './clause.ts';
import { numberOf } from './fill/fill-number.ts';

/** Longer messages are texts to work on, not lists of things to do. */
const maxLength = 4000;

/** Returns the stages of a message. A stage after "then" waits for the stage before it. */
export function stagesOf(message: string): readonly string[] {
  if (message.length > maxLength) return [message];
  const marks = /(?:^|[\s,;.]+)(?:and\s+)?(?:then|after\s+that|afterwards|finally)(?:,)?\s+/giu;
  return cut(message, marks).map(({ text }) => text);
}

/** Returns the parts of a stage that may each be a request, with the text that joins each to the previous one. */
export function partsOf(stage: string): readonly { readonly text: string; readonly joint: string }[] {
  return cut(
    stage,
    /\s*[;\n]+\s*|(?<=[.?!])\s+(?=\p{Lu})|\s*,\s+(?:and\s+|also\s+)*|\s+(?:and|also|&)\s+(?:also\s+)?/giu,
  );
}

/** Cuts at the marks, but never within a quoted phrase or JSON. */
function cut(text: string, marks: RegExp): readonly { readonly text: string; readonly joint: string }[] {
  const parts: { text: string; joint: string }[] = [];
  let from = 0;
  let joint = '';
  for (const found of mask(text).matchAll(marks)) {
    parts.push({ text: text.slice(from, found.index), joint });
    from = found.index + found[0].length;
    joint = text.slice(found.index, from);
  }
  parts.push({ text: text.slice(from), joint });
  return parts.filter((part) => part.text.trim() !== '');
}

const timesPattern =
  /[\s,]*(?<![\p{L}\d_])(?:twice|(\d{1,3}|two|three|four|five|six|seven|eight|nine|ten)\s+times)(?=\s*(?:[.!?;,]|$|with\b|in\s+parallel))/iu;

/** Returns how often a part requests the same call, at most 100 times, and the part without these words. */
export function repeatsOf(part: string): { readonly text: string; readonly times: number } {
  const found = timesPattern.exec(mask(part));
  if (!found) return { text: part, times: 1 };
  const times = found[1] === undefined ? 2 : numberOf(found[1]);
  const text = part.slice(0, found.index) + part.slice(found.index + found[0].length);
  return { text: text.replace(/\s+in\s+parallel/iu, ''), times: Math.min(100, Math.max(1, times)) };
}
