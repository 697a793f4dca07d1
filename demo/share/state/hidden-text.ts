/** Takes the characters out of a text that hide text from people or reorder it. */

/**
 * Controls, overrides and isolates of the writing direction, tags, and characters without width. Those that scripts and emoji need
 * stay, at most two in a row: a longer run is a message that only a model reads.
 */
const concealing =
  /(?![\t\n])\p{Cc}|[\u202a-\u202e\u2061-\u206f\u00ad\u115f\u1160\u3164\uffa0\ufff9-\ufffb\u200b\u2060\ufeff\u{e0000}-\u{e0fff}]|(?<=\p{Default_Ignorable_Code_Point}{2})\p{Default_Ignorable_Code_Point}/gu;

/** A text, and how many characters were removed. */
export interface ShownText {
  readonly text: string;
  readonly hidden: number;
}

/** Returns what a person sees of the text. */
export function withoutHidden(given: string): ShownText {
  let hidden = 0;
  const text = given.toWellFormed().replaceAll(concealing, () => {
    hidden++;
    return '';
  });
  return { text, hidden };
}
