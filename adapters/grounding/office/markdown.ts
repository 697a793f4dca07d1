/** Writes what a file says as Markdown, which `ingest` cuts at headings. */

import type { TextBudget } from '../../../src/grounding/ingest/pieces.ts';

/** A part of a file whose content is not in its text, such as a page that is a picture. */
export interface SkippedPart {
  /** Such as `page 3` or `2 pictures`. */
  readonly part: string;
  /** Why, in words. */
  readonly reason: string;
}

/** A document that is being written. Empty texts are left out. Takes what it writes from the budget. */
export interface Markdown {
  readonly budget: TextBudget;
  /** `level`: 1 to 6; others are moved into this range. */
  readonly heading: (level: number, text: string) => void;
  readonly paragraph: (text: string) => void;
  readonly item: (text: string) => void;
  readonly row: (cells: readonly string[]) => void;
  /** Keeps a place for what is read later. */
  readonly place: () => (text: string) => void;
  readonly text: () => string;
}

export function createMarkdown(budget: TextBudget): Markdown {
  const blocks: (string | { text: string })[] = [];
  let last = '';
  const separate = (kind: string): void => {
    if (blocks.length > 0) blocks.push(kind === last && (kind === 'item' || kind === 'row') ? '\n' : '\n\n');
    last = kind;
  };
  const add = (kind: string, text: string): void => {
    budget.take(text.length);
    separate(kind);
    blocks.push(text);
  };
  return {
    budget,
    heading(level, text) {
      const line = oneLine(text);
      if (line !== '') add('heading', `${'#'.repeat(Math.min(6, Math.max(1, level)))} ${line}`);
    },
    paragraph(text) {
      const lines = linesOf(text);
      if (lines !== '') add('paragraph', lines);
    },
    item(text) {
      const line = oneLine(text);
      if (line !== '') add('item', `- ${line}`);
    },
    row(cells) {
      budget.require(cells.reduce((sum, cell) => sum + cell.length + 3, 0));
      const texts = cells.map(oneLine);
      if (texts.some((text) => text !== '')) add('row', `| ${texts.join(' | ')} |`);
    },
    place() {
      separate('place');
      const block = { text: '' };
      blocks.push(block);
      return (text) => {
        budget.take(text.length);
        block.text += `${block.text === '' ? '' : '\n\n'}${linesOf(text)}`;
      };
    },
    text: () => blocks.map((block) => typeof block === 'string' ? block : block.text).join('').trim(),
  };
}

function linesOf(text: string): string {
  return text.replaceAll('\u00a0', ' ').split('\n').map((line) => escape(line.trim())).join('\n').trim();
}

/** Text is no heading and no fence of code, whatever it starts with. */
function escape(line: string): string {
  return /^(?:#{1,6}[ \t]|`{3}|~{3})/.test(line) ? `\\${line}` : line;
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
