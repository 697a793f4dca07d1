/**
 * Pins: what a person has approved of a server, to the last character. What must hold:
 *
 * - A fingerprint covers the whole raw definition, unknown fields too. The order of keys does not matter; one space does.
 * - What a model or a person sees of a server is made of the pin alone, never of what the server says now.
 * - What differs from its pin is hidden until a person looks again, whatever the server offers by then. One that is offered twice
 *   differs, whatever it says.
 */

import { PinnaceError } from '../base/errors.ts';
import { sha256 } from '../base/hash.ts';
import { asRecord } from '../base/is-record.ts';
import { canonicalJson, checkData } from '../base/json.ts';
import type { McpPin, McpServer, PinnedApp, PinnedContent, PinnedTool } from '../base/schema.ts';
import type { Catalog, McpServerWriter } from '../contracts/catalog.ts';
import type { McpContentKind } from '../contracts/mcp/mcp-connector.ts';

export type ListKind = 'tools' | McpContentKind;
export type PinnedKind = ListKind | 'apps';

export const contentKinds = ['prompts', 'resources', 'templates'] as const satisfies readonly McpContentKind[];

const kinds = {
  tools: { noun: 'tool', key: 'name' },
  prompts: { noun: 'prompt', key: 'name' },
  resources: { noun: 'resource', key: 'uri' },
  templates: { noun: 'template', key: 'uriTemplate' },
} as const;

/** What identifies a definition among those of its kind; `undefined` for one without it. */
export function itemId(kind: ListKind, definition: unknown): string | undefined {
  const id = asRecord(definition)[kinds[kind].key];
  return typeof id === 'string' && id !== '' ? id : undefined;
}

/** `prompt:<name>`, `resource:<uri>` or `template:<uri template>`: how findings, masks and exclusions name it. */
export function contentLabel(kind: McpContentKind, id: string): string {
  return `${kinds[kind].noun}:${id}`;
}

/** Returns the fingerprint of a raw definition: SHA-256, as hexadecimal digits, over its kind, a line feed and its canonical JSON. */
export async function fingerprintOf(definition: unknown, kind: ListKind = 'tools'): Promise<string> {
  return await sha256(`mcp-${kinds[kind].noun}/v1\n${canonicalJson(definition)}`);
}

export function pinnedContent(pin: McpPin | undefined, kind: McpContentKind): readonly PinnedContent[] {
  return pin?.[kind] ?? [];
}

type PinnedItem = PinnedTool | PinnedContent | PinnedApp;

export function pinnedId(kind: PinnedKind, item: PinnedItem): string {
  return 'uri' in item ? item.uri : itemId(kind as ListKind, item.definition) ?? ''; // safe: only apps have no definition
}

export type OfferedLists = {
  readonly [Kind in McpContentKind]: { readonly items: readonly unknown[]; readonly isCut: boolean } | undefined;
};

export interface ItemChange {
  readonly id: string;
  readonly kind: 'changed' | 'removed' | 'added';
  /** The fields of the definition that differ; those that MCP does not know are all called `other`. */
  readonly fields: readonly string[];
  readonly old?: string;
  readonly new?: string;
}

export async function compareWithPin(
  pin: McpPin,
  kind: ListKind,
  live: readonly unknown[],
): Promise<readonly ItemChange[]> {
  const pinned = pin[kind] ?? [];
  const byId = Map.groupBy(live, (definition) => itemId(kind, definition) ?? '');
  const ids = new Set(pinned.map((item) => pinnedId(kind, item)));
  const changes = await Promise.all(
    pinned.map((item) => changeOf(kind, item, byId.get(pinnedId(kind, item)) ?? [])),
  );
  const added = [...byId.keys()].filter((id) => !ids.has(id));
  return [
    ...changes.filter((change) => change !== undefined),
    ...added.map((id): ItemChange => ({ id, kind: 'added', fields: [] })),
  ];
}

