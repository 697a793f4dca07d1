/** Words of source code: whole identifiers, and the words inside them. */

const identifier = /[\p{L}\p{N}_$]+/gu;
const part = /\p{Lu}+(?=\p{Lu}\p{Ll})|\p{Lu}?\p{Ll}+|\p{Lu}+|\p{N}+|[\p{L}]+/gu;

/** Returns the identifiers of a text in small letters, each with its parts: `parseHTMLNode2` is also parse, html, node, 2. */
export function identifierTokens(text: string): string[] {
  const tokens: string[] = [];
  for (const [found] of text.matchAll(identifier)) {
    if (found.length > 200) continue; // data in a minified line, not a name
    tokens.push(found.toLowerCase());
    const parts = found.match(part) ?? [];
    if (parts.length > 1) { for (const word of parts) tokens.push(word.toLowerCase()); }
  }
  return tokens;
}
