/** A walk of many pages over one version of the tree: the first page pins a snapshot if more follow, the others read it. */

import * as v from 'valibot';
import { PinnaceError } from '../base/errors.ts';
import { sha256Sync } from '../base/hash.ts';
import type { Payload } from './node-store.ts';
import { byteLength, canonicalJson, type Projection } from './properties.ts';
import type { Cursor, Layout } from './sequence.ts';
import { Reader } from './snapshots.ts';
import { conflict, cursorOf, slotOf, versionOf } from './structure.ts';
import { type CallContext, maxNestedDepth, type Output, type Shape, type TreeLimits } from './tool-spec.ts';
import type { ViewRow } from './tree.ts';
import type { View } from './view.ts';

export interface Step {
  readonly reader: Reader;
  readonly root: Cursor;
  readonly next: Cursor;
  /** What the answer says of version and next page. */
  end(next: Cursor | undefined): Output;
}

interface WalkOptions {
  readonly tool: string;
  /** All arguments but the page's token and size. */
  readonly args: unknown;
  readonly rootNodeId: string;
  readonly view: View;
  readonly pageToken: string | undefined;
  readonly start: (root: Cursor, reader: Reader) => Cursor;
}

/** Starts or continues a walk. @throws PinnaceError `conflict` when the snapshot was evicted. */
export function walk(context: CallContext, options: WalkOptions): Step {
  const { tool, args, pageToken } = options;
  const key: WalkKey = { tool, agentId: context.agentId, args };
  return pageToken === undefined ? startWalk(context, key, options) : resume(context, key, pageToken);
}

function startWalk(context: CallContext, key: WalkKey, { rootNodeId, view, start }: WalkOptions): Step {
  const { core, session, now } = context;
  const version = versionOf(core, session);
  const reader = new Reader(core, { view });
  const root = cursorOf(core, slotOf(core, rootNodeId));
  return {
    reader,
    root,
    next: start(root, reader),
    end(next) {
      if (!next) return { version };
      const { id } = core.snapshots.take(view, { rev: core.rev, version, now: now() });
      return {
        version,
        latestVersion: version,
        pageToken: writePageToken(key, { epoch: core.epoch, snapshotId: id, root, next }),
      };
    },
  };
}

function resume(context: CallContext, key: WalkKey, pageToken: string): Step {
  const { core, session, now } = context;
  const place = readPageToken(key, pageToken);
  const { epoch, snapshotId, root, next } = place;
  const latestVersion = versionOf(core, session);
  // Another open tree, as the one before a restart, may have a snapshot of the same name.
  const snapshot = epoch === core.epoch ? core.snapshots.get(snapshotId, now()) : undefined;
  if (!snapshot) {
    throw conflict('Cannot continue the walk: its snapshot is gone; start anew without the page token', {
      reason: 'snapshot_gone',
      version: latestVersion,
      hint: 'restart',
    });
  }
  checkPlaces(snapshot.view.layout, place);
  const { version } = snapshot;
  return {
    reader: new Reader(core, snapshot),
    root,
    next,
    end: (more) => ({
      version,
      latestVersion,
      ...(more && { pageToken: writePageToken(key, { ...place, next: more }) }),
    }),
  };
}

const TokenPlace = v.tuple([
  v.pipe(v.number(), v.integer(), v.minValue(0)),
  v.pipe(v.number(), v.integer(), v.minValue(0)),
]);

/**
 * What a token holds: the tool, a digest of the other arguments, the tree's epoch, the snapshot, the root's place and the next row's.
 * Snapshot ids count per open tree, so the epoch says whose they are; a token without one is of an older release.
 */
const TokenContent = v.strictObject({
  k: v.string(),
  q: v.string(),
  e: v.optional(v.string()),
  s: v.string(),
  r: TokenPlace,
  c: TokenPlace,
});

/** Where a walk continues. */
interface Walk {
  /** The open tree that holds the snapshot; `undefined` in a token of an older release. */
  readonly epoch: string | undefined;
  readonly snapshotId: string;
  readonly root: Cursor;
  readonly next: Cursor;
}

