/** Reads a Markdown document, also a growing one, of which only the end is parsed again. */

import type { Token } from 'markdown-it';
import { numbersOf } from '../../chat/state/citations.ts';
import { safeHref } from './markdown-links.ts';
import { maxDepth, tokensOf } from './markdown-parser.ts';
import type { Block, Cell, Inline, ListBlock, ListItem, TableBlock } from './markdown-types.ts';

/** The address that a link leads to, or nothing: then its text is left. */
type HrefOf = (target: string) => string | undefined;

/** Reads a growing text. Blocks that can no longer change are the same objects as the time before. */
export interface MarkdownReader {
  read(text: string): readonly Block[];
}

/** A block, and where it starts, in characters. */
interface Placed {
  readonly block: Block;
  readonly start: number;
}

/** Addresses that other places of the text name: then a change at its end changes what is before. */
const definition = /^ {0,3}\[[^\]\n]{1,999}\]:/m;

/** Creates a reader with nothing read yet. */
export function createMarkdownReader(): MarkdownReader {
  let before = '';
  let placed: readonly Placed[] = [];
  return {
    read(text) {
      // The last block may still grow, and the line that ended the one before it may still become something else.
      const stored = text.startsWith(before) && !definition.test(text) ? placed.slice(0, -2) : [];
      const from = stored.length === 0 ? 0 : placed[stored.length]?.start ?? 0;
      placed = [...stored, ...place(text.slice(from), from)];
      before = text;
      return placed.map(({ block }) => block);
    },
  };
}

/** Reads a whole text. Without `hrefOf`, links lead to safe addresses alone. */
export function readMarkdown(text: string, hrefOf: HrefOf = safeHref): readonly Block[] {
  return place(text, 0, hrefOf).map(({ block }) => block);
}

function place(text: string, offset: number, hrefOf: HrefOf = safeHref): readonly Placed[] {
  const raw = text.split('\n');
  let start = offset;
  const starts = raw.map((line) => (start += line.length + 1) - line.length - 1);
  const lines = raw.map((line) => line.replace(/\r$/, '').replaceAll('\r', ' '));
  return new TokenReader(tokensOf(lines), lines, hrefOf).blocks().map(({ block, line }) => ({
    block,
    start: starts[line] ?? offset,
  }));
}

/** Makes blocks of tokens, from the first to the last. */
class TokenReader {
  readonly #tokens: readonly Token[];
  readonly #lines: readonly string[];
  readonly #hrefOf: HrefOf;
  #at = 0;

  constructor(tokens: readonly Token[], lines: readonly string[], hrefOf: HrefOf) {
    this.#tokens = tokens;
    this.#lines = lines;
    this.#hrefOf = hrefOf;
  }

  /** Reads until a token of this type, or all. */
  blocks(end?: string): { readonly block: Block; readonly line: number }[] {
    const blocks: { block: Block; line: number }[] = [];
    for (let token = this.#next(); token && token.type !== end; token = this.#next()) {
      const block = this.#block(token);
      if (block) blocks.push({ block, line: token.map?.[0] ?? 0 });
    }
    return blocks;
  }

