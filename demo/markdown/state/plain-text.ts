/** Markdown as it is read aloud: without its signs. */

import { readMarkdown } from './markdown.ts';
import type { Block, Inline } from './markdown-types.ts';

/** Returns the words of a text. Links are their texts, code and formulas as they are written. */
export function plainText(markdown: string): string {
  return readMarkdown(markdown).map(textOf).filter((text) => text !== '').join('\n');
}

function textOf(block: Block): string {
  switch (block.type) {
    case 'paragraph':
    case 'heading':
      return inlineText(block.children);
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

/** The words of a line. */
export function inlineText(nodes: readonly Inline[]): string {
  return nodes.map(pieceText).join('');
}

function pieceText(piece: Inline): string {
  if (typeof piece === 'string') return piece;
  if ('children' in piece) return piece.children.map(pieceText).join('');
  return piece.type === 'break' ? '\n' : piece.type === 'citation' ? '' : piece.text;
}
