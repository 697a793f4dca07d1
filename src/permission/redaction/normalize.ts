/** Removes what the search for secrets ignores: letter case and invisible characters. */

/** Format characters (soft hyphen, zero-width, bidirectional, tags) and all else that is drawn as nothing, variation selectors too. */
const invisible = /[\p{Cf}\p{Default_Ignorable_Code_Point}]+/gu;
const ascii = /^[\0-\x7f]*$/;
/** Everything outside of ASCII that has another case. */
const cased = /[^\P{Changes_When_Casemapped}\0-\x7f]/gu;

/** Returns the text in one letter case, with every code unit at its index. */
export function foldCase(text: string): string {
  if (ascii.test(text)) return text.toLowerCase();
  return text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase()).replaceAll(cased, foldCharacter);
}

/** By way of the upper case: `ς` and `σ` are both `Σ`. A case of another length would move what follows. */
function foldCharacter(character: string): string {
  const upper = character.toUpperCase();
  const base = upper.length === character.length ? upper : character;
  const lower = base.toLowerCase();
  return lower.length === character.length ? lower : character;
}

/** Invisible characters that stood before the code unit at an index of the visible text. */
export interface Invisible {
  readonly at: number;
  readonly text: string;
}

/** A text without its invisible characters, and these. */
export interface Visible {
  readonly text: string;
  readonly hidden: readonly Invisible[];
}

/** Separates the invisible characters of a text from the others. */
export function separateInvisible(text: string): Visible {
  if (ascii.test(text)) return { text, hidden: [] };
  const hidden: Invisible[] = [];
  let removed = 0;
  const visible = text.replaceAll(invisible, (run, index: number) => {
    hidden.push({ at: index - removed, text: run });
    removed += run.length;
    return '';
  });
  return { text: visible, hidden };
}