async function changeOf(
  kind: ListKind,
  pinned: PinnedTool | PinnedContent,
  live: readonly unknown[],
): Promise<ItemChange | undefined> {
  const { fingerprint: old, definition } = pinned;
  const id = pinnedId(kind, pinned);
  const [first] = live;
  if (first === undefined) return { id, kind: 'removed', fields: [], old };
  const fingerprints = await Promise.all(live.map((one) => liveFingerprint(kind, one)));
  const other = fingerprints.find((fingerprint) => fingerprint !== old);
  if (other === undefined && live.length === 1) return undefined;
  const fields = live.length === 1 ? changedFields(definition, first, kind) : ['name'];
  return { id, kind: 'changed', fields, old, new: other ?? old };
}

/** What is no sane JSON is never what was approved. */
async function liveFingerprint(kind: ListKind, definition: unknown): Promise<string> {
  try {
    checkData(definition);
  } catch {
    return 'unreadable';
  }
  return await fingerprintOf(definition, kind);
}

/** The fields that MCP knows (2026-07-28). */
export const toolFields: ReadonlySet<string> = new Set(
  'name title description inputSchema outputSchema annotations execution icons _meta'.split(' '),
);
const contentFields: ReadonlySet<string> = new Set(
  'name title description arguments uri uriTemplate mimeType size annotations icons _meta'.split(' '),
);

/** The fields that differ. Names of fields that MCP does not know are the server's own words, and are not repeated. */
export function changedFields(old: object, live: unknown, kind: ListKind): readonly string[] {
  const known = kind === 'tools' ? toolFields : contentFields;
  const [a, b] = [asRecord(old), asRecord(live)];
  const keys = Object.keys({ ...a, ...b }).filter((key) => textOf(a[key]) !== textOf(b[key]));
  return [...new Set(keys.map((key) => known.has(key) ? key : 'other'))].toSorted();
}

/** Tells what is missing from `null`, and what is nested too deep from everything. */
function textOf(value: unknown): string {
  try {
    return value === undefined ? '' : canonicalJson(value);
  } catch {
    return 'unreadable';
  }
}

/** The catalog with a tenant's own records; without a tenant, the one with what is shared. */
export function catalogOf(catalog: Catalog, tenant: string | undefined): Catalog | undefined {
  return tenant === undefined ? catalog : catalog.forTenant?.(tenant);
}

/** @throws PinnaceError `unavailable` for a catalog that cannot be written. */
export function requireWriter(catalog: Catalog): McpServerWriter {
  if (isWriter(catalog)) return catalog;
  throw new PinnaceError(
    'unavailable',
    'Cannot approve the server: this catalog cannot be written; pin it where its records come from',
    { retryable: false, details: { reason: 'catalog_read_only' } },
  );
}

function isWriter(catalog: Catalog): catalog is Catalog & McpServerWriter {
  return 'put' in catalog && typeof catalog.put === 'function';
}

/**
 * Marks pinned items as drifted in the record, so that every instance hides them. Never rejects: where the catalog cannot be written,
 * or another instance has written it, each instance finds out by itself.
 */
export async function storeDrift(
  catalog: Catalog,
  server: McpServer,
  { kind, ids }: { readonly kind: PinnedKind; readonly ids: readonly string[] },
): Promise<boolean> {
  try {
    const record = await catalogOf(catalog, server.tenant)?.mcpServer?.(server.id);
    if (!record?.pinned?.[kind] || !isWriter(catalog) || !isSameApproval(kind, record, server)) return false;
    await catalog.put('mcpServer', withDrifted(record, kind, ids), { ifRevision: record.revision });
    return true;
  } catch {
    return false;
  }
}

function isSameApproval(kind: PinnedKind, record: McpServer, server: McpServer): boolean {
  if (kind !== 'tools') return record.validatedAt === server.validatedAt;
  return toolFingerprints(record).join() === toolFingerprints(server).join();
}

export function toolFingerprints({ pinned }: McpServer): readonly string[] {
  return pinned?.tools.map(({ fingerprint }) => fingerprint) ?? [];
}

/** Returns the record with these items marked as drifted. */
export function withDrifted(server: McpServer, kind: PinnedKind, ids: readonly string[]): McpServer {
  if (!server.pinned) return server;
  const mark = <T extends PinnedItem>(item: T): T =>
    ids.includes(pinnedId(kind, item)) ? { ...item, status: 'drifted' } : item;
  const items = (server.pinned[kind] as readonly PinnedItem[] | undefined ?? []).map(mark);
  return { ...server, pinned: { ...server.pinned, [kind]: items } };
}
