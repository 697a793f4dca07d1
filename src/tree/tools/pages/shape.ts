/** The shapes of a page: rows, columns, an outline, or nested. */

import { bytesOf, fitAnswer, roomOf, shortened } from './answer-size.ts';
import { maxNestedDepth, type TreeLimits } from '../limits.ts';
import type { Payload } from '../../nodes/node-store.ts';
import type { Projection } from '../../views/projection.ts';
import { labelOf, type Reader } from '../../views/reader.ts';
import type { Output } from '../output.ts';

/** How a page is written. Columns and outlines take a fraction of the bytes of rows. */
export type Shape = 'rows' | 'columns' | 'outline' | 'nested';

/** A row of a page, before it is shaped. */
export interface PageRow {
  readonly nodeId: string;
  readonly parentId: string | null;
  readonly payloadType: string;
  readonly depth: number;
  readonly isExpanded: boolean;
  readonly childrenCount: number;
  readonly label: string;
  readonly payload: Payload;
}

/** The positions of a page's slots, and what to show of them. */
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
      label: shape === 'outline' ? labelOf(reader, record).slice(0, 200) : '',
      payload: shape === 'outline' ? {} : projection.pick(record.payload, limits),
    };
  };
  return fitAnswer(page.slots.map((_, i) => i), {
    room: roomOf(limits),
    make,
    sizeOf: (row) => sizeOf(row, shape),
    shorten(i, bytes) {
      const row = make(i);
      return { ...row, payload: shortened(row.payload, bytes) };
    },
    write: (rows) => ({ ...envelope, ...shaped(rows, shape, projection) }),
  });
}

/** About what the row takes in the answer, a little less rather than more: the whole answer is measured in the end. */
function sizeOf(row: PageRow, shape: Shape): number {
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

/** One row as an object. */
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
