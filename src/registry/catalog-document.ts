/** A whole catalogue as one document: what it holds, how it is written, and how it is read. */

import * as v from 'valibot';
import { PinnaceError, toPinnaceError } from '../base/errors.ts';
import { parse } from '../base/parse.ts';
import type { Storage } from '../contracts/storage.ts';
import { type Draft, mostChanges, tooMany } from './draft.ts';
import { type Difference, differencesOf } from './history.ts';
import { ownedBy, type Owner, ownerOf, recordKey, takenByShared } from './owner.ts';
import { type CatalogRecords, kindNames, readRecord, type RecordKind } from './record-kinds.ts';
import { asAuthored, isGiven, requireFit, type RuleContext } from './rules.ts';
import { findRecord, type ScanOptions, scanOwn, usesOf } from './scan.ts';
import { setRecord, taken, unbound, type Write, type WriteOptions } from './write.ts';

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

type AnyRecord = CatalogRecords[RecordKind];

interface Item {
  readonly kind: RecordKind;
  readonly record: AnyRecord;
}

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

function authored(record: AnyRecord): unknown {
  const counted = new Set(['revision', 'createdAt', 'updatedAt', 'tenant']);
  return Object.fromEntries(Object.entries(record).filter(([name]) => !counted.has(name)));
}

/**
 * Reads the records of a document, in an order in which each comes after what it names.
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
function nameOf(kind: RecordKind, id: string): string {
  return `${kindNames[kind]} "${id}"`;
}

/** How to import. */
export interface ImportOptions extends WriteOptions {
  /** Return what would change, without writing. */
  readonly dryRun?: boolean;
}

/** What an import does to one record. */
export interface ImportChange {
  readonly kind: RecordKind;
  readonly id: string;
  readonly change: 'create' | 'update';
  /** What differs, of a record that there was. */
  readonly differences: readonly Difference[];
}

/** What an import did, or would do. */
export interface ImportReport {
  readonly dryRun: boolean;
  readonly created: number;
  readonly updated: number;
  readonly unchanged: number;
  readonly changes: readonly ImportChange[];
  /** How many commits it takes: one is all or nothing, more are so one by one. */
  readonly commits: number;
}

/**
 * Takes a document in: what it holds is created or replaced, everything else stays. The whole document is checked before
 * anything is written. What fits into one commit is all or nothing; a larger one goes in by commits of which each leaves the
 * registry in order, and importing it again goes on where it stopped.
 * @throws PinnaceError `invalid_argument` for a document that breaks a schema or a rule, else as writes do; `details.applied`
 * says how many records were written.
 */
export async function importCatalog(
  { write, ...options }: ScanOptions & { readonly write: Write },
  data: unknown,
  { dryRun = false, ...given }: ImportOptions = {},
): Promise<ImportReport> {
  const owner = ownerOf(given);
  const items = readItems(data);
  await requireWhole(items, { ...options, owner });
  const compared: Compared[] = [];
  for (const item of items) compared.push(await compare(item, { ...options, owner }));
  requireRoom(compared);
  const changed = compared.filter(({ change }) => change !== undefined);
  const batches = inBatches(changed);
  const count = (change: string): number => compared.filter((item) => item.change === change).length;
  const report: ImportReport = {
    dryRun,
    created: count('create'),
    updated: count('update'),
    unchanged: compared.length - changed.length,
    changes: changed.flatMap(({ item: { kind, record: { id } }, change, differences }) =>
      change ? [{ kind, id, change, differences: change === 'create' ? [] : differences }] : []
    ),
    commits: batches.length,
  };
  if (!dryRun) await applyAll(batches, { ...options, write, given });
  return report;
}

interface Compared {
  readonly item: Item;
  readonly change: 'create' | 'update' | undefined;
  readonly differences: readonly Difference[];
  /** How many changes of a commit it takes at most. */
  readonly cost: number;
}

async function compare(
  item: Item,
  { storage, owner }: { readonly storage: Storage; readonly owner: Owner },
): Promise<Compared> {
  const { kind, record } = item;
  const current = (await storage.get(recordKey({ kind, owner }, record.id)))?.value as AnyRecord | undefined; // written by the registry alone
  const differences = differencesOf(current && authored(current), authored(asAuthored(record, current)));
  const uses = [record, current].flatMap((agent) => agent && 'entryTools' in agent ? usesOf(agent) : []);
  const change = current ? 'update' : 'create';
  return { item, change: differences.length > 0 ? change : undefined, differences, cost: 2 + uses.length };
}

/** The rules are looked at before the first commit: what a record needs may come in the same document. */
async function requireWhole(items: readonly Item[], options: ScanOptions & { readonly owner: Owner }): Promise<void> {
  const { storage, owner } = options;
  const byName = new Map(items.map((item) => [nameOf(item.kind, item.record.id), item.record]));
  const stored = async (kind: RecordKind, id: string): Promise<AnyRecord | undefined> =>
    (await storage.get(recordKey({ kind, owner }, id)))?.value as AnyRecord | undefined; // written by the registry alone
  const find: RuleContext['find'] = async <Kind extends RecordKind>(kind: Kind, id: string) =>
    (byName.get(nameOf(kind, id)) ?? await findRecord(storage, kind, { owner, id })) as
      | CatalogRecords[Kind]
      | undefined; // safe: named by its kind
  for (const { kind, record } of items) {
    if (isGiven(options, kind, record.id)) throw taken(kind, record.id);
    const current = await stored(kind, record.id);
    if (!current && await findRecord(storage, kind, { owner, id: record.id })) {
      throw takenByShared(kindNames[kind], record.id);
    }
    await requireFit({ ...options, find, current }, kind, ownedBy(record, owner));
  }
}

function requireRoom(compared: readonly Compared[]): void {
  if (compared.some(({ cost }) => cost > mostChanges)) throw tooMany();
}

/** As few commits as the limit of one allows, in order. */
function inBatches(changed: readonly Compared[]): readonly (readonly Item[])[] {
  const batches: Item[][] = [];
  let room = 0;
  for (const { item, cost } of changed) {
    if (cost > room) {
      batches.push([]);
      room = mostChanges;
    }
    batches.at(-1)?.push(item);
    room -= cost;
  }
  return batches;
}

async function applyAll(
  batches: readonly (readonly Item[])[],
  { write, given, ...options }: ScanOptions & { readonly write: Write; readonly given: WriteOptions },
): Promise<void> {
  let applied = 0;
  for (const batch of batches) {
    try {
      await write({ ...given, action: 'import', kind: 'agent', id: '*' }, async (draft) => {
        for (const { kind, record } of batch) await importRecord(draft, { ...options, kind, record });
      });
    } catch (error) {
      throw applied === 0 ? error : interrupted(error, applied);
    }
    applied += batch.length;
  }
}

async function importRecord(draft: Draft, { kind, record, ...options }: ScanOptions & Item): Promise<void> {
  const current = await draft.get(kind, record.id);
  await setRecord(draft, kind, { ...options, record: asAuthored(record, current), action: 'import' });
}

function interrupted(error: unknown, applied: number): PinnaceError {
  const { code, message, status, retryable, details } = toPinnaceError(error);
  return new PinnaceError(code, `The import stopped after ${applied} records; import it again to go on. ${message}`, {
    status,
    retryable,
    details: { ...details, applied },
    cause: error,
  });
}
