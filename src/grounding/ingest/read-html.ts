/** Reads the text of a page, without a document: nothing in it runs, loads or is believed. */

import { numberedLines, type Piece, piecesOf } from './pieces.ts';

/** Elements whose content is no text of the page. */
const unread = new Set(['script', 'style', 'template', 'noscript', 'svg', 'head', 'iframe', 'object']);
const blocks = new Set(
  'address article aside blockquote br dd div dl dt fieldset figure footer form h1 h2 h3 h4 h5 h6 header hr li main nav ol p pre section table td th tr ul'
    .split(' '),
);
const named: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  copy: '©',
  hellip: '…',
  mdash: '—',
  ndash: '–',
  euro: '€',
};

/** Returns the pieces, under the title of the page. */
export function readHtml(html: string, { length }: { readonly length: number }): Piece[] {
  const title = titleOf(html);
  const text = decode(textOf(html)).replace(/[ \t\f\v]+/g, ' ').replace(/ ?\n ?/g, '\n').replace(/\n{3,}/g, '\n\n');
  return piecesOf(numberedLines(text), { length, ...(title !== '' && { title }) }).map(({ lines: _, ...piece }) =>
    piece
  );
}

function titleOf(html: string): string {
  const start = html.search(/<title[\s>]/i);
  if (start < 0) return '';
  const from = html.indexOf('>', start) + 1;
  const to = html.indexOf('<', from);
  return from === 0 || to < 0 ? '' : decode(html.slice(from, to)).replace(/\s+/g, ' ').trim().slice(0, 500);
}

/** Goes through the page once; what is not closed goes to the end. */
function textOf(html: string): string {
  const parts: string[] = [];
  let at = 0;
  while (at < html.length) {
    const open = html.indexOf('<', at);
    if (open < 0) break;
    parts.push(html.slice(at, open).replace(/[\r\n]+/g, ' '));
    if (html.startsWith('<!--', open)) {
      at = endAfter(html, '-->', open + 4);
      continue;
    }
    const name = /^<\/?([a-z][a-z0-9-]*)/i.exec(html.slice(open, open + 64))?.[1]?.toLowerCase();
    if (name === undefined && !/^<[!?/]/.test(html.slice(open, open + 2))) {
      parts.push('<'); // a sign, and no element
      at = open + 1;
      continue;
    }
    at = endOfTag(html, open);
    if (name !== undefined && unread.has(name) && html[open + 1] !== '/' && html[at - 2] !== '/') {
      at = endOfElement(html, name, at);
    }
    if (name !== undefined && blocks.has(name)) parts.push(/^(br|li|tr|dt|dd)$/.test(name) ? '\n' : '\n\n');
    else if (name === 'td' || name === 'th') parts.push(' ');
  }
  return parts.concat(html.slice(at).replace(/[\r\n]+/g, ' ')).join('');
}

/** A `>` within quotes does not end a tag. */
function endOfTag(html: string, open: number): number {
  let quote = '';
  for (let at = open + 1; at < html.length; at++) {
    const sign = html[at]!;
    if (quote !== '') quote = sign === quote ? '' : quote;
    else if (sign === '>') return at + 1;
    else if ((sign === '"' || sign === "'") && html[at - 1] === '=') quote = sign;
  }
  return html.length;
}

function endOfElement(html: string, name: string, from: number): number {
  const close = new RegExp(`</${name}[\\s>]`, 'gi');
  close.lastIndex = from;
  const found = close.exec(html);
  return found ? endAfter(html, '>', found.index) : html.length;
}

function endAfter(html: string, sign: string, from: number): number {
  const found = html.indexOf(sign, from);
  return found < 0 ? html.length : found + sign.length;
}

function decode(text: string): string {
  return text.replace(
    /&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,8}));/gi,
    (whole, decimal?: string, hex?: string, name?: string) => {
      if (name !== undefined) return Object.hasOwn(named, name) ? named[name]! : whole;
      const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal);
      const isSign = code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
      return isSign ? String.fromCodePoint(code) : '�';
    },
  );
}
