/** Everything of a page as one document: out, what it would change here, and in. */

import * as v from 'valibot';
import { fromData, PinnaceError } from '../../../src/base/errors.ts';
import type { Key } from '../../../src/base/key.ts';
import type { Change, Entry, Storage } from '../../../src/contracts/storage.ts';
import type { CatalogExport, ImportReport } from '../../../src/registry/index.ts';
import type { Answer } from '../../control/answer.ts';
import { formatOf, type Place, places, upgrade } from '../../storage/formats.ts';
import { fromPortable, toPortable } from './portable.ts';

const format = 'pinnace-page';
const formatVersion = 2;

const PortableEntry = v.tuple([v.pipe(v.array(v.union([v.string(), v.number()])), v.minLength(1)), v.unknown()]);

/** The document. Neither keys nor secrets are in it. */
const Whole = v.object({
  format: v.literal(format),
  formatVersion: v.picklist([1, formatVersion]),
  exportedAt: v.string(),
  /** The formats of stored data, by place; 1 when absent. */
  formats: v.optional(v.record(v.string(), v.pipe(v.number(), v.integer(), v.minValue(1))), {}),
  settings: v.record(v.string(), v.unknown()),
  catalog: v.unknown(),
  rooms: v.record(v.string(), v.array(PortableEntry)),
});
type Whole = v.InferOutput<typeof Whole>;

/** What an import would do, or has done, with a room. */
export interface RoomChange {
  readonly title: string;
  /** Items, or entries where the room is one whole. */
  readonly added: number;
  readonly replaced: number;
  readonly same: number;
  /** What is here and stays; what is here and goes. */
  readonly kept: number;
  readonly removed: number;
}

/** What an import would do. */
export interface WholeReport {
  readonly exportedAt: string;
  readonly rooms: readonly RoomChange[];
  /** The names of settings that would be others, with their values. */
  readonly settings: readonly { readonly name: string; readonly value: unknown }[];
  /** Agents, tools and their like. */
  readonly catalog: ImportReport | undefined;
}

/** What of the page is read and written. */
export interface WholeOptions {
  readonly storageOf: (database: Room['database']) => Storage;
  readonly settings: SettingsStore;
  readonly registry: {
    exportAll(): Promise<Answer<CatalogExport>>;
    importAll(data: unknown, dryRun: boolean): Promise<Answer<ImportReport>>;
  };
  /** Stops all other writers to the databases. */
  readonly quiet: () => Promise<void>;
  readonly now: () => Date;
}

/** The page's small settings, by their names. */
export interface SettingsStore {
  all(): Readonly<Record<string, unknown>>;
  write(name: string, value: unknown): void;
}

/** Returns everything, as data that JSON takes. Rejects as the storage and the registry do. */
export async function exportWhole({ storageOf, settings, registry, now }: WholeOptions): Promise<Whole> {
  const found: Record<string, [(string | number)[], unknown][]> = {};
  for (const room of rooms) {
    const pairs = await readRoom(storageOf(room.database), room);
    found[room.id] = pairs.map(({ key, value }) => [[...key], toPortable(value)]);
  }
  const catalog = valueOf(await registry.exportAll());
  const formats = Object.fromEntries(places.map((place) => [place, formatOf(place)]));
  const exportedAt = now().toISOString();
  return { format, formatVersion, exportedAt, formats, settings: settings.all(), catalog, rooms: found };
}

/**
 * Reads a document.
 *
 * @throws PinnaceError `invalid_argument` where it is none, or of another version.
 */
export function parseWhole(text: string): Whole {
  const data = readJson(text);
  const parsed = v.safeParse(Whole, data);
  if (parsed.success && !places.some((place) => formatIn(parsed.output, place) > formatOf(place))) {
    return { ...parsed.output, settings: settingsOf(parsed.output) };
  }
  const isOurs = typeof data === 'object' && data !== null && 'format' in data && data.format === format;
  throw refused(
    parsed.success || (isOurs && 'formatVersion' in data && Number(data.formatVersion) > formatVersion)
      ? 'a newer version of this page wrote it; reload to get that version'
      : 'it was not exported from this page',
  );
}

