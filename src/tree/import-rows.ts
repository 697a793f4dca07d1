/** Reads what an import brings: nested or flat, as text or data, into flat rows; with a list of what is wrong. No recursion. */

import { isRecord } from '../base/is-record.ts';
import type { Issue } from '../base/parse.ts';
import { isLargerThan } from './answer-pages.ts';
import { byteLength } from './properties.ts';
import { maxNestedDepth } from './tool-spec.ts';

export interface ImportRow {
  /** Its position in the document, as a JSON pointer. */
  readonly path: string;
  readonly nodeId: unknown;
  readonly parentId: string | null;
  readonly payloadType: unknown;
  readonly payload: unknown;
  readonly isExpanded: unknown;
  /** Children that the document says there are but does not hold. */
  readonly isCollapsed: boolean;
  /** Names beside these that no row has. */
  readonly unknown: readonly string[];
}

export interface ImportDocument {
  readonly rows: readonly ImportRow[];
  readonly rootNodeId?: unknown;
  readonly defaultExpanded?: unknown;
  readonly includedProperties?: unknown;
  readonly excludedProperties?: unknown;
  readonly format: 'nested' | 'flat';
  /** Names around the content that no view has. */
  readonly unknown: readonly string[];
}

interface ImportLimits {
  readonly importBytes: number;
  readonly maxNodes: number;
}

type Data = Readonly<Record<string, unknown>>;

/** Reads the document; returns an issue where it cannot be read at all. `isSelf` knows the types whose payload is the node. */
export function readDocument(
  viewJson: unknown,
  { limits, isSelf }: { readonly limits: ImportLimits; readonly isSelf: (payloadType: unknown) => boolean },
): ImportDocument | Issue {
  const data = viewOf(typeof viewJson === 'string' ? parseText(viewJson, limits) : checkedSize(viewJson, limits));
  if (data instanceof Error) return { path: '', message: data.message };
  if (Array.isArray(data)) return withRows({}, flatRows(data, limits), 'flat');
  if (!isRecord(data)) return { path: '', message: 'must be a view as export_view gives it' };
  if (Array.isArray(data.rows)) return withRows(data, flatRows(data.rows, limits), 'flat');
  if ('View' in data) {
    return withRows(data, nestedRows({ node: data.View, path: '/View' }, { limits, isSelf }), 'nested');
  }
  return withRows({}, nestedRows({ node: data, path: '' }, { limits, isSelf }), 'nested');
}

/** The fields beside the view in an answer of `export_view`. */
const answerFields = ['format', 'view', 'version', 'replayed'];
const envelopeFields = ['RootNodeId', 'IncludedProperties', 'ExcludedProperties', 'DefaultExpanded', 'View', 'rows'];
/** Depth and number of children follow from the other rows; `get_view` shows them. */
const rowFields = ['nodeId', 'parentId', 'payloadType', 'payload', 'isExpanded', 'depth', 'childrenCount'];

/** The view, where the whole answer of `export_view` was given. */
function viewOf(data: unknown): unknown {
  if (!isRecord(data) || !('view' in data) || !('format' in data)) return data;
  return unknownIn(data, answerFields).length === 0 ? data.view : data;
}

function unknownIn(data: Data, known: readonly string[]): readonly string[] {
  return Object.keys(data).filter((name) => !known.includes(name));
}

function withRows(data: Data, rows: readonly ImportRow[] | Issue, format: 'nested' | 'flat'): ImportDocument | Issue {
  if (!Array.isArray(rows)) return rows as Issue; // safe: the other member of the union
  const { RootNodeId, DefaultExpanded, IncludedProperties, ExcludedProperties } = data;
  return {
    rows,
    format,
    unknown: unknownIn(data, envelopeFields),
    rootNodeId: RootNodeId ?? rows[0]?.nodeId,
    defaultExpanded: DefaultExpanded,
    includedProperties: IncludedProperties,
    excludedProperties: ExcludedProperties,
  };
}

function parseText(text: string, { importBytes }: ImportLimits): unknown {
  if (text.length > importBytes || byteLength(text) > importBytes) {
    return new Error(`is larger than ${importBytes} bytes`);
  }
  try {
    return JSON.parse(text.replace(/^\uFEFF/, '')); // editors of Windows write a byte order mark
  } catch {
    return new Error('is not JSON');
  }
}

function checkedSize(data: unknown, { importBytes }: ImportLimits): unknown {
  return isLargerThan(data, importBytes) ? new Error(`is larger than ${importBytes} bytes`) : data;
}

function flatRows(rows: readonly unknown[], { maxNodes }: ImportLimits): readonly ImportRow[] | Issue {
  if (rows.length > maxNodes) return { path: '/rows', message: `has more than ${maxNodes} nodes` };
  return rows.map((row, i) => {
    const data = isRecord(row) ? row : {};
    return {
      path: `/rows/${i}`,
      nodeId: data.nodeId,
      parentId: typeof data.parentId === 'string' ? data.parentId : null,
      payloadType: data.payloadType,
      payload: data.payload,
      isExpanded: data.isExpanded,
      isCollapsed: false,
      unknown: unknownIn(data, rowFields),
    };
  });
}

interface Pending {
  readonly node: unknown;
  readonly path: string;
  readonly parentId: string | null;
  readonly depth: number;
}

function nestedRows(
  root: { readonly node: unknown; readonly path: string },
  { limits, isSelf }: { readonly limits: ImportLimits; readonly isSelf: (payloadType: unknown) => boolean },
): readonly ImportRow[] | Issue {
  const rows: ImportRow[] = [];
  const stack: Pending[] = [{ ...root, parentId: null, depth: 0 }];
  for (let next = stack.pop(); next; next = stack.pop()) {
    const { path, parentId, depth } = next;
    if (depth >= maxNestedDepth) {
      return { path: path.slice(0, 200), message: `is deeper than ${maxNestedDepth} levels; use flat rows` };
    }
    if (rows.length + stack.length >= limits.maxNodes) {
      return { path: '', message: `has more than ${limits.maxNodes} nodes` };
    }
    const node = isRecord(next.node) ? next.node : {};
    const children = node.Children ?? [];
    if (!Array.isArray(children)) return { path: `${path}/Children`, message: 'must be a list' };
    rows.push(nestedRow(node, { path, parentId, isSelf: isSelf(node.PayloadType), hasChildren: children.length > 0 }));
    const nodeId = typeof node.NodeId === 'string' ? node.NodeId : '';
    for (let i = children.length - 1; i >= 0; i--) {
      stack.push({ node: children[i], path: `${path}/Children/${i}`, parentId: nodeId, depth: depth + 1 });
    }
  }
  return rows;
}

function nestedRow(
  node: Data,
  { path, parentId, isSelf, hasChildren }: {
    readonly path: string;
    readonly parentId: string | null;
    readonly isSelf: boolean;
    readonly hasChildren: boolean;
  },
): ImportRow {
  const { NodeId, PayloadType, Payload, IsExpanded, ChildrenCount, Children: _, ...own } = node;
  return {
    path,
    nodeId: NodeId,
    parentId,
    payloadType: PayloadType,
    payload: isSelf ? own : Payload,
    isExpanded: IsExpanded,
    unknown: isSelf ? [] : Object.keys(own),
    isCollapsed: !hasChildren && typeof ChildrenCount === 'number' && ChildrenCount > 0,
  };
}