  #next(): Token | undefined {
    return this.#tokens[this.#at++];
  }

  #inner(end: string): readonly Block[] {
    return this.blocks(end).map(({ block }) => block);
  }

  #block(token: Token): Block | undefined {
    switch (token.type) {
      case 'paragraph_open':
        return { type: 'paragraph', children: this.#text() };
      case 'heading_open':
        return { type: 'heading', level: Number(token.tag.slice(1)), children: this.#text() };
      case 'fence':
        return this.#code(token);
      case 'math_block':
        return { type: 'math', text: token.content };
      case 'blockquote_open':
        return { type: 'quote', blocks: this.#inner('blockquote_close') };
      case 'bullet_list_open':
      case 'ordered_list_open':
        return this.#list(token);
      case 'table_open':
        return this.#table();
      case 'hr':
        return { type: 'rule' };
      default:
        return undefined;
    }
  }

  /** The text between a token that opens and the one that closes. */
  #text(): Cell {
    const { content = '', children } = this.#next() ?? {};
    this.#at++;
    return children && children.length > 0 ? inlinesOf(children, this.#hrefOf) : content === '' ? [] : [content];
  }

  #code({ info, content, map, markup }: Token): Block {
    const [language = ''] = info.trim().split(/\s/, 1);
    const [first = 0, next = 0] = map ?? [];
    const closed = next - first > 1 && (this.#lines[next - 1] ?? '').trimEnd().endsWith(markup);
    return { type: 'code', language, text: content.replace(/\n$/, ''), closed };
  }

  #list(open: Token): ListBlock {
    const start = open.type === 'ordered_list_open' ? Number(open.attrGet('start') ?? 1) : undefined;
    let tight = true;
    const items: ListItem[] = [];
    while (this.#next()?.type === 'list_item_open') {
      const [from] = [this.#at];
      const blocks = this.#inner('list_item_close');
      tight &&= this.#tokens.slice(from, this.#at).every(({ type, level, hidden }) =>
        type !== 'paragraph_open' || hidden || level !== open.level + 2
      );
      items.push(toItem(blocks));
    }
    return { type: 'list', start, tight, items };
  }

  #table(): TableBlock {
    const rows: Cell[][] = [];
    const align: TableBlock['align'][number][] = [];
    for (let token = this.#next(); token && token.type !== 'table_close'; token = this.#next()) {
      if (token.type === 'tr_open') rows.push([]);
      if (token.type !== 'th_open' && token.type !== 'td_open') continue;
      const [, side] = /text-align:(left|center|right)/.exec(String(token.attrGet('style'))) ?? [];
      if (token.type === 'th_open') align.push(side as TableBlock['align'][number]); // as the expression says
      rows.at(-1)?.push(this.#text());
    }
    const [head = [], ...body] = rows;
    return { type: 'table', align, head, rows: body };
  }
}

/** A task begins with a box. */
function toItem(blocks: readonly Block[]): ListItem {
  const [first, ...rest] = blocks;
  const [text, ...others] = first?.type === 'paragraph' ? first.children : [];
  const [box, mark = ''] = typeof text === 'string' ? /^\[([ xX])\]\s/.exec(text) ?? [] : [];
  if (box === undefined || typeof text !== 'string') return { checked: undefined, blocks };
  const children = [text.slice(box.length), ...others];
  return { checked: mark !== ' ', blocks: [{ type: 'paragraph', children }, ...rest] };
}

const marks = { strong: 'strong', em: 'em', s: 'del' } as const;

interface Frame {
  readonly children: Inline[];
  /** Makes the node of what it holds; absent where its mark is text, or its link leads nowhere. */
  readonly close?: (children: readonly Inline[]) => Inline;
}

function inlinesOf(tokens: readonly Token[], hrefOf: HrefOf): readonly Inline[] {
  const frames: [Frame, ...Frame[]] = [{ children: [] }];
  const put = (node: Inline): void => {
    const { children } = frames.at(-1) ?? frames[0];
    const last = children.at(-1);
    if (typeof node === 'string' && typeof last === 'string') children[children.length - 1] = last + node;
    else if (node !== '') children.push(node);
  };
  const open = (close: Frame['close']): void => {
    const isDeep = frames.length > maxDepth;
    frames.push(close && !isDeep ? { children: [], close } : { children: (frames.at(-1) ?? frames[0]).children });
  };
  for (const token of tokens) {
    const [kind = '', side] = token.type.split('_');
    if (side === 'close') {
      const { children, close } = frames.length > 1 ? frames.pop()! : frames[0]; // safe: there is one more than the first
      if (close) put(close(children));
    } else if (side === 'open' && Object.hasOwn(marks, kind)) {
      const type = marks[kind as keyof typeof marks]; // just looked at
      open((children) => ({ type, children }));
    } else if (side === 'open') {
      const href = hrefOf(String(token.attrGet('href')));
      open(href === undefined ? undefined : (children) => ({ type: 'link', href, children }));
    } else for (const node of leavesOf(token, hrefOf)) put(node);
  }
  return frames[0].children;
}

function leavesOf(token: Token, hrefOf: HrefOf): readonly Inline[] {
  switch (token.type) {
    case 'code_inline':
      return [{ type: 'code', text: token.content }];
    case 'softbreak':
      return ['\n'];
    case 'hardbreak':
      return [{ type: 'break' }];
    case 'math':
      return [{ type: 'math', text: token.content, isBlock: token.info === 'block' }];
    case 'citation':
      return [{ type: 'citation', numbers: numbersOf(token.info), text: token.content }];
    case 'image': {
      const children = inlinesOf(token.children ?? [], hrefOf);
      const href = hrefOf(String(token.attrGet('src')));
      return href === undefined ? children : [{ type: 'link', href, isImage: true, children }];
    }
    default:
      return [token.content];
  }
}
