/** Structured data as a grounding source: filters, sorting and figures over records that a function lists. */

import { checkNames, optional } from '../../src/base/check-options.ts';
import { BoundedMap } from '../../src/base/bounded-map.ts';
import { wordConfidence } from '../../src/grounding/calibration.ts';
import { PinnaceError } from '../../src/base/errors.ts';
import {
  compileFilters,
  type Filter,
  filterOps,
  type GroundingRequest,
  type GroundingSource,
  readField,
  type SourceHit,
} from '../../src/contracts/grounding-source.ts';
import { canonicalJson, checkData } from '../../src/base/json.ts';
import type { JsonSchema } from '../../src/base/schema.ts';
import { compileJsonSchema } from '../../src/tools/json-schema/json-schema.ts';
import type { DataRecord } from '../../src/grounding/ingest/csv.ts';
import { sha256 } from '../../src/base/hash.ts';
import { requireAnswerable } from './item-source.ts';
import { listedConfidence } from './item-engine.ts';
import { addUp, compareValues } from './record-figures.ts';
import { createTurns, requireRunning } from '../../src/base/turns.ts';
import { stem } from '../../src/search/terms.ts';
import { stopMaskOf } from '../../src/search/languages.ts';
import { wordsOf } from '../../src/search/words.ts';

export type { GroundingSource } from '../../src/contracts/grounding-source.ts';

/** What a source of records is made of. */
export interface RecordSourceOptions {
  /** The id of the source, which agents name in `dataSources`. */
  readonly id: string;
  /** Returns the records of this tenant only. What it throws is the source's error. */
  readonly list: (tenant: string, signal: AbortSignal) => readonly DataRecord[] | Promise<readonly DataRecord[]>;
  /** The field that identifies a record; `id` when absent. */
  readonly key?: string;
  /** The field that names a record to people. */
  readonly title?: string;
  /** The schema of every record. If it is present, requests can use only its fields. */
  readonly schema?: JsonSchema;
  /** How long a list is good for; 1 s when absent. */
  readonly freshMs?: number;
  /** Milliseconds since any time. */
  readonly now?: () => number;
}

interface Row {
  readonly id: string;
  readonly record: DataRecord;
  readonly words: ReadonlySet<string>;
}

interface Table {
  readonly rows: readonly Row[];
  readonly version: string;
  readonly frequencies: ReadonlyMap<string, number>;
}

/**
 * Returns the source. A query that is a key finds that record with certainty; other queries find records by their words.
 *
 * @example
 * const orders = recordSource({ id: 'orders', list: (tenant) => tenant === 'acme' ? parseCsv(text) : [] });
 */
export function recordSource(options: RecordSourceOptions): GroundingSource {
  checkNames('create the source', options, optional('id', 'list', 'key', 'title', 'schema', 'freshMs', 'now'));
  const { id, schema } = options;
  const capabilities = { query: true, embedding: false, filters: filterOps, records: true };
  const tableOf = createTables(options);
  return {
    id,
    kind: 'structured',
    capabilities,
    async retrieve(request, signal) {
      requireAnswerable(id, capabilities, request);
      requireFields(id, request, schema);
      const table = await tableOf(request.tenant, signal);
      const passing = await filterRows(table.rows, request.filters, signal);
      if (request.aggregate) {
        return addUp(passing.map(({ record }) => record), {
          ...request,
          aggregate: request.aggregate,
          id,
          version: table.version,
        });
      }
      const hasQuery = (request.query ?? '').trim() !== '';
      const found = hasQuery
        ? search(passing, table, request.query ?? '')
        : passing.map((row) => ({ row, score: 0, confidence: listedConfidence }));
      return found
        .toSorted((a, b) =>
          inOrder(a.row, b.row, request.sort) || b.score - a.score || compareValues(a.row.id, b.row.id)
        )
        .slice(0, request.topK)
        .map((one) => toHit(one, { ...options, version: table.version }));
    },
    async stats(tenant, signal) {
      const { rows, version } = await tableOf(tenant, signal);
      return { version, items: rows.length };
    },
  };
}

/** The tables of tenants, each for as long as it is fresh. */
function createTables(options: RecordSourceOptions): (tenant: string, signal: AbortSignal) => Promise<Table> {
  const { list, freshMs = 1_000, now = () => performance.now() } = options;
  const tables = new BoundedMap<
    string,
    { readonly at: number; readonly records: readonly DataRecord[]; readonly table: Table }
  >(64);
  return async (tenant, signal) => {
    requireRunning(signal);
    const known = tables.get(tenant);
    if (known && now() - known.at < freshMs) return known.table;
    const at = now();
    const records = await list(tenant, signal);
    requireRunning(signal);
    const table = known?.records === records ? known.table : await toTable(records, options, signal);
    tables.set(tenant, { at, records, table });
    return table;
  };
}

