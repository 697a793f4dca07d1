/** Shows text from a model to a person: whatever is invisible, moves other text or looks like a space is written as its code. */

/** Controls, format characters (bidi, tags, joiners), separators, spaces, unassigned and private ones, halves of surrogate pairs. */
const hidden = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Zs}\p{Co}\p{Cn}\p{Cs}\p{Default_Ignorable_Code_Point}\u2800]/gu;

/** A mark that would be drawn over a quote or a space, and more marks on one letter than a script needs. */
const stray = /(?<=^|["\s])\p{M}|(?<=\p{M}{4})\p{M}/gu;

/** Returns the text on one line, with `\uXXXX` for invisible characters. JSON text stays the same JSON. */
export function visible(text: string): string {
  return text.replace(hidden, (found) => found === ' ' ? found : escape(found)).replace(stray, escape);
}

/** The same for text of several lines, which keeps its line breaks. */
export function visibleLines(text: string): string {
  return text.split('\n').map(visible).join('\n');
}

function escape(found: string): string {
  let escaped = '';
  for (let at = 0; at < found.length; at++) escaped += `\\u${found.charCodeAt(at).toString(16).padStart(4, '0')}`;
  return escaped;
}
