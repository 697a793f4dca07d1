/** Reads separated values (RFC 4180, and what programs write instead) with a line of names first. Papa Parse finds the fields. */

import { checkNames, optional } from '../../base/check-options.ts';
import Papa from 'papaparse';

/** A record of a structured source: JSON. */
export type DataRecord = Readonly<Record<string, unknown>>;

/** A record of text: its values are as the file has them. */
export type TextRecord = Readonly<Record<string, string>>;

export interface CsvOptions {
  /** Between fields; found in the text when absent: a comma, semicolon, tab or `|`. */
  readonly separator?: string | undefined;
}

/**
 * Returns one record for each line after the first. Values are text as it is written, so that codes and versions stay what they are;
 * filters and figures compare it with numbers where it is one. An empty field is absent, and so are lines without a value. A column
 * without a name is `column 2`, and a name that is there before gets a number: `price (2)`. A line `sep=;` names the separator.
 * A quote that is not closed belongs to its field.
 *
 * @example
 * parseCsv('id;price\n007;2.50\n') // [{ id: '007', price: '2.50' }]
 */
export function parseCsv(text: string, options: CsvOptions = {}): TextRecord[] {
  checkNames('read CSV', options, optional('separator'));
  return [...csvRecords(text, options)].flat();
}

const linesPerTurn = 200;

/** Yields the records of some lines at a time. */
export function* csvRecords(text: string, { separator }: CsvOptions = {}): Generator<TextRecord[]> {
  const lines = text.replace(/^\uFEFF/, '').replace(/\r\n?/g, '\n');
  const stated = /^"?sep=([^\n])"?\n/i.exec(lines);
  const content = stated ? lines.slice(stated[0].length) : lines;
  const delimiter = separator ?? stated?.[1] ?? separatorOf(content);
  let names: string[] | undefined;
  for (const rows of rowsOf(withoutSpaces(content, delimiter), delimiter)) {
    const records: TextRecord[] = [];
    const width = names ? 0 : commonWidth(rows);
    for (const [at, cells] of rows.entries()) {
      if (cells.every((cell) => cell.trim() === '')) continue;
      const isApart = width > 2 || (width === 2 && (rows[at + 1]?.join('') === '' || cells[0]?.startsWith('#')));
      if (!names && isApart && cells.length === 1) { // a title above the names
        records.push(toRecord(cells, []));
        continue;
      }
      if (names) records.push(toRecord(cells, names));
      else names = namesOf(cells);
    }
    yield records;
  }
}

/** The fields that nearly all lines have; 0 where they differ. */
function commonWidth(rows: readonly string[][]): number {
  const filled = rows.filter((cells) => cells.length > 1);
  const width = filled[0]?.length ?? 0;
  return filled.filter(({ length }) => length === width).length >= filled.length * 0.9 ? width : 0;
}

/** Some programs write a space behind each separator, and then the quote. */
function withoutSpaces(text: string, delimiter: string): string {
  const sample = text.slice(0, sampleLength);
  if (!sample.includes(`${delimiter} "`) || sample.includes(`${delimiter}"`)) return text;
  return text.replaceAll(`${delimiter} "`, `${delimiter}"`);
}

function toRecord(cells: readonly string[], names: string[]): TextRecord {
  const filled = cells.flatMap((cell, at) => cell.trim() === '' ? [] : [[names[at] ??= unnamed(at), cell] as const]);
  return Object.fromEntries(filled);
}

function namesOf(cells: readonly string[]): string[] {
  const counts = new Map<string, number>();
  return cells.map((cell, at) => {
    const trimmed = cell.trim();
    const name = trimmed === '' || trimmed === '__proto__' ? unnamed(at) : trimmed;
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    return count === 1 ? name : `${name} (${count})`;
  });
}

function unnamed(at: number): string {
  return `column ${at + 1}`;
}

const newline = '\n';
/** What the separator is found in. */
const sampleLength = 65_536;

function separatorOf(text: string): string {
  const sample = text.length > sampleLength ? text.slice(0, text.lastIndexOf(newline, sampleLength) + 1) : text;
  const delimitersToGuess = [',', ';', '\t', '|'];
  return Papa.parse(sample, { newline, preview: 100, skipEmptyLines: 'greedy', delimitersToGuess }).meta.delimiter;
}

/** After so many quotes that the rest of the file does not close, quotes are no marks in this file. */
const mostOpenQuotes = 20;
const noQuote = '\0';

function* rowsOf(text: string, delimiter: string): Generator<string[][]> {
  const read = (content: string, quoteChar: string, preview: number) =>
    Papa.parse<string[]>(content, { delimiter, newline, quoteChar, preview, fastMode: false });
  let [at, preview, openQuotes] = [0, linesPerTurn, 0];
  while (at < text.length) {
    const quoteChar = openQuotes < mostOpenQuotes ? '"' : noQuote;
    const { data, errors, meta } = read(text.slice(at), quoteChar, preview);
    const wrong = errors.find(({ type }) => type === 'Quotes');
    preview = wrong ? 4 : Math.min(linesPerTurn, preview * 2);
    if (!wrong) {
      yield data;
      at += Math.max(1, meta.cursor);
      continue;
    }
    // A quote that ends nowhere, or in the middle of a field, has taken what follows. Its first line is read as it is written.
    if (wrong.code === 'MissingQuotes') openQuotes++;
    const before = wrong.row ?? 0;
    yield data.slice(0, before);
    const start = before === 0 ? at : at + read(text.slice(at), quoteChar, before).meta.cursor;
    const end = text.indexOf(newline, start);
    at = end < 0 ? text.length : end + 1;
    yield read(text.slice(start, at), noQuote, 1).data;
  }
}
