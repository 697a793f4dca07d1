/** Reads all records of a kind, one after another, in the order of their ids. */

import type { Storage } from '../../ports.ts';
import type { CatalogRecords, RecordKind } from '../../record-kinds.ts';
import type { ToolDefinition } from '../../schema.ts';
import { recordKey, useKey } from './layout.ts';

/** What is read. */
export interface ScanOptions {
  readonly storage: Storage;
  /** Tools that are given as code, by id. */
  readonly composed: ReadonlyMap<string, ToolDefinition>;
}

const batch = 100;

/** Gives the records behind `after`; those given as code stand among the stored. */
export async function* scan<Kind extends RecordKind>(
  { storage, composed }: ScanOptions,
  kind: Kind,
  after?: string,
): AsyncGenerator<CatalogRecords[Kind]> {
  const given = kind === 'tool' ? sorted([...composed.values()], after) : [];
  for await (const record of stored(storage, kind, after)) {
    while (given[0] && given[0].id < record.id) yield given.shift() as CatalogRecords[Kind]; // safe: tools only
    yield record;
  }
  yield* given as CatalogRecords[Kind][]; // safe: as above
}

/** The agents that name a record, in order. */
export async function agentsUsing(storage: Storage, kind: RecordKind, id: string): Promise<string[]> {
  const prefix = useKey(kind, id);
  const agents: string[] = [];
  for (let full = true; full;) {
    const last = agents.at(-1);
    const page = await storage.list({ prefix, limit: 1000, ...(last !== undefined && { after: [...prefix, last] }) });
    agents.push(...page.map(({ key }) => String(key.at(-1))));
    full = page.length === 1000;
  }
  return agents;
}

async function* stored<Kind extends RecordKind>(
  storage: Storage,
  kind: Kind,
  start?: string,
): AsyncGenerator<CatalogRecords[Kind]> {
  const prefix = recordKey(kind);
  for (let after = start, full = true; full;) {
    const page = await storage.list({
      prefix,
      limit: batch,
      ...(after !== undefined && { after: [...prefix, after] }),
    });
    for (const { value } of page) yield value as CatalogRecords[Kind]; // written by the registry alone
    after = String(page.at(-1)?.key.at(-1));
    full = page.length === batch;
  }
}

function sorted(tools: readonly ToolDefinition[], after: string | undefined): ToolDefinition[] {
  const rest = after === undefined ? tools : tools.filter(({ id }) => id > after);
  return rest.toSorted((a, b) => (a.id < b.id ? -1 : 1));
}
