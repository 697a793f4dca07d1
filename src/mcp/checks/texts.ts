/** Rules for all texts of a definition. */

import { type Remark, warning } from './finding.ts';
import { textsOf } from './strings.ts';
import { checkCharacters, checkWords, type KnownTools } from './text.ts';

const longText = 8192;

/** What is wrong with the texts in a value. */
export function checkTexts(value: unknown, tools: KnownTools, path = ''): readonly Remark[] {
  return textsOf(value, path).flatMap(({ text, path: place, isWords }) => {
    const isLong = text.length > longText && place !== '/description';
    return [
      ...(isLong ? [warning('text_length', `is longer than ${longText} characters: read to its end`, place)] : []),
      ...checkCharacters(text, place),
      ...(isWords ? checkWords(text, place, tools) : []),
    ];
  });
}
