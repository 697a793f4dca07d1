/** How Markdown blocks start. */

import { mathStart } from './markdown-math.ts';
import { isTable } from './markdown-table.ts';

/** Whether a line ends the paragraph before it. */
export function startsBlock(lines: readonly string[], i: number): boolean {
  const line = lines[i] ?? '';
  return fence.test(line) || heading.test(line) || rule.test(line) || quote.test(line) || interruptingItem.test(line) ||
    mathStart.test(line) || isTable(lines, i);
}

/** Whether there is nothing on the line. */
export function isBlank(line: string | undefined): boolean {
  return line === undefined || line.trim() === '';
}

/** An opening fence: its marks, and what is said about the language. */
export const fence = /^ {0,3}(`{3,}|~{3,})([^`]*)$/;
export const heading = /^ {0,3}(#{1,6})(?=[ \t]|$)/;
/** A line across. */
export const rule = /^ {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*$/;
export const quote = /^ {0,3}> ?/;
const interruptingItem = /^ {0,3}(?:[-*+]|1[.)])[ \t]+\S/;
