/** What the marks of inline Markdown look like. */

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: '\u00a0' };

/** Reads a named character at this place. */
export function readEntity(
  text: string,
  at: number,
): { readonly character: string; readonly length: number } | undefined {
  const [all = '', name = ''] = /^&([a-z]{2,4});/.exec(text.slice(at, at + 6)) ?? [];
  const character = Object.hasOwn(entities, name) ? entities[name] : undefined;
  return character === undefined ? undefined : { character, length: all.length };
}

/** How often the character here is repeated. */
export function runLength(text: string, at: number): number {
  const character = text.charAt(at);
  let end = at + 1;
  while (text.charAt(end) === character) end++;
  return end - at;
}

/** Finds a run of exactly this many backticks at or after an index; -1 if none. */
export type TickFinder = (from: number, length: number) => number;

/** Creates a finder that looks for each length at most once in vain. */
export function createTickFinder(text: string): TickFinder {
  const unclosed = new Set<number>();
  return (from, length) => {
    if (unclosed.has(length)) return -1;
    for (let at = text.indexOf('`', from); at !== -1; at = text.indexOf('`', at)) {
      const run = runLength(text, at);
      if (run === length) return at;
      at += run;
    }
    unclosed.add(length);
    return -1;
  };
}

/** Whether a run of marks can open or close, by the characters around it. `_` never does inside a word. */
export function flanks(
  text: string,
  at: number,
  length: number,
): { readonly opens: boolean; readonly closes: boolean } {
  const before = text.charAt(at - 1);
  const after = text.charAt(at + length);
  const [spaceBefore, spaceAfter] = [before.trim() === '', after.trim() === ''];
  const inWord = text.charAt(at) === '_';
  return {
    opens: !spaceAfter && !(inWord && isWord(before)),
    closes: !spaceBefore && !(inWord && isWord(after)),
  };
}

function isWord(character: string): boolean {
  return /[\p{L}\p{N}]/u.test(character);
}
