/** The shapes of a page: rows, columns, an outline, or nested. */

import { maxNestedDepth, type TreeLimits } from './limits.ts';
import type { Payload } from './node-store.ts';
import { byteLength, type Projection } from './projection.ts';
import { labelOf, type Reader } from './reader.ts';

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

/** Where the slots of a page stand, and what to show of them. */
export interface Page {
  readonly slots: readonly number[];
  readonly depths: readonly number[];
  readonly expanded: readonly boolean[];
}

/** Makes rows of as many slots as the bytes allow, but of one at least. */
export function pageRows(
  reader: Reader,
  page: Page,
  { projection, limits, shape }: {
    readonly projection: Projection;
    readonly limits: TreeLimits;
    readonly shape: Shape;
  },
): PageRow[] {
  const rows: PageRow[] = [];
  let bytes = 0;
  for (const [i, slot] of page.slots.entries()) {
    const record = reader.record(slot);
    const payload = projection.pick(record.payload, limits);
    const row: PageRow = {
      nodeId: reader.id(slot),
      parentId: reader.parentId(record),
      payloadType: reader.typeName(record),
      depth: page.depths[i] ?? 0,
      isExpanded: page.expanded[i] ?? false,
      childrenCount: record.childCount,
      label: shape === 'outline' ? labelOf(reader, record).slice(0, 200) : '',
      payload,
    };
    bytes += bytesOf(row, shape);
    if (bytes > limits.responseBytes && i > 0) break;
    rows.push(bytes > limits.responseBytes ? { ...row, payload: { $truncated: true, bytes } } : row);
  }
  return rows;
}

/** What the row takes on the wire, a little more rather than less. */
function bytesOf(row: PageRow, shape: Shape): number {
  if (shape === 'outline') return byteLength(row.nodeId) + byteLength(row.label) + row.depth * 2 + 24;
  const { label: _, ...fields } = row;
  return byteLength(JSON.stringify(shape === 'columns' ? [row.nodeId, row.payload] : fields)) + 32;
}

/** Gives the rows in the shape, under the name of the shape. */
export function shaped(
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

/** Rows inside the nearest row above them; what is deeper than a nested view may be stands beside it. */
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
