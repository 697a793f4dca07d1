/** Formulas in TeX: `\(…\)` and `$…$` in a line, `\[…\]` and `$$…$$` as blocks. */

import type { Located } from './markdown-types.ts';

/** How a block of a formula starts. */
export const mathStart = /^ {0,3}(\$\$|\\\[)/;

/** The longest formula within a line, in UTF-16 code units: what is not closed within is text. */
const longest = 600;

/** The longest formula of a block, in lines: else every line that opens one would be read to the end of the text. */
const mostLines = 100;

/** Reads the block that starts on this line. One that a blank line interrupts, that is too long or not closed yet, is none. */
export function readMath(lines: readonly string[], i: number): Located | undefined {
  const [start = '', mark] = mathStart.exec(lines[i] ?? '') ?? [];
  if (mark === undefined) return undefined;
  const end = mark === '$$' ? '$$' : '\\]';
  for (let next = i; next < Math.min(lines.length, i + mostLines); next++) {
    const line = next === i ? (lines[i] ?? '').slice(start.length) : lines[next] ?? '';
    if (next > i && line.trim() === '') return undefined;
    const at = line.indexOf(end);
    if (at === -1) continue;
    if (line.slice(at + end.length).trim() !== '') return undefined;
    const inner = [(lines[i] ?? '').slice(start.length), ...lines.slice(i + 1, next + 1)];
    inner[inner.length - 1] = line.slice(0, at);
    return { block: { type: 'math', text: inner.join('\n').trim() }, next: next + 1 };
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
