/** Reads records, of JSON or CSV: one piece each, whose scalar fields filters can read. */

import { isRecord } from '../../base/is-record.ts';
import { parseRepairedJson } from '../../base/json.ts';
import { csvRecords, type DataRecord } from './csv.ts';
import { numberedLines, type Piece, piecesOf, type ReadOptions } from './pieces.ts';

/** Returns a piece for each line of values. */
export async function readCsv(text: string, options: ReadOptions): Promise<Piece[]> {
  const pieces: Piece[] = [];
  let count = 0;
  for (const records of csvRecords(text)) {
    for (const record of records) {
      options.budget.part = `record ${++count}`;
      pieces.push(...piecesOfRecord(record, options));
      await options.turns.next();
    }
  }
  return pieces;
}

/** Returns a piece for each line of JSON. A line that is none is text. */
export async function readJsonLines(text: string, options: ReadOptions): Promise<Piece[]> {
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/).filter((line) => line.trim() !== '');
  return await piecesOfAll(lines.map(recordOf), options);
}

/** Returns a piece for each member of a list, of any other JSON those of its text. */
export async function readJson(text: string, options: ReadOptions): Promise<Piece[]> {
  let data: unknown;
  try {
    data = parseRepairedJson(text, { numbers: 'as-written' });
  } catch (error) {
    if (isJsonLines(text)) return await readJsonLines(text, options); // under the name of JSON, as databases export it
    throw error;
  }
  return Array.isArray(data) ? await piecesOfAll(data, options) : piecesOfText(data, options);
}

/** Whether each of the first lines is an object of its own. */
function isJsonLines(text: string): boolean {
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/, 20).filter((line) => line.trim() !== '');
  return lines.length > 1 && lines.every((line) => isRecord(recordOf(line)));
}

async function piecesOfAll(data: readonly unknown[], options: ReadOptions): Promise<Piece[]> {
  const pieces: Piece[] = [];
  for (const [at, item] of data.entries()) {
    options.budget.part = `record ${at + 1}`;
    pieces.push(...(isRecord(item) ? piecesOfRecord(item, options) : piecesOfText(item, options)));
    await options.turns.next();
  }
  return pieces;
}

function recordOf(line: string): unknown {
  try {
    return parseRepairedJson(line, { numbers: 'as-written' });
  } catch {
    return line;
  }
}

/** Longer values are in the text alone: no filter can name one. */
const longestValue = 4096;
const longestName = 200;
/** What the fields of one piece may take as JSON, together with its file and number less than an item may have. */
const mostMetadata = 61_440;

function piecesOfRecord(record: DataRecord, { length, budget }: ReadOptions): Piece[] {
  const fields = Object.entries(record).map(([name, value]) =>
    [name, typeof value === 'string' ? value : JSON.stringify(value)] as const
  );
  for (const [name, value] of fields) budget.take(name.length + value.length + 3);
  const { metadata, size } = metadataOf(record);
  return piecesOf(numberedLines(fields.map(([name, value]) => `${name}: ${value}`).join('\n')), { length })
    .map(({ text }) => {
      budget.take(size);
      return { text, metadata };
    });
}

function metadataOf(record: DataRecord): { readonly metadata: DataRecord; readonly size: number } {
  const metadata: Record<string, unknown> = {};
  let size = 2;
  for (const [name, value] of Object.entries(record)) {
    if (!isScalar(value)) continue;
    const key = keyOf(name, metadata);
    const length = JSON.stringify(key).length + JSON.stringify(value).length + 2;
    if (size + length > mostMetadata) break;
    size += length;
    metadata[key] = value;
  }
  return { metadata, size };
}

function isScalar(value: unknown): boolean {
  return typeof value === 'number' || typeof value === 'boolean' ||
    (typeof value === 'string' && value.length <= longestValue);
}

/** Names that no item may have: an assignment to one reaches a prototype. */
const reserved = new Set(['__proto__', 'constructor', 'prototype']);

/** A name that is too long is cut, and numbered where another one starts like it. */
function keyOf(name: string, taken: DataRecord): string {
  if (reserved.has(name)) return `column ${name}`;
  if (name.length <= longestName) return name;
  const start = name.slice(0, longestName).toWellFormed();
  if (!Object.hasOwn(taken, start)) return start;
  for (let count = 2;; count++) {
    const numbered = `${name.slice(0, longestName - 8).toWellFormed()} (${count})`;
    if (!Object.hasOwn(taken, numbered)) return numbered;
  }
}

function piecesOfText(data: unknown, { length, budget }: ReadOptions): Piece[] {
  const text = JSON.stringify(data, null, 1);
  budget.take(text.length);
  return piecesOf(numberedLines(text), { length }).map(({ text: piece }) => ({ text: piece }));
}