/** Returns what the document would change, and changes nothing. */
export async function lookAtWhole(whole: Whole, { storageOf, settings, registry }: WholeOptions): Promise<WholeReport> {
  const here = settings.all();
  return {
    exportedAt: whole.exportedAt,
    rooms: await Promise.all(
      rooms.filter(({ id }) => Object.hasOwn(whole.rooms, id)).map(async (room) =>
        compare(room, await readRoom(storageOf(room.database), room), incoming(whole, room))
      ),
    ),
    settings: Object.entries(whole.settings)
      .filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(here[name]))
      .map(([name, value]) => ({ name, value })),
    catalog: whole.catalog === undefined ? undefined : valueOf(await registry.importAll(whole.catalog, true)),
  };
}

/** Makes the changes. The page has to be loaded anew afterwards. Rejects where the storage refuses; the room then is as before. */
export async function importWhole(whole: Whole, { storageOf, settings, registry, quiet }: WholeOptions): Promise<void> {
  const arriving = rooms.map((room) => ({ room, pairs: incoming(whole, room) })); // what cannot be read stops here
  if (whole.catalog !== undefined) valueOf(await registry.importAll(whole.catalog, false));
  await quiet();
  for (const { room, pairs } of arriving) {
    if (!Object.hasOwn(whole.rooms, room.id)) continue;
    const storage = storageOf(room.database);
    const items = new Set(pairs.map(({ key }) => itemOf(room, key)));
    const before = (await readRoom(storage, room)).filter(({ key }) =>
      room.joined === 'whole' || items.has(itemOf(room, key))
    );
    await replaceEntries(storage, before, pairs);
  }
  for (const [name, value] of Object.entries(whole.settings)) settings.write(name, value);
}

/** The entries of a room in the document; others than a room of this kind has are left out. */
function incoming(whole: Whole, { id, kinds, database }: Room): Pair[] {
  const entries = Object.hasOwn(whole.rooms, id) ? whole.rooms[id] ?? [] : [];
  const own = entries.filter(([[kind]]) => kinds.includes(String(kind)));
  try {
    return own.map(([key, value]) => {
      const pair = { key, value: fromPortable(value) };
      return { key, value: upgraded(database, pair, formatIn(whole, database)) };
    });
  } catch (error) {
    throw refused('one of its values cannot be read', error);
  }
}

function formatIn({ formats }: Whole, place: Place): number {
  return formats[place] ?? 1;
}

/** What no step can change stays as it is, as in the browser. */
function upgraded(place: Place, pair: Pair, from: number): unknown {
  try {
    return upgrade(place, pair, from);
  } catch {
    return pair.value;
  }
}

function settingsOf(whole: Whole): Whole['settings'] {
  const from = formatIn(whole, 'settings');
  const pairs = Object.entries(whole.settings).map(([name, value]) => ({ key: [name], value }));
  return Object.fromEntries(pairs.map((pair) => [String(pair.key[0]), upgraded('settings', pair, from)]));
}

function compare(room: Room, here: readonly Pair[], there: readonly Pair[]): RoomChange {
  const [before, after] = [itemsOf(room, here), itemsOf(room, there)];
  const both = [...after.keys()].filter((item) => before.has(item));
  const same = both.filter((item) => before.get(item) === after.get(item)).length;
  const away = before.size - both.length;
  const stays = room.joined === 'items';
  return {
    title: room.title,
    added: after.size - both.length,
    replaced: both.length - same,
    same,
    kept: stays ? away : 0,
    removed: stays ? 0 : away,
  };
}

