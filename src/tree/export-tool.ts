/** `export_view`: a subtree as data, to be imported again: nested as the agent sees it, or flat and complete. */

import { PinnaceError } from '../base/errors.ts';
import { bytesOf } from './answer-pages.ts';
import { createProjection, type Projection } from './properties.ts';
import { blockAt, depthAt, sizeOf, subtree } from './sequence.ts';
import { Reader } from './snapshots.ts';
import { cursorOf, slotOf } from './structure.ts';
import { ExportView } from './tool-input.ts';
import { type CallContext, maxNestedDepth, reads, type ToolSpec, toolSpec, viewOf } from './tool-spec.ts';
import type { VisibleRows } from './view.ts';

export const exportTool: ToolSpec = toolSpec({
  name: 'export_view',
  description:
    'Gives a subtree as data that import_view reads. "nested" (what is visible in your view, with properties as your view ' +
    'filters them) or "flat" (everything). "includeViewRoot": false leaves out what surrounds the root.',
  annotations: reads,
  kind: 'export',
  input: ExportView,
  targets: ({ rootNodeId }) => [rootNodeId],
  run(context, { rootNodeId, includeViewRoot = true, format = 'nested' }) {
    const { session } = context;
    const view = viewOf(session);
    const reader = new Reader(context.core, { view });
    const content = format === 'flat'
      ? { rows: flatRows(context, reader, rootNodeId) }
      : { View: nestedView(context, reader, rootNodeId) };
    const envelope = {
      RootNodeId: rootNodeId,
      IncludedProperties: format === 'flat' ? [] : session.filter.includedProperties,
      ExcludedProperties: format === 'flat' ? [] : session.filter.excludedProperties,
      DefaultExpanded: view.defaultExpanded,
    };
    if (includeViewRoot) return { format, view: { ...envelope, ...content } };
    return { format, view: content.View ?? content.rows };
  },
});

interface FlatRow {
  readonly nodeId: string;
  readonly parentId: string | null;
  readonly payloadType: string;
  readonly payload: unknown;
  readonly isExpanded: boolean;
}

function flatRows({ core, limits }: CallContext, reader: Reader, rootNodeId: string): FlatRow[] {
  const { layout, view } = reader;
  const span = subtree(layout, cursorOf(core, slotOf(core, rootNodeId)));
  if (sizeOf(layout, span) > limits.maxNodes) {
    throw tooLarge(`has more than ${limits.maxNodes} nodes; export smaller parts`);
  }
  const projection = createProjection({ includedProperties: [], excludedProperties: [] });
  const rows: FlatRow[] = [];
  const meter = createMeter(limits.importBytes);
  for (let pos = span.start.pos; pos <= span.end.pos && pos < layout.count; pos++) {
    const { slots } = layout.blocks[blockAt(layout, pos)]!; // safe: a block of the layout
    const stop = pos === span.end.pos ? span.end.index : slots.length;
    for (let index = pos === span.start.pos ? span.start.index : 0; index < stop; index++) {
      const record = reader.record(slots[index]!); // safe: index is below the length
      const row: FlatRow = {
        nodeId: reader.id(slots[index]!), // safe: as above
        parentId: rows.length === 0 ? null : reader.parentId(record),
        payloadType: reader.typeName(record),
        payload: projection.pick(record.payload),
        isExpanded: view.isExpanded({ pos, index }),
      };
      meter(row);
      rows.push(row);
    }
  }
  return rows;
}

interface NestedNode {
  readonly [name: string]: unknown;
  Children?: NestedNode[];
}

function nestedView({ core, session, limits }: CallContext, reader: Reader, rootNodeId: string): NestedNode {
  const { layout, view } = reader;
  const range = view.below(cursorOf(core, slotOf(core, rootNodeId)));
  const rows = view.rows(range, { from: range.start, limit: limits.nestedNodes });
  if (rows.next) throw tooLarge(`shows more than ${limits.nestedNodes} nodes; use "format": "flat"`);
  const meter = createMeter(limits.importBytes);
  return nest(reader, rows, { projection: createProjection(session.filter), top: depthAt(layout, range.start), meter });
}

function nest(
  reader: Reader,
  rows: VisibleRows,
  { projection, top, meter }: { projection: Projection; top: number; meter: (node: unknown) => void },
): NestedNode {
  const path: NestedNode[] = [];
  for (const [i, slot] of rows.slots.entries()) {
    const depth = (rows.depths[i] ?? 0) - top;
    if (depth >= maxNestedDepth) throw tooLarge(`is deeper than ${maxNestedDepth} levels; use "format": "flat"`);
    const node = nodeOf(reader, slot, { projection, isExpanded: rows.expanded[i] ?? false });
    meter(node);
    path.length = depth;
    const parent = path.at(-1);
    if (parent) (parent.Children ??= []).push(node);
    path.push(node);
  }
  return path[0]!; // safe: the root is visible from itself
}

function nodeOf(
  reader: Reader,
  slot: number,
  { projection, isExpanded }: { readonly projection: Projection; readonly isExpanded: boolean },
): NestedNode {
  const record = reader.record(slot);
  const payload = projection.pick(record.payload);
  return {
    NodeId: reader.id(slot),
    PayloadType: reader.typeName(record),
    ...(reader.type(record).selfPayload ? payload : { Payload: payload }),
    IsExpanded: isExpanded,
    ChildrenCount: record.childCount,
  };
}

/** Counts what an export takes; an import would refuse more. */
function createMeter(most: number): (node: unknown) => void {
  let left = most;
  return (node) => {
    left -= bytesOf(node) + 1;
    if (left < 0) throw tooLarge(`takes more than ${most} bytes; export smaller parts`);
  };
}

function tooLarge(why: string): PinnaceError {
  return new PinnaceError('invalid_argument', `Cannot export the view: it ${why}`, {
    details: { reason: 'too_large' },
  });
}
