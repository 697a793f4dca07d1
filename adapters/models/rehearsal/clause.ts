/** A piece of the user's message whose values are taken out one by one, so that no value fills two properties. */

/** Replaces each character of a quoted phrase while patterns are matched. */
export const quoted = '\uE001';
/** Replaces each character of a JSON object or array while patterns are matched. */
export const bracketed = '\uE002';
const taken = '\uE000';

/** A text from which values are taken. */
export interface Clause {
  readonly text: string;
  /** The text with quoted phrases and JSON as {@link quoted} and {@link bracketed}, and without what was taken. */
  open(): string;
  /** Takes what the pattern matches in the open text and returns its first group; quotes around it are dropped. */
  take(pattern: RegExp): string | undefined;
  /** What is left, with one space where something was taken. */
  rest(): string;
}

/** Creates a clause of a text. */
export function clauseOf(text: string): Clause {
  const masked = mask(text);
  let open = masked;
  return {
    text,
    open: () => open,
    take(pattern) {
      const flags = pattern.flags.includes('d') ? pattern.flags : `${pattern.flags}d`;
      const found = new RegExp(pattern.source, flags).exec(open);
      if (!found?.indices) return undefined;
      const [whole, group] = found.indices;
      if (!whole) return undefined;
      const [from, to] = group ?? whole;
      open = open.slice(0, whole[0]) + taken.repeat(whole[1] - whole[0]) + open.slice(whole[1]);
      return unquote(text.slice(from, to));
    },
    rest: () => restOf(text, open),
  };
}

function restOf(text: string, open: string): string {
  let rest = '';
  for (let i = 0; i < text.length; i++) rest += open[i] === taken ? taken : text[i];
  return rest.replace(new RegExp(`${taken}+`, 'g'), ' ').replace(/\s+/g, ' ').trim();
}

/** Replaces quoted phrases and JSON by marks of the same length. */
export function mask(text: string): string {
  const quotes = /"[^"\n]*"|“[^”\n]*”|«[^»\n]*»|`[^`\n]+`|(?<=^|[\s(:=,[])'[^'\n]+'(?=$|[\s).,;:!?\]])/gu;
  const plain = text.replaceAll(/[\uE000-\uE002]/g, ' ');
  const withoutJson = plain.replace(/[{[][\s\S]*[}\]]/g, (span) => maskJson(span));
  return withoutJson.replace(quotes, (span) => span.includes(bracketed) ? span : quoted.repeat(span.length));
}

/** Marks each balanced bracket of the span. */
function maskJson(span: string): string {
  let masked = '';
  for (let at = 0; at < span.length;) {
    const end = '{['.includes(span.charAt(at)) ? endOfJson(span, at) : undefined;
    masked += end === undefined ? span.charAt(at) : bracketed.repeat(end - at);
    at = end ?? at + 1;
  }
  return masked;
}

/** Returns where the bracket that opens at `from` is closed; `undefined` when it never is. */
export function endOfJson(text: string, from: number): number | undefined {
  let depth = 0;
  let inText = false;
  for (let i = from; i < text.length; i++) {
    const character = text[i];
    if (inText && character === '\\') i++;
    else if (character === '"') inText = !inText;
    else if (!inText && (character === '{' || character === '[')) depth++;
    else if (!inText && (character === '}' || character === ']') && --depth === 0) return i + 1;
  }
  return undefined;
}

/** Returns a text without the quotes around it. */
export function unquote(text: string): string {
  const trimmed = text.trim();
  const inner = /^(?:"(.*)"|“(.*)”|«(.*)»|`(.*)`|'(.*)')$/su.exec(trimmed);
  return inner ? inner.slice(1).find((group) => group !== undefined) ?? '' : trimmed;
}

/** Returns the value of a JSON text, or `undefined`. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
