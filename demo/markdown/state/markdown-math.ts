/** Formulas in TeX: `\(…\)` and `$…$` in a line, `\[…\]` and `$$…$$` as blocks. */

/** How a block of a formula starts. */
export const mathStart = /^ {0,3}(\$\$|\\\[)/;

/** The longest formula within a line, in UTF-16 code units: what is not closed within is text. */
const longest = 600;

/** The longest formula of a block, in lines: else every line that opens one would be read to the end of the text. */
const mostLines = 100;

/** Reads the block that starts on this line. One that a blank line interrupts, that is too long or not closed yet, is none. */
export function readMath(
  lineAt: (line: number) => string | undefined,
  first: number,
): { readonly text: string; readonly next: number } | undefined {
  const [start = '', mark] = mathStart.exec(lineAt(first) ?? '') ?? [];
  const end = mark === '$$' ? '$$' : '\\]';
  const inner: string[] = [];
  for (let i = first; i < first + mostLines; i++) {
    const line = i === first ? lineAt(i)?.slice(start.length) : lineAt(i);
    if (line === undefined || (i > first && line.trim() === '')) return undefined;
    const at = line.indexOf(end);
    inner.push(at === -1 ? line : line.slice(0, at));
    if (at === -1) continue;
    return line.slice(at + end.length).trim() === '' ? { text: inner.join('\n').trim(), next: i + 1 } : undefined;
  }
  return undefined;
}

/** Reads a formula within a line. Amounts of money are none: `$` closes behind no space, and before no digit. */
export function readInlineMath(
  text: string,
  at: number,
): { readonly text: string; readonly isBlock: boolean; readonly length: number } | undefined {
  const mark = text.startsWith('$$', at)
    ? '$$'
    : text.startsWith('\\(', at)
    ? '\\('
    : text.startsWith('\\[', at)
    ? '\\['
    : '$';
  const end = mark === '\\(' ? '\\)' : mark === '\\[' ? '\\]' : mark;
  const rest = text.slice(at + mark.length, at + mark.length + longest);
  if (mark === '$' && !/^[^\s$]/.test(rest)) return undefined;
  const found = mark === '$' ? rest.search(/(?<=[^\s\\])\$(?!\d)/) : rest.indexOf(end);
  const inner = rest.slice(0, Math.max(0, found)).trim();
  if (inner === '' || (mark === '$' && inner.includes('\n\n'))) return undefined;
  return { text: inner, isBlock: mark === '$$' || mark === '\\[', length: mark.length + found + end.length };
}
