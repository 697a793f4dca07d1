/** Reads the text of a page with htmlparser2, without a document: nothing in it runs or loads. */

import { Parser } from 'htmlparser2';
import { PinnaceError } from '../../base/errors.ts';
import { numberedLines, type Piece, piecesOf, type ReadOptions, TextBudget } from './pieces.ts';
import type { Turns } from '../../base/turns.ts';

/** Returns the pieces, under the title of the page. */
export async function readHtml(html: string, { length, turns, budget }: ReadOptions): Promise<Piece[]> {
  const { title, text } = await htmlText(html, { turns, budget });
  return piecesOf(numberedLines(text), { length, ...(title !== '' && { title }) })
    .map(({ lines: _, ...piece }) => piece);
}

/** A page as text: one line for each row of a table, and an empty line between paragraphs. */
export interface HtmlText {
  readonly title: string;
  readonly text: string;
}

/** Read between two turns. */
const chunkLength = 16_384;

/** Returns the title and the text of a page. @throws PinnaceError `invalid_argument` for one of more than 10,000 levels. */
export async function htmlText(
  html: string,
  { turns, budget = new TextBudget() }: { readonly turns: Turns; readonly budget?: TextBudget },
): Promise<HtmlText> {
  const page = new PageText(budget);
  // An end that is implied is one too: `</p>` by the next `<p>`, all by the end of the file.
  const parser = new Parser({
    onopentagname: (name) => page.open(name),
    onattribute: (name, value) => page.attribute(name, value),
    onclosetag: (name) => page.close(name),
    ontext: (text) => page.add(text),
  }, { recognizeSelfClosing: /^\s*<\?xml/.test(html) });
  for (let at = 0; at < html.length; at += chunkLength) {
    parser.write(html.slice(at, at + chunkLength));
    await turns.next();
  }
  parser.end();
  return page.result();
}

/** Elements whose content is no text of the page. */
const unread = new Set(
  'script style template noscript svg math iframe object title rt rp rtc'.split(' '), // `rt` says how its base is read
);
/** Elements that end what is unread around them: a page that never closes its `<svg>` still has a text. */
const ends = new Set(['body', 'p', 'div', 'table', 'ul', 'ol', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'pre']);
const foreign = new Set(['svg', 'math']);
const paragraphs = new Set(
  ('address article aside blockquote dd div dl fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr main nav ol ' +
    'p pre section table ul').split(' '),
);
const lines = new Set('br button caption dt dd input legend li option select summary textarea tr'.split(' '));
const cells = new Set(['td', 'th']);
/** A space of preformatted text, until all others are counted. No text has it. */
const keptSpace = '\u0001';
const mostLevels = 10_000;
const longestTitle = 500;

class PageText {
  readonly #budget: TextBudget;
  readonly #parts: string[] = [];
  #title = '';
  #hasTitle = false;
  #levels = 0;
  /** Of the outermost element that is not read, and how many elements are open in it. */
  #unread: { readonly name: string; depth: number } | undefined;
  /** How many cells are open: a paragraph in a cell does not end the row. */
  #cells = 0;
  /** Whether the row that is open has a cell. */
  #isInRow = false;
  /** The element that was opened last. */
  #tag = '';
  /** How many `pre` are open: their lines and spaces stay. */
  #plain = 0;
  /** Ends of lines that are written before what comes next. */
  #lineEnds = 0;

  constructor(budget: TextBudget) {
    this.#budget = budget;
  }

  open(name: string): void {
    if (++this.#levels > mostLevels) throw tooDeep();
    this.#tag = name;
    if (this.#unread && foreign.has(this.#unread.name) && ends.has(name)) this.#unread = undefined;
    if (this.#unread) {
      this.#unread.depth++;
      return;
    }
    if (name === 'pre') this.#plain++;
    if (unread.has(name)) this.#unread = { name, depth: 1 };
    else if (cells.has(name)) this.#openCell();
    else this.#break(name);
  }

  /** What a picture shows is a text of the page. */
  attribute(name: string, value: string): void {
    if (name === 'alt' && this.#tag === 'img' && !this.#unread && value.trim() !== '') this.add(` ${value} `);
  }

  close(name: string): void {
    this.#levels--;
    this.#tag = '';
    if (this.#unread) {
      if (--this.#unread.depth > 0) return;
      if (name === 'title') this.#hasTitle = true;
      this.#unread = undefined;
      return;
    }
    if (name === 'pre') this.#plain--;
    if (cells.has(name)) this.#cells = Math.max(0, this.#cells - 1);
    else if (name !== 'br') this.#break(name);
  }

  add(text: string): void {
    if (this.#unread?.name === 'title' && !this.#hasTitle) this.#title += text.slice(0, longestTitle);
    const isFormula = this.#unread?.name === 'math' && this.#tag === 'annotation'; // as TeX
    if (this.#unread && !isFormula) return;
    this.#budget.take(text.length);
    const words = this.#plain > 0 ? text.replace(/\r\n?/g, '\n').replaceAll(' ', keptSpace) : text.replace(/\s+/g, ' ');
    if (words.trim() !== '') this.#endLines();
    this.#parts.push(isFormula ? ` ${words} ` : words);
  }

  result(): HtmlText {
    if (this.#isInRow) this.#parts.push(' |');
    const text = this.#parts.join('').replace(/ {2,}/g, ' ').replace(/ ?\n ?/g, '\n').replaceAll(keptSpace, ' ');
    return { title: this.#title.replace(/\s+/g, ' ').trim().slice(0, longestTitle).toWellFormed(), text };
  }

  /** Cells stand beside each other, between marks. */
  #openCell(): void {
    if (this.#cells++ > 0) {
      this.#parts.push(' ');
      return;
    }
    if (!this.#isInRow) this.#lineEnds = Math.max(1, this.#lineEnds);
    this.#endLines();
    this.#parts.push(this.#isInRow ? ' | ' : '| ');
    this.#isInRow = true;
  }

  #break(name: string): void {
    const isLine = lines.has(name);
    if (!isLine && !paragraphs.has(name)) return;
    if (this.#cells > 0) {
      this.#parts.push(' ');
      return;
    }
    if (this.#isInRow) this.#parts.push(' |');
    this.#isInRow = false;
    this.#lineEnds = name === 'br' ? Math.min(2, this.#lineEnds + 1) : Math.max(isLine ? 1 : 2, this.#lineEnds);
  }

  #endLines(): void {
    if (this.#lineEnds > 0) this.#parts.push('\n'.repeat(this.#lineEnds));
    this.#lineEnds = 0;
  }
}

function tooDeep(): PinnaceError {
  return new PinnaceError('invalid_argument', 'Cannot read the page: its elements are more than 10,000 levels deep', {
    details: { reason: 'invalid_document' },
  });
}
