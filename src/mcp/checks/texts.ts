/** Rules for all texts of a definition. */

import { error, type Remark } from './finding.ts';
import { type PlacedText, textsOf } from './strings.ts';
import { checkCharacters, checkWords } from './text.ts';

const maxText = 8192;

/** What is wrong with the texts in a value. `others` are the names of tools from elsewhere. */
export function checkTexts(value: unknown, others: ReadonlySet<string>, path = ''): readonly Remark[] {
  return textsOf(value, path).flatMap((placed) => {
    if (placed.text.length > maxText) {
      return [error('text_length', `must be at most ${maxText} characters`, placed.path)];
    }
    const characters = checkCharacters(placed.text, placed.path);
    if (!placed.isWords) return characters;
    return [...characters, ...checkWords(placed.text, placed.path), ...checkMentions(placed, others)];
  });
}

/** Everyday words are no evidence of a name. */
function checkMentions(
  { text, path }: PlacedText,
  others: ReadonlySet<string>,
): readonly Remark[] {
  const words = text.match(/[A-Za-z0-9_-]+/g) ?? [];
  return words.some((word) => others.has(word) && /[_-]|[a-z][A-Z]/.test(word))
    ? [error('other_tool', 'names a tool from elsewhere', path)]
    : [];
}
