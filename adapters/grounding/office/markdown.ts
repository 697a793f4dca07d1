/** Writes what an office file says as Markdown, which `ingest` cuts at headings. */

/** A document that is being written. Empty texts are left out. */
export interface Markdown {
  /** `level`: 1 to 6; others are moved into this range. */
  readonly heading: (level: number, text: string) => void;
  readonly paragraph: (text: string) => void;
  readonly item: (text: string) => void;
  readonly row: (cells: readonly string[]) => void;
  readonly text: () => string;
}

/** Creates an empty document. */
export function createMarkdown(): Markdown {
  const blocks: string[] = [];
  let last = '';
  const add = (kind: string, text: string): void => {
    if (blocks.length > 0) blocks.push(kind === last && (kind === 'item' || kind === 'row') ? '\n' : '\n\n');
    blocks.push(text);
    last = kind;
  };
  return {
    heading(level, text) {
      const line = oneLine(text);
      if (line !== '') add('heading', `${'#'.repeat(Math.min(6, Math.max(1, level)))} ${line}`);
    },
    paragraph(text) {
      const lines = text.replaceAll('\u00a0', ' ').split('\n').map((line) => escape(line.trim()));
      if (lines.some((line) => line !== '')) add('paragraph', lines.join('\n').trim());
    },
    item(text) {
      const line = oneLine(text);
      if (line !== '') add('item', `- ${line}`);
    },
    row(cells) {
      const texts = cells.map(oneLine);
      if (texts.some((text) => text !== '')) add('row', `| ${texts.join(' | ')} |`);
    },
    text: () => blocks.join(''),
  };
}

/** Text is no heading and no fence of code, whatever it starts with. */
function escape(line: string): string {
  return /^(?:#{1,6}[ \t]|`{3}|~{3})/.test(line) ? `\\${line}` : line;
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
