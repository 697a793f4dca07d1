/** Reads records, of JSON or CSV: one piece each, whose scalar fields filters can read. */

import { isRecord } from '../../base/is-record.ts';
import { type DataRecord, parseCsv } from './csv.ts';
import { parseRepairedJson } from '../../base/json.ts';
import { numberedLines, type Piece, piecesOf } from './pieces.ts';

/** Returns a piece for each line of values. */
export function readCsv(text: string, { length }: { readonly length: number }): Piece[] {
  return parseCsv(text).flatMap((record) => pieceOf(record, length));
}

/** Returns a piece for each member of a list, of any other JSON those of its text. */
export function readJson(text: string, { length }: { readonly length: number }): Piece[] {
  const data = parseRepairedJson(text);
  if (Array.isArray(data)) {
    return data.flatMap((item) => isRecord(item) ? pieceOf(item, length) : textPieces(item, length));
  }
  return textPieces(data, length);
}

function pieceOf(record: DataRecord, length: number): Piece[] {
  const lines = Object.entries(record).map(([field, value]) =>
    `${field}: ${typeof value === 'string' ? value : JSON.stringify(value)}`
  );
  const scalars = Object.entries(record).filter(([, value]) => {
    return typeof value === 'number' || typeof value === 'boolean' ||
      (typeof value === 'string' && value.length <= 200);
  });
  const metadata = Object.fromEntries(scalars.slice(0, 50));
  return piecesOf(numberedLines(lines.join('\n')), { length }).map(({ text }) => ({ text, metadata }));
}

function textPieces(data: unknown, length: number): Piece[] {
  return piecesOf(numberedLines(JSON.stringify(data, null, 1)), { length }).map(({ text }) => ({ text }));
}
