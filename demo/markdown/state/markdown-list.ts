/** Reads Markdown lists, a little more leniently than CommonMark: two columns of indentation make a nested list. */

import { isBlank, startsBlock } from './markdown-starts.ts';
import type { Block, ListBlock, ListItem, Located } from './markdown-types.ts';

/** Reads the blocks inside an item. */
type ReadInner = (lines: readonly string[]) => Block[];

interface Marker {
  /** Items of one list have the same: the bullet, or the sign after the number. */
  readonly kind: string;
  readonly number: number | undefined;
  readonly indent: number;
  /** Where the item's own text starts. */
  readonly content: number;
}

interface RawItem {
  readonly lines: string[];
  readonly next: number;
  readonly loose: boolean;
}

/** Reads the list that starts on line `i`, if any. */
export function readList(
  lines: readonly string[],
  i: number,
  readInner: ReadInner,
): Located<ListBlock> | undefined {
  const first = markerOf(lines[i]);
  if (!first || first.indent > 3) return undefined;
  const items: ListItem[] = [];
  let tight = true;
  let next = i;
  for (let marker: Marker | undefined = first; isSibling(marker, first);) {
    const item = readItem(lines, { at: next, marker });
    const isLast = !isSibling(markerOf(lines[item.next]), first);
    tight &&= !(item.loose && !(isLast && isOneBlock(item.lines)));
    items.push(toItem(item.lines, readInner));
    next = item.next;
    marker = markerOf(lines[next]);
  }
  return { block: { type: 'list', start: first.number, tight, items }, next };
}

function isSibling(marker: Marker | undefined, first: Marker): marker is Marker {
  return marker !== undefined && marker.kind === first.kind && marker.indent < first.content;
}

/** Blank lines after the last item part nothing. */
function isOneBlock(lines: readonly string[]): boolean {
  return !lines.slice(0, lines.findLastIndex((line) => !isBlank(line))).some((line) => isBlank(line));
}

function markerOf(line: string | undefined): Marker | undefined {
  const [all, indent = '', sign = '', space = ''] = /^( *)([-*+]|\d{1,9}[.)])(?:([ \t]+)|$)/.exec(line ?? '') ?? [];
  if (all === undefined) return undefined;
  const isBullet = sign.length === 1;
  const gap = space.length > 4 || space === '' ? 1 : space.length;
  return {
    kind: isBullet ? sign : sign.slice(-1),
    number: isBullet ? undefined : Number(sign.slice(0, -1)),
    indent: indent.length,
    content: indent.length + sign.length + gap,
  };
}

function readItem(lines: readonly string[], { at, marker }: { at: number; marker: Marker }): RawItem {
  const own = [(lines[at] ?? '').slice(marker.content)];
  let strip = marker.content;
  let next = at + 1;
  for (; next < lines.length; next++) {
    const line = lines[next] ?? '';
    if (isBlank(line)) {
      own.push('');
      continue;
    }
    if (!belongsTo(marker, { lines, next, afterBlank: own.length > 1 && own.at(-1) === '' })) break;
    const indent = indentOf(line);
    if (markerOf(line)) strip = Math.min(strip, indent);
    own.push(line.slice(Math.min(indent, strip)));
  }
  return { lines: own, next, loose: own.slice(1).includes('') };
}

function belongsTo(
  marker: Marker,
  { lines, next, afterBlank }: { lines: readonly string[]; next: number; afterBlank: boolean },
): boolean {
  const indent = indentOf(lines[next] ?? '');
  if (indent >= marker.content) return true;
  if (markerOf(lines[next])) return indent >= marker.indent + 2;
  return !afterBlank && !startsBlock(lines, next);
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}

function toItem(lines: readonly string[], readInner: ReadInner): ListItem {
  const task = /^\[([ xX])\] /.exec(lines[0] ?? '');
  const own = task ? [(lines[0] ?? '').slice(4), ...lines.slice(1)] : lines;
  return { checked: task ? task[1] !== ' ' : undefined, blocks: readInner(own) };
}
