/** A whole catalogue as one document: what it holds, how it is written, and how it is read. */

import * as v from 'valibot';
import { PinnaceError } from '../base/errors.ts';
import { parse } from '../base/parse.ts';
import type { Storage } from '../contracts/storage.ts';
import { type CatalogRecords, kindNames, readRecord, type RecordKind } from './record-kinds.ts';
import type { Owner } from './owner.ts';
import { scanOwn } from './scan.ts';
import { unbound } from './set-record.ts';

/** The parts of the document, what is named before what names it. */
const parts = [
  ['providers', 'provider'],
  ['dataSources', 'dataSource'],
  ['mcpServers', 'mcpServer'],
  ['tools', 'tool'],
  ['agents', 'agent'],
] as const satisfies readonly (readonly [string, RecordKind])[];

const Part = v.optional(v.array(v.unknown()), []);

/** The document. Its records have the fields of their authors, without those that the registry maintains. */
export const CatalogDocument = v.strictObject({
  format: v.literal('pinnace-catalog'),
  formatVersion: v.literal(1),
  exportedAt: v.optional(v.string()),
  providers: Part,
  dataSources: Part,
  mcpServers: Part,
  tools: Part,
  agents: Part,
});
/** The result of an export. */
export type CatalogExport = Readonly<v.InferOutput<typeof CatalogDocument>>;

/** A record of any kind. */
export type AnyRecord = CatalogRecords[RecordKind];

/** A record of a document. */
export interface Item {
  readonly kind: RecordKind;
  readonly record: AnyRecord;
}

/** Returns the document of everything that is stored of the owner. */
export async function exportCatalog(
  { storage, owner, now }: { readonly storage: Storage; readonly owner: Owner; readonly now: () => number },
): Promise<CatalogExport> {
  const all = async (kind: RecordKind): Promise<unknown[]> =>
    (await Array.fromAsync(scanOwn(storage, { kind, owner }))).map(authored);
  return {
    format: 'pinnace-catalog',
    formatVersion: 1,
    exportedAt: new Date(now()).toISOString(),
    providers: await all('provider'),
    dataSources: await all('dataSource'),
    mcpServers: await all('mcpServer'),
    tools: await all('tool'),
    agents: await all('agent'),
  };
}

/** The record as its author writes it. */
export function authored(record: AnyRecord): unknown {
  const counted = new Set(['revision', 'createdAt', 'updatedAt', 'tenant']);
  return Object.fromEntries(Object.entries(record).filter(([name]) => !counted.has(name)));
}

/**
 * Reads the records of a document, in an order in which each comes after what it names.
 *
 * @throws PinnaceError `invalid_argument` for what breaks a schema, and for two records with one id.
 */
export function readItems(data: unknown): readonly Item[] {
  const document = parse(CatalogDocument, data, { what: 'the export' });
  const items = parts.flatMap(([part, kind]) =>
    document[part].map((record, i): Item => ({
      kind,
      record: unbound(readRecord[kind](record, `${kindNames[kind]} ${i}`)),
    }))
  );
  const seen = new Set<string>();
  for (const name of items.flatMap(namesOf)) {
    if (seen.has(name)) {
      throw new PinnaceError('invalid_argument', `Cannot import the export: it has ${name} twice`, {
        details: { reason: 'duplicate_record' },
      });
    }
    seen.add(name);
  }
  return items;
}

/** What no two records may share. */
function namesOf({ kind, record }: Item): readonly string[] {
  return [nameOf(kind, record.id), ...('alias' in record ? [`the alias "${record.alias}"`] : [])];
}

/** What a record is called among others. */
export function nameOf(kind: RecordKind, id: string): string {
  return `${kindNames[kind]} "${id}"`;
}
