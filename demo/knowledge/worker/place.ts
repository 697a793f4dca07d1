/** The place of a cited source in the knowledge. */

import { sourceIds } from './data-sources.ts';

export const linesPerPart = 40;

export interface KnowledgePlace {
  readonly file: string;
  /** Which part, from 0. */
  readonly piece: number;
  readonly lines?: readonly [from: number, to: number];
  /** Of the part's text when it was cited: SHA-256, hexadecimal. */
  readonly contentHash?: string;
}

interface Source {
  readonly dataSourceId: string;
  readonly id: string;
  readonly lines?: readonly number[] | undefined;
  readonly contentHash: string;
}

/** Returns the place; nothing for what is no part of a file here. */
export function placeOf({ dataSourceId, id, lines: [from, to] = [], contentHash }: Source): KnowledgePlace | undefined {
  const at = id.lastIndexOf('#');
  const file = id.slice(0, at);
  if (at < 1) return undefined;
  if (dataSourceId === sourceIds.code) {
    if (from === undefined || to === undefined) return undefined;
    return { file, piece: pieceOfLine(from), lines: [from, to] };
  }
  const piece = id.slice(at + 1);
  const isHere = dataSourceId === sourceIds.words || dataSourceId === sourceIds.likeness;
  return isHere && /^\d{1,7}$/.test(piece) ? { file, piece: Number(piece), contentHash } : undefined;
}

/** The part of a file that contains a line. */
export function pieceOfLine(line: number): number {
  return Math.floor((line - 1) / linesPerPart);
}
