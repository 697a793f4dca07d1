/** A text to look for, and how to look for it fast: by its rarest letter on, for a common one would be found everywhere. */

/** A text to look for. */
export interface Needle {
  readonly text: string;
  /** The text from its rarest letter on, and the number of letters before it. */
  readonly tail: string;
  readonly offset: number;
}

/** The most frequent characters of names, the most frequent first; what is not here is rarer. */
const frequent = ' eatoinsrhldcu01mpg23fbyw45v6789k-x.jqz';

/** Makes a text ready to be looked for. It must not be empty. */
export function needleOf(text: string): Needle {
  let [offset, rarest] = [0, -1];
  for (let i = 0; i < text.length; i++) {
    const place = frequent.indexOf(text.charAt(i));
    const rarity = place < 0 ? frequent.length : place;
    if (rarity > rarest) [offset, rarest] = [i, rarity];
  }
  return { text, tail: text.slice(offset), offset };
}

/** Where the needle starts in the text, not before `from`; -1: nowhere. */
export function findNeedle(text: string, { text: whole, tail, offset }: Needle, from = 0): number {
  let at = text.indexOf(tail, from + offset);
  while (at >= 0 && !text.startsWith(whole, at - offset)) at = text.indexOf(tail, at + 1);
  return at < 0 ? -1 : at - offset;
}
