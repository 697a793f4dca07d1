/** Reads all records of a kind, one after another, in the order of their ids. */

import type { Agent, ToolDefinition } from '../base/schema.ts';
import type { Storage } from '../contracts/storage.ts';
import { exactIds } from '../tools/availability.ts';
import type { KnownParts } from './fields.ts';
import { type Owner, recordKey, type RecordScope, useKey } from './owner.ts';
import type { CatalogRecords, RecordKind } from './record-kinds.ts';

export interface ScanOptions {
  readonly storage: Storage;
  /** Tools that are given as code, by id. */
  readonly composed: ReadonlyMap<string, ToolDefinition>;
  /** What else records may name; nothing when absent. */
  readonly known?: KnownParts;
}

interface ScanScope<Kind extends RecordKind> extends RecordScope {
  readonly kind: Kind;
  readonly after?: string | undefined;
}

const batch = 100;

/** Returns the owner's records and the shared ones; an own one replaces a shared one, and those given as code are shared. */
export async function* scan<Kind extends RecordKind>(
  { storage, composed }: ScanOptions,
  place: ScanScope<Kind>,
): AsyncGenerator<CatalogRecords[Kind]> {
  const { kind, owner, after } = place;
  const given = kind === 'tool' ? sorted([...composed.values()], after) : [];
  const shared = merge(given as CatalogRecords[Kind][], scanOwn(storage, { kind, owner: undefined, after })); // safe: tools only
  yield* owner === undefined ? shared : merge(scanOwn(storage, place), shared);
}

/** Returns the owner's stored records alone. */
export async function* scanOwn<Kind extends RecordKind>(
  storage: Storage,
  { after: start, ...place }: ScanScope<Kind>,
): AsyncGenerator<CatalogRecords[Kind]> {
  const prefix = recordKey(place);
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

/** Returns a record of the owner, else the shared one. */
export async function findRecord<Kind extends RecordKind>(
  storage: Storage,
  kind: Kind,
  { owner, id }: { readonly owner: Owner; readonly id: string },
): Promise<CatalogRecords[Kind] | undefined> {
  const own = await storage.get(recordKey({ kind, owner }, id));
  const entry = own || owner === undefined ? own : await storage.get(recordKey({ kind, owner: undefined }, id));
  return entry?.value as CatalogRecords[Kind] | undefined; // written by the registry alone
}

/** The agents of the owner that name a record, in order. */
export async function agentsUsing(storage: Storage, place: RecordScope, id: string): Promise<string[]> {
  const prefix = useKey(place, id);
  const agents: string[] = [];
  for (let full = true; full;) {
    const last = agents.at(-1);
    const page = await storage.list({ prefix, limit: 1000, ...(last !== undefined && { after: [...prefix, last] }) });
    agents.push(...page.map(({ key }) => String(key.at(-1))));
    full = page.length === 1000;
  }
  return agents;
}

/** Merges what is ordered by id; where both have an id, the first one's is taken. */
async function* merge<T extends { readonly id: string }>(
  first: Iterable<T> | AsyncIterable<T>,
  second: AsyncIterable<T>,
): AsyncGenerator<T> {
  const rest = second[Symbol.asyncIterator]();
  let next = await rest.next();
  for await (const item of first) {
    for (; next.done !== true && next.value.id < item.id; next = await rest.next()) yield next.value;
    if (next.done !== true && next.value.id === item.id) next = await rest.next();
    yield item;
  }
  for (; next.done !== true; next = await rest.next()) yield next.value;
}

function sorted(tools: readonly ToolDefinition[], after: string | undefined): ToolDefinition[] {
  const rest = after === undefined ? tools : tools.filter(({ id }) => id > after);
  return rest.toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

/** A record that an agent names. */
export interface Use {
  readonly kind: RecordKind;
  readonly id: string;
}

/** Lists what the agent names, each once. Patterns are left out: they are resolved when the agent is read. */
export function usesOf({ entryTools, providerId, fallbacks = [], mcp, dataSources }: Agent): readonly Use[] {
  const providers = [providerId, ...fallbacks.map((fallback) => fallback.providerId)];
  return [
    ...unique(providers).map((id): Use => ({ kind: 'provider', id })),
    ...unique(exactIds(entryTools)).map((id): Use => ({ kind: 'tool', id })),
    ...Object.keys(mcp).map((id): Use => ({ kind: 'mcpServer', id })),
    ...unique(dataSources).map((id): Use => ({ kind: 'dataSource', id })),
  ];
}

export function withTool(agent: Agent, toolId: string): Agent {
  if (agent.entryTools.includes(toolId)) return agent;
  return { ...agent, entryTools: [...agent.entryTools, toolId] };
}

export function withoutTool(agent: Agent, toolId: string): Agent {
  return { ...agent, entryTools: agent.entryTools.filter((entry) => entry !== toolId) };
}

function unique(ids: readonly string[]): readonly string[] {
  return [...new Set(ids)];
}