/** Every item as text, to be compared; in a room that is one whole, every entry. */
function itemsOf(room: Room, pairs: readonly Pair[]): Map<string, string> {
  const items = new Map<string, string>();
  for (const { key, value } of pairs) {
    const item = room.joined === 'items' ? itemOf(room, key) : JSON.stringify(key);
    items.set(item, `${items.get(item) ?? ''}${JSON.stringify([key, toPortable(value)])}\n`);
  }
  return items;
}

function valueOf<T>(answer: Answer<T>): T {
  if (answer.ok) return answer.value;
  throw fromData(answer.error);
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw refused('it is not JSON', error);
  }
}

function refused(why: string, cause?: unknown): PinnaceError {
  return new PinnaceError('invalid_argument', `Cannot import the file: ${why}`, {
    ...(cause !== undefined && { cause }),
  });
}

/** The entries of a room, and how they are written. */
type Pair = Pick<Entry, 'key' | 'value'>;

const pageSize = 200;
const commitSize = 50;

async function readRoom(storage: Storage, { kinds }: Room): Promise<Pair[]> {
  const all: Pair[] = [];
  for (const kind of kinds) all.push(...await readKind(storage, kind));
  return all;
}

/** Writes these entries in the place of those. What was there is put back where a write fails, as on a full disk. */
async function replaceEntries(storage: Storage, before: readonly Pair[], after: readonly Pair[]): Promise<void> {
  const names = new Set(after.map(({ key }) => nameOf(key)));
  const removed = before.filter(({ key }) => !names.has(nameOf(key)));
  try {
    await commit(storage, [...removed.map(({ key }) => ({ key })), ...after]);
  } catch (error) {
    const known = new Set(before.map(({ key }) => nameOf(key)));
    const added = after.filter(({ key }) => !known.has(nameOf(key)));
    await commit(storage, [...added.map(({ key }) => ({ key })), ...before]).catch(() => undefined); // the first error says more
    throw error;
  }
}

async function readKind(storage: Storage, kind: string): Promise<Pair[]> {
  const all: Pair[] = [];
  for (;;) {
    const after = all.at(-1)?.key;
    const page = await storage.list({ prefix: [kind], limit: pageSize, ...(after && { after }) });
    all.push(...page.map(({ key, value }) => ({ key, value })));
    if (page.length < pageSize) return all;
  }
}

async function commit(storage: Storage, changes: readonly Change[]): Promise<void> {
  for (let i = 0; i < changes.length; i += commitSize) await storage.commit(changes.slice(i, i + commitSize));
}

function nameOf(key: Key): string {
  return JSON.stringify(key);
}

/** Part of a database. */
interface Room {
  readonly id: 'chats' | 'runs' | 'tree' | 'knowledge' | 'notes';
  readonly title: string;
  readonly database: Exclude<Place, 'settings'>;
  /** The first parts of its keys. */
  readonly kinds: readonly string[];
  /** `items`: the second part of a key names an item, and items are merged. `whole`: the import replaces everything. */
  readonly joined: 'items' | 'whole';
}

/** Secrets and whatever ends by itself (logs of runs that wait to be replayed, counters, caches) is in none of them. */
const rooms: readonly Room[] = [
  {
    id: 'chats',
    title: 'Chats',
    database: 'pinnace-playground',
    kinds: ['message', 'chat', 'search'],
    joined: 'items',
  },
  { id: 'runs', title: 'Runs', database: 'pinnace-runs', kinds: ['events', 'tools', 'run'], joined: 'items' },
  { id: 'tree', title: 'Tree', database: 'pinnace', kinds: ['tree'], joined: 'whole' },
  {
    id: 'knowledge',
    title: 'Files',
    database: 'pinnace',
    kinds: ['embedding', 'grounding', 'ingest', 'knowledge'],
    joined: 'whole',
  },
  { id: 'notes', title: 'Notes', database: 'pinnace', kinds: ['notes'], joined: 'whole' },
];

/** The item that an entry belongs to. */
function itemOf({ joined }: Room, key: Key): string {
  return joined === 'items' ? String(key[1]) : '';
}
