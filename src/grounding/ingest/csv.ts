/** Reads comma-separated values (RFC 4180) with a line of names first. */

import { PinnaceError } from '../../base/errors.ts';

/** A record of a structured source: JSON. */
export type DataRecord = Readonly<Record<string, unknown>>;

/**
 * Returns one record for each line after the first. What is written as a JSON number, `true` or `false` becomes one, unless it is
 * quoted; a field without text is absent.
 *
 * @throws PinnaceError `invalid_argument` that names the line: an open quote, more fields than names, or no or double names.
 * @example
 * parseCsv('id,price\na1,2.5\n') // [{ id: 'a1', price: 2.5 }]
 */
export function parseCsv(text: string, { separator = ',' }: { readonly separator?: string } = {}): DataRecord[] {
  const [first, ...lines] = readLines(text.replace(/^\uFEFF/, ''), separator);
  const names = first?.fields.map(({ value }) => value.trim()) ?? [];
  if (names.length === 0 || names.includes('') || new Set(names).size < names.length) {
    throw malformed(1, 'it must name every field, each once');
  }
  if (names.includes('__proto__')) throw malformed(1, '"__proto__" is no name');
  return lines.map(({ fields, line }) => {
    if (fields.length > names.length) throw malformed(line, `it has ${fields.length} fields for ${names.length} names`);
    return Object.fromEntries(
      fields.flatMap(({ value, quoted }, at) =>
        value === '' && !quoted ? [] : [[names[at], quoted ? value : valueOf(value)]]
      ),
    );
  });
}

interface Field {
  readonly value: string;
  readonly quoted: boolean;
}

interface Line {
  readonly fields: readonly Field[];
  readonly line: number;
}

function valueOf(text: string): string | number | boolean {
  if (text === 'true' || text === 'false') return text === 'true';
  return /^-?(0|[1-9]\d{0,14})(\.\d+)?([eE][+-]?\d{1,2})?$/.test(text) ? Number(text) : text;
}

function readLines(text: string, separator: string): Line[] {
  const lines: Line[] = [];
  let fields: Field[] = [];
  let [at, line] = [0, 1];
  while (at < text.length) {
    const { field, end } = readField(text, { at, separator, line });
    const newLine = text.startsWith('\r\n', end) ? 2 : Number(text[end] === '\n');
    fields.push(field);
    at = end + (newLine || separator.length);
    if (newLine === 0 && end < text.length) {
      if (at === text.length) fields.push({ value: '', quoted: false }); // the text ends with a separator
      else continue;
    }
    if (fields.length > 1 || fields[0]?.quoted || fields[0]?.value !== '') lines.push({ fields, line });
    fields = [];
    line++;
  }
  if (fields.length > 0) lines.push({ fields, line });
  return lines;
}

function readField(
  text: string,
  { at, separator, line }: { readonly at: number; readonly separator: string; readonly line: number },
): { readonly field: Field; readonly end: number } {
  if (text[at] !== '"') {
    let end = at;
    while (
      end < text.length && text[end] !== '\n' && !text.startsWith('\r\n', end) && !text.startsWith(separator, end)
    ) end++;
    return { field: { value: text.slice(at, end), quoted: false }, end };
  }
  let [end, value] = [at + 1, ''];
  for (;;) {
    const quote = text.indexOf('"', end);
    if (quote < 0) throw malformed(line, 'a quote is not closed');
    value += text.slice(end, quote);
    if (text[quote + 1] !== '"') {
      const after = quote + 1;
      const ends = after === text.length || text[after] === '\n' || text.startsWith('\r\n', after) ||
        text.startsWith(separator, after);
      if (!ends) throw malformed(line, 'there is text after a quoted field');
      return { field: { value, quoted: true }, end: after };
    }
    value += '"';
    end = quote + 2;
  }
}

function malformed(line: number, why: string): PinnaceError {
  return new PinnaceError('invalid_argument', `Cannot read the CSV: record ${line}: ${why}`, {
    details: { reason: 'malformed_csv', line },
  });
}