async function toTable(
  records: readonly DataRecord[],
  options: RecordSourceOptions,
  signal: AbortSignal,
): Promise<Table> {
  const { id, key = 'id', schema } = options;
  const issuesOf = schema && compileJsonSchema(schema);
  const frequencies = new Map<string, number>();
  const rows = new Map<string, Row>();
  const turns = createTurns(signal);
  for (const [at, record] of records.entries()) {
    await turns.next();
    checkData(record);
    const [issue] = issuesOf?.(record) ?? [];
    if (issue) throw badRecord(id, at, `"${issue.path}" ${issue.message}`);
    const own = readField(record, key);
    const rowId = typeof own === 'string' || typeof own === 'number' ? String(own) : '';
    if (rowId === '' || rows.has(rowId)) throw badRecord(id, at, `its "${key}" must be there, once`);
    const words = new Set(wordsOf(textOf(record)).map(stem));
    for (const word of words) frequencies.set(word, (frequencies.get(word) ?? 0) + 1);
    rows.set(rowId, { id: rowId, record, words });
  }
  const version = (await sha256(canonicalJson(records))).slice(0, 16);
  return { rows: [...rows.values()], version, frequencies };
}

async function filterRows(
  rows: readonly Row[],
  filters: readonly Filter[],
  signal: AbortSignal,
): Promise<readonly Row[]> {
  const passes = compileFilters<DataRecord>(filters, readField);
  if (filters.length === 0) return rows;
  const turns = createTurns(signal);
  const passing: Row[] = [];
  for (const [at, row] of rows.entries()) {
    if (at % 64 === 0) await turns.next();
    if (passes(row.record)) passing.push(row);
  }
  return passing;
}

interface Found {
  readonly row: Row;
  readonly score: number;
  readonly confidence: number;
}

/** So many rows without a word count with those of the table: in a small one, another row changes little. */
const usualRows = 200;

/** Words count by their rarity; the score is the share of the query that a record has. */
function search(rows: readonly Row[], { frequencies, rows: all }: Table, query: string): Found[] {
  const words = termsOf(query).map((word) => {
    const having = frequencies.get(word) ?? 0;
    return { word, rarity: Math.log(1 + (all.length + usualRows - having + 0.5) / (having + 0.5)) };
  });
  const total = words.reduce((sum, { rarity }) => sum + rarity, 0);
  return rows.flatMap((row) => {
    if (row.id === query.trim()) return [{ row, score: 1, confidence: 1 }];
    const score = words.reduce((sum, { word, rarity }) => row.words.has(word) ? sum + rarity : sum, 0) / total;
    // A record has each word once: that is what a usual document has of the ideal one.
    return score > 0 ? [{ row, score, confidence: wordConfidence(0.55 * score, score) }] : [];
  });
}

/** The words of a query as stems; English stop words only where there is nothing else. */
function termsOf(query: string): string[] {
  const words = wordsOf(query);
  const content = words.filter((word) => (stopMaskOf(word) & 1) === 0);
  return [...new Set((content.length > 0 ? content : words).map(stem))];
}

function inOrder(a: Row, b: Row, sort: GroundingRequest['sort'] = []): number {
  for (const { field, direction } of sort) {
    const order = compareValues(readField(a.record, field), readField(b.record, field));
    if (order !== 0) return direction === 'desc' ? -order : order;
  }
  return 0;
}

function toHit(
  { row: { id: rowId, record }, score, confidence }: Found,
  { id, title, version }: RecordSourceOptions & { readonly version: string },
): SourceHit {
  const name = title === undefined ? undefined : readField(record, title);
  return {
    id: rowId,
    content: canonicalJson(record),
    ...(typeof name === 'string' && { title: name }),
    source: { uri: `${id}/${encodeURIComponent(rowId)}`, version },
    score,
    scoreKind: 'exact',
    confidence,
    matched: [],
    metadata: structuredClone(record),
  };
}

/** With a schema, a field that it does not know is a mistake, and not simply absent everywhere. */
function requireFields(
  id: string,
  { filters, sort = [], aggregate }: GroundingRequest,
  schema: JsonSchema | undefined,
): void {
  const { properties } = schema ?? {};
  if (typeof properties !== 'object' || properties === null) return;
  const fields = [
    ...filters.flatMap((filter) => 'any' in filter ? filter.any.map(({ field }) => field) : [filter.field]),
    ...sort.map(({ field }) => field),
    ...(aggregate ? [aggregate.by, ...aggregate.figures.map(({ field }) => field)] : []),
  ].filter((field) => field !== undefined);
  const unknown = fields.find((field) => !Object.hasOwn(properties, field.split('.')[0]!));
  if (unknown === undefined) return;
  const suggestions = Object.keys(properties).slice(0, 50);
  throw new PinnaceError(
    'invalid_argument',
    `Cannot ask the data source "${id}": it has no field "${unknown.slice(0, 64)}"; there is ${suggestions.join(', ')}`,
    { details: { reason: 'unknown_field', suggestions } },
  );
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return String(value);
  return typeof value === 'object' && value !== null ? Object.values(value).map(textOf).join('\n') : '';
}

function badRecord(id: string, at: number, why: string): PinnaceError {
  return new PinnaceError('invalid_argument', `Cannot read record ${at + 1} of "${id}": ${why}`, {
    details: { reason: 'invalid_record' },
  });
}
