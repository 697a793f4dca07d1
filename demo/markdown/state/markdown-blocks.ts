/** Reads Markdown into blocks, line by line and in linear time. What models write; not every corner of CommonMark. */

import { readList } from './markdown-list.ts';
import { readMath } from './markdown-math.ts';
import { fence, heading, isBlank, quote, rule, startsBlock } from './markdown-starts.ts';
import { readTable } from './markdown-table.ts';
import type { Block, Located } from './markdown-types.ts';

/** How deep quotes and lists are read; deeper ones are text. */
const maxDepth = 12;

export function readBlocks(lines: readonly string[], depth = 0): Block[] {
  return locateBlocks(lines, depth).map(({ block }) => block);
}

/** Reads all blocks, each with its first line. */
export function locateBlocks(lines: readonly string[], depth = 0): { readonly block: Block; readonly line: number }[] {
  const blocks: { block: Block; line: number }[] = [];
  for (let i = 0; i < lines.length;) {
    if (isBlank(lines[i])) {
      i++;
      continue;
    }
    const { block, next } = readBlock(lines, i, depth);
    blocks.push({ block, line: i });
    i = next;
  }
  return blocks;
}

function readBlock(lines: readonly string[], i: number, depth: number): Located {
  const simple = readFence(lines, i) ?? readMath(lines, i) ?? readHeading(lines, i) ?? readRule(lines, i);
  if (simple) return simple;
  if (depth < maxDepth) {
    const nested = readQuote(lines, i, depth) ?? readList(lines, i, (inner) => readBlocks(inner, depth + 1));
    if (nested) return nested;
  }
  return readTable(lines, i) ?? readParagraph(lines, i);
}

function readFence(lines: readonly string[], i: number): Located | undefined {
  const [, mark = '', info = ''] = fence.exec(lines[i] ?? '') ?? [];
  if (mark === '') return undefined;
  let last = i + 1;
  while (last < lines.length && !closesFence(lines[last] ?? '', mark)) last++;
  const language = info.trim().split(/\s/, 1)[0] ?? '';
  const text = lines.slice(i + 1, last).join('\n');
  return { block: { type: 'code', language, text, closed: last < lines.length }, next: last + 1 };
}

function closesFence(line: string, mark: string): boolean {
  const text = line.trim();
  return text.startsWith(mark) && text === mark.charAt(0).repeat(text.length);
}

function readHeading(lines: readonly string[], i: number): Located | undefined {
  const line = lines[i] ?? '';
  const marks = heading.exec(line);
  if (!marks) return undefined;
  const text = withoutClosingMarks(line.slice(marks[0].length).trim());
  return { block: { type: 'heading', level: marks[1]?.length ?? 1, text }, next: i + 1 };
}

function withoutClosingMarks(text: string): string {
  let end = text.length;
  while (end > 0 && text.charAt(end - 1) === '#') end--;
  return end === 0 || text.charAt(end - 1) === ' ' ? text.slice(0, end).trim() : text;
}

function readRule(lines: readonly string[], i: number): Located | undefined {
  return rule.test(lines[i] ?? '') ? { block: { type: 'rule' }, next: i + 1 } : undefined;
}

function readQuote(lines: readonly string[], i: number, depth: number): Located | undefined {
  if (!quote.test(lines[i] ?? '')) return undefined;
  const inner: string[] = [];
  let next = i;
  for (; next < lines.length; next++) {
    const line = lines[next] ?? '';
    const isLazy = !isBlank(line) && !isBlank(inner.at(-1)) && !startsBlock(lines, next);
    if (!quote.test(line) && !isLazy) break;
    inner.push(line.replace(quote, ''));
  }
  return { block: { type: 'quote', blocks: readBlocks(inner, depth + 1) }, next };
}

function readParagraph(lines: readonly string[], i: number): Located {
  let next = i + 1;
  while (next < lines.length && !isBlank(lines[next]) && !startsBlock(lines, next)) next++;
  const text = lines.slice(i, next).map((line) => line.trimStart()).join('\n').trimEnd();
  return { block: { type: 'paragraph', text }, next };
}