/** Which walk: a token serves only the same tool, agent and arguments. */
interface WalkKey {
  readonly tool: string;
  readonly agentId: string;
  /** All arguments but the page's token and size. */
  readonly args: unknown;
}

function writePageToken(key: WalkKey, { epoch, snapshotId, root, next }: Walk): string {
  const places = { r: [root.pos, root.index], c: [next.pos, next.index] };
  const text = JSON.stringify({ k: key.tool, q: digestOf(key), e: epoch, s: snapshotId, ...places });
  return btoa(text).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

/** Reads a token. @throws PinnaceError `invalid_argument` for a token that is none, or belongs to a walk with other arguments. */
function readPageToken(key: WalkKey, token: string): Walk {
  const parsed = v.safeParse(TokenContent, decode(token));
  if (!parsed.success) throw refusedToken('it is not one that a page gave');
  const { k, q, e, s, r, c } = parsed.output;
  if (k !== key.tool || q !== digestOf(key)) {
    throw refusedToken('it belongs to a call with other arguments; repeat those');
  }
  return { epoch: e, snapshotId: s, root: { pos: r[0], index: r[1] }, next: { pos: c[0], index: c[1] } };
}

/** Refuses a place outside the snapshot. */
function checkPlaces({ count, order, lengths }: Layout, { root, next }: Walk): void {
  for (const { pos, index } of [root, next]) {
    const length = pos < count ? lengths[order[pos] ?? -1] : undefined;
    if (length === undefined || index >= length) throw refusedToken('it is not one that a page gave');
  }
}

function decode(token: string): unknown {
  try {
    return JSON.parse(atob(token.replaceAll('-', '+').replaceAll('_', '/')));
  } catch {
    return undefined;
  }
}

function digestOf({ tool, agentId, args }: WalkKey): string {
  return sha256Sync(canonicalJson([tool, agentId, args])).slice(0, 16);
}

function refusedToken(why: string): PinnaceError {
  return new PinnaceError('invalid_argument', `Cannot use the page token: ${why}, or leave it out to start anew`, {
    details: { reason: 'invalid_page_token' },
  });
}

/** A row of a page, before it is shaped. */
interface PageRow extends ViewRow {
  readonly label: string;
}

export interface Page {
  readonly slots: readonly number[];
  readonly depths: readonly number[];
  readonly expanded: readonly boolean[];
}

/** Writes a page in a shape, with as many of its slots as the bytes allow; returns their number, too. */
export function writePage(
  reader: Reader,
  page: Page,
  { projection, limits, shape, envelope }: {
    readonly projection: Projection;
    readonly limits: TreeLimits;
    readonly shape: Shape;
    readonly envelope: Output;
  },
): { readonly output: Output; readonly count: number } {
  const make = (i: number): PageRow => {
    const record = reader.record(page.slots[i]!); // safe: an index of the page
    return {
      nodeId: reader.id(page.slots[i]!), // safe: as above
      parentId: reader.parentId(record),
      payloadType: reader.typeName(record),
      depth: page.depths[i] ?? 0,
      isExpanded: page.expanded[i] ?? false,
      childrenCount: record.childCount,
      label: shape === 'outline' ? reader.label(record).slice(0, 200) : '',
      payload: shape === 'outline' ? {} : projection.pick(record.payload, limits),
    };
  };
  return fitAnswer(page.slots.map((_, i) => i), {
    room: roomOf(limits),
    make,
    sizeOf: (row) => rowSize(row, shape),
    shorten(i, bytes) {
      const row = make(i);
      return { ...row, payload: shortened(row.payload, bytes) };
    },
    write: (rows) => ({ ...envelope, ...shaped(rows, shape, projection) }),
  });
}

/** About what the row takes in the answer, a little less rather than more: the whole answer is measured in the end. */
function rowSize(row: PageRow, shape: Shape): number {
  if (shape === 'outline') return row.nodeId.length + row.label.length + 4;
  if (shape === 'columns') return bytesOf([row.nodeId, ...Object.values(row.payload)]);
  const { label: _, ...fields } = row;
  return bytesOf(fields);
}

/** Returns the rows in the shape, under the name of the shape. */
function shaped(
  rows: readonly PageRow[],
  shape: Shape,
  projection: Projection,
): Readonly<Record<string, unknown>> {
  switch (shape) {
    case 'rows':
      return { rows: rows.map((row) => fieldsOf(row, projection)) };
    case 'columns':
      return columns(rows, projection);
    case 'outline':
      return { outline: outline(rows) };
    case 'nested':
      return { nested: nested(rows, projection) };
    default:
      return shape satisfies never;
  }
}

/** The fields of a node that every answer shows, unless they are excluded by name. */
const nodeFields = ['nodeId', 'parentId', 'payloadType', 'depth', 'isExpanded', 'childrenCount'] as const;

export function fieldsOf(row: Omit<PageRow, 'label'>, projection: Projection): Readonly<Record<string, unknown>> {
  const fields: Record<string, unknown> = {};
  for (const field of nodeFields) if (projection.shows(field)) fields[field] = row[field];
  return { ...fields, payload: row.payload };
}

/** The parent follows from order and depth, so it is left out; the payload type too where all rows have the same. */
function columns(rows: readonly PageRow[], projection: Projection): Readonly<Record<string, unknown>> {
  const types = new Set(rows.map(({ payloadType }) => payloadType));
  const fields = nodeFields.filter((field) =>
    projection.shows(field) && field !== 'parentId' && !(field === 'payloadType' && types.size === 1)
  );
  const properties = [...new Set(rows.flatMap(({ payload }) => Object.keys(payload)))];
  return {
    ...(types.size === 1 && { payloadType: [...types][0] }),
    columns: [...fields, ...properties.map((property) => `payload.${property}`)],
    rows: rows.map((row) => [
      ...fields.map((field) => row[field]),
      ...properties.map((property) => (Object.hasOwn(row.payload, property) ? row.payload[property] : null)),
    ]),
  };
}

/** One line per row: `+` is collapsed, `-` expanded, `.` has no children; then label, id and number of children. */
function outline(rows: readonly PageRow[]): string {
  const top = rows.reduce((least, { depth }) => Math.min(least, depth), Infinity);
  return rows.map(({ nodeId, label, depth, isExpanded, childrenCount }) => {
    const sign = childrenCount === 0 ? '.' : isExpanded ? '-' : '+';
    const count = childrenCount === 0 ? '' : ` ${childrenCount}`;
    const name = label === '' ? '' : `${JSON.stringify(label).slice(1, -1)} `;
    return `${'  '.repeat(Math.min(depth - top, maxNestedDepth))}${sign} ${name}[${nodeId}]${count}`;
  }).join('\n');
}

type Nested = Record<string, unknown> & { children?: Nested[] };

/** Rows inside the nearest row above them; rows beyond the depth limit of a nested view are beside it. */
function nested(rows: readonly PageRow[], projection: Projection): readonly Nested[] {
  const top: Nested[] = [];
  const path: { readonly depth: number; readonly node: Nested }[] = [];
  for (const row of rows) {
    while (path.length > 0 && path.at(-1)!.depth >= row.depth) path.pop(); // safe: the path is not empty
    const parent = path.at(-1)?.node;
    const node: Nested = { ...fieldsOf(row, projection) };
    if (parent) (parent.children ??= []).push(node);
    else top.push(node);
    if (path.length < maxNestedDepth) path.push({ depth: row.depth, node });
  }
  return top;
}

/** The bytes that an answer's content may take: what the tools add (version, page token) has room beside it. */
export function roomOf({ responseBytes }: TreeLimits): number {
  return responseBytes - Math.min(1024, Math.floor(responseBytes / 4));
}

/** The bytes of data as JSON text. */
export function bytesOf(data: unknown): number {
  return byteLength(JSON.stringify(data) ?? '');
}

/** Whether data as JSON text takes more bytes. For unchecked data: walks with a stack and ends also in a cycle. */
export function isLargerThan(data: unknown, most: number): boolean {
  let left = most;
  const stack: unknown[] = [data];
  while (stack.length > 0 && left >= 0) {
    const value = stack.pop();
    left -= 1;
    if (typeof value === 'string') left -= value.length > left ? value.length : byteLength(value);
    if (typeof value !== 'object' || value === null) continue;
    for (const [name, item] of Object.entries(value)) {
      left -= Array.isArray(value) ? 1 : name.length + 3;
      stack.push(item);
      if (left < 0) return true;
    }
  }
  return left < 0;
}

/** How the items of an answer are made and written. */
interface Fitting<Source, Item> {
  readonly room: number;
  readonly make: (source: Source) => Item;
  readonly sizeOf: (item: Item) => number;
  readonly shorten: (source: Source, bytes: number) => Item;
  readonly write: (items: readonly Item[]) => Output;
}

/** Writes as many items as fit into the room, but one at least. Returns the answer's content and their number. */
export function fitAnswer<Source, Item>(
  sources: readonly Source[],
  fitting: Fitting<Source, Item>,
): { readonly output: Output; readonly count: number } {
  const { room, shorten, write } = fitting;
  const items = firstItems(sources, fitting);
  let output = write(items);
  for (let bytes = bytesOf(output); bytes > room && items.length > 1; bytes = bytesOf(output)) {
    items.length = Math.max(1, Math.min(items.length - 1, Math.floor((items.length * room) / bytes)));
    output = write(items);
  }
  const [first] = sources;
  if (first === undefined || bytesOf(output) <= room) return { output, count: items.length };
  for (let share = room - bytesOf(write([shorten(first, 0)])); bytesOf(output) > room && share > 16; share /= 2) {
    output = write([shorten(first, share)]);
  }
  return { output, count: items.length };
}

function firstItems<Source, Item>(sources: readonly Source[], { room, make, sizeOf }: Fitting<Source, Item>): Item[] {
  const items: Item[] = [];
  let bytes = 0;
  for (const source of sources) {
    const item = make(source);
    bytes += sizeOf(item);
    if (bytes > room && items.length > 0) break;
    items.push(item);
  }
  return items;
}

/** The first elements of a list that fit into the bytes. */
export function fitList<T>(list: readonly T[], bytes: number): readonly T[] {
  let left = bytes - 2;
  const end = list.findIndex((item) => (left -= bytesOf(item) + 1) < 0);
  return end < 0 ? list : list.slice(0, end);
}

/** The replacement of a value that was cut. */
interface Cut {
  readonly $truncated: true;
  readonly bytes: number;
  readonly text?: string;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Shortens a payload to the bytes: what does not fit is replaced by a mark that says how large it is; then properties are left out. */
export function shortened(payload: Payload, bytes: number): Payload {
  const short: Record<string, unknown> = {};
  const names = Object.keys(payload);
  let left = bytes - 40; // for the mark of what is left out
  for (const [i, name] of names.entries()) {
    const value = fitValue(payload[name], left - byteLength(JSON.stringify(name)) - 4);
    if (value === undefined) return { ...short, $truncated: true, $omitted: names.length - i };
    short[name] = value;
    left -= bytesOf({ [name]: value });
  }
  return short;
}

/** The value, or a mark in its place; `undefined` when there is no room for either. */
function fitValue(value: unknown, bytes: number): unknown {
  if (bytes < 0) return undefined;
  const size = bytesOf(value);
  if (size <= bytes) return value;
  const mark: Cut = { $truncated: true, bytes: size };
  if (typeof value === 'string') {
    const text = decoder.decode(encoder.encode(value).subarray(0, bytes / 2)).replace(/\uFFFD+$/, '');
    if (bytesOf({ ...mark, text }) <= bytes) return { ...mark, text };
  }
  return bytesOf(mark) <= bytes ? mark : undefined;
}
