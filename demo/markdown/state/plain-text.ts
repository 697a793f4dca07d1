/** Markdown as it is read aloud: without its signs. */

import { readBlocks } from './markdown-blocks.ts';
import { readInline } from './markdown-inline.ts';
import type { Block, Inline } from './markdown-types.ts';

/** Returns the words of a text. Links are their texts, code and formulas as they are written. */
export function plainText(markdown: string): string {
  return readBlocks(markdown.split('\n')).map(textOf).filter((text) => text !== '').join('\n');
}

function textOf(block: Block): string {
  switch (block.type) {
    case 'paragraph':
    case 'heading':
      return inlineText(block.text);
    case 'code':
    case 'math':
      return block.text;
    case 'quote':
      return block.blocks.map(textOf).join('\n');
    case 'list':
      return block.items.map(({ blocks }) => blocks.map(textOf).join('\n')).join('\n');
    case 'table':
      return [block.head, ...block.rows].map((row) => row.map(inlineText).join(', ')).join('\n');
    case 'rule':
      return '';
    default:
      return block satisfies never;
  }
}

function inlineText(text: string): string {
  return readInline(text).map(pieceText).join('');
}

function pieceText(piece: Inline): string {
  if (typeof piece === 'string') return piece;
  if ('children' in piece) return piece.children.map(pieceText).join('');
  return piece.type === 'break' ? '\n' : piece.type === 'citation' ? '' : piece.text;
}
