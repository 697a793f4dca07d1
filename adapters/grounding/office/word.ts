/** Reads the text of a Word document (ISO/IEC 29500-1, WordprocessingML): headings, paragraphs, lists, tables and notes. */

import { loadOnce } from '../../../src/base/load-once.ts';
import { createCells, isTablePart } from './cells.ts';
import type { Markdown } from './markdown.ts';
import type { OfficePackage } from './package.ts';
import type { Attributes, XmlHandler } from './xml.ts';

/** Shown a second time elsewhere, or removed by a tracked change. */
const unread = new Set(['moveFrom', 'instrText', 'delText', 'rt']); // `rt` says how its base is read

/** What the styles of paragraphs say, by their ids. */
interface Styles {
  readonly levels: ReadonlyMap<string, number>;
  readonly items: ReadonlySet<string>;
}

/** A document within the document, and the place of its text. */
interface Chunk {
  readonly id: string;
  readonly fill: (text: string) => void;
}

/** Writes the document at the path, then its footnotes and endnotes, and the texts of its diagrams. */
export async function readWord(office: OfficePackage, markdown: Markdown, path: string): Promise<void> {
  markdown.budget.part = 'the text';
  const { byId, pathOf } = await office.relationsOf(path);
  const styles = await readStyles(office, pathOf('styles', 'word/styles.xml'));
  const chunks: Chunk[] = [];
  await office.read(path, textHandler(styles, markdown, chunks));
  for (const { id, fill } of chunks) {
    const chunk = byId.get(id)?.path ?? '';
    markdown.budget.part = `"${chunk}"`;
    fill(await (await loadChunk()).chunkText(office, chunk, markdown));
  }
  for (const part of ['footnotes', 'endnotes']) {
    markdown.budget.part = `the ${part}`;
    await office.read(pathOf(part, `word/${part}.xml`), textHandler(styles, markdown, []));
  }
  for (const { type, path: diagram } of byId.values()) {
    if (type === 'diagramData') await office.read(diagram, textHandler(styles, markdown, []));
  }
}

const loadChunk = /* @__PURE__ */ loadOnce(() => import('./chunk.ts'));

/** Headings are known by names and outline levels that do not depend on the language of the program. */
async function readStyles(office: OfficePackage, path: string): Promise<Styles> {
  const levels = new Map<string, number>();
  const items = new Set<string>();
  let style = '';
  await office.read(path, {
    open(name, attributes) {
      if (name === 'style') style = attributes['w:styleId'] ?? '';
      const value = attributes['w:val'] ?? '';
      const named = /^heading ([1-6])$/i.exec(value)?.[1] ?? (/^title$/i.test(value) ? '1' : undefined);
      if (name === 'name' && named) levels.set(style, Number(named));
      else if (name === 'outlineLvl' && !levels.has(style) && Number(value) < 6) levels.set(style, Number(value) + 1);
      else if (name === 'numId' && value !== '0') items.add(style);
    },
  });
  return { levels, items };
}

interface Paragraph {
  text: string;
  level: number | undefined;
  isItem: boolean;
  /** Goes on with the next paragraph: its large first letter, or what stands before a mark that was deleted. */
  isInitial?: boolean;
}

function textHandler(styles: Styles, markdown: Markdown, chunks: Chunk[]): XmlHandler {
  const paragraphs: Paragraph[] = [];
  const cells = createCells(markdown);
  let isText = false;
  /** Whether what is said is about the paragraph and its mark, and about no text of it. */
  let isOfParagraph = false;
  let isHidden = false;
  let unreadDepth = 0;
  let initial = '';
  const openRead = (name: string, attributes: Attributes): void => {
    const current = paragraphs.at(-1);
    if (name === 'p') paragraphs.push({ text: '', level: undefined, isItem: false });
    else if (isTablePart(name)) cells.open(name);
    else if (name === 't') isText = true;
    else if (name === 'pPr') isOfParagraph = true;
    else if (name === 'r') isHidden = false;
    else if (name === 'vanish') isHidden ||= !isOfParagraph && !/^(?:0|false|off)$/.test(attributes['w:val'] ?? '');
    else if (name === 'del' && isOfParagraph && current) current.isInitial = true;
    else if (name === 'altChunk') chunks.push({ id: attributes['r:id'] ?? '', fill: markdown.place() });
    else if (current) describe(current, { name, attributes, styles });
  };
  const closeParagraph = (): void => {
    const paragraph = paragraphs.pop();
    if (!paragraph) return;
    paragraph.text = initial + paragraph.text;
    initial = paragraph.isInitial ? paragraph.text : '';
    if (!paragraph.isInitial) write(paragraph, cells.isOpen() ? cells : markdown);
  };
  return {
    open(name, attributes) {
      if (unreadDepth > 0 || unread.has(name)) unreadDepth++;
      else openRead(name, attributes);
    },
    close(name) {
      if (unreadDepth > 0) unreadDepth--;
      else if (name === 't') isText = false;
      else if (name === 'pPr') isOfParagraph = false;
      else if (name === 'p') closeParagraph();
      else if (isTablePart(name)) cells.close(name);
    },
    text(text) {
      const current = paragraphs.at(-1);
      if (isText && !isHidden && current && unreadDepth === 0) current.text += text;
    },
  };
}

/** Notes what an element says of the paragraph that it is in. A tab stop has a position, and is no tab. */
function describe(
  paragraph: Paragraph,
  { name, attributes, styles }: { name: string; attributes: Attributes; styles: Styles },
): void {
  const value = attributes['w:val'] ?? '';
  if (name === 'pStyle') {
    paragraph.level = styles.levels.get(value);
    paragraph.isItem ||= styles.items.has(value);
  } else if (name === 'outlineLvl') paragraph.level ??= Number(value) < 6 ? Number(value) + 1 : undefined;
  else if (name === 'numId') paragraph.isItem = value !== '0';
  else if (name === 'tab' && attributes['w:pos'] === undefined) paragraph.text += '\t';
  else if (name === 'br' || name === 'cr') paragraph.text += '\n';
  else if (name === 'framePr') paragraph.isInitial = /^(?:drop|margin)$/.test(attributes['w:dropCap'] ?? '');
  else if (name === 'noBreakHyphen') paragraph.text += '-';
  else if (name === 'docPr' && attributes['descr']) paragraph.text += ` ${attributes['descr']} `; // what a picture shows
}

function write({ text, level, isItem }: Paragraph, out: Pick<Markdown, 'heading' | 'item' | 'paragraph'>): void {
  if (level !== undefined) out.heading(level, text);
  else if (isItem) out.item(text);
  else out.paragraph(text);
}
