/** The tools that read pages of the tree: `get_node`, `get_view`, `list_children`. */

import { fitAnswer, roomOf, shortened } from './pages/answer-size.ts';
import { childrenIn } from '../nodes/children.ts';
import { cursorOf, slotOf } from '../nodes/structure.ts';
import { flagAt } from '../views/hidden.ts';
import { after, blockAt, type Cursor, depthAt, endOf, slotAt } from '../nodes/layout.ts';
import type { Payload } from '../nodes/node-store.ts';
import { createProjection, type Projection, type PropertyFilter } from '../views/projection.ts';
import { liveReader, type Reader } from '../views/reader.ts';
import type { Session } from './session.ts';
import { viewOf } from './session.ts';
import { fieldsOf, type Page, type Shape, writePage } from './pages/shape.ts';
import { GetNode, GetView, ListChildren } from './tool-input.ts';
import { reads, type ToolSpec, toolSpec } from './tool-spec.ts';
import type { CallContext } from './caller.ts';
import type { Output } from './output.ts';
import { hiddenAt } from '../views/hidden.ts';
import { visibleRows } from '../views/visible.ts';
import { type Step, walk } from './pages/walk.ts';

const getNode = toolSpec({
  name: 'get_node',
  description:
    'Returns one node with its payload in full. Of one that is too large, values are cut and marked with "$truncated"; ' +
    'read them one by one with "includedProperties".',
  annotations: reads,
  kind: 'read',
  input: GetNode,
  targets: ({ nodeId }) => [nodeId],
  run({ core, session, limits }, { nodeId, ...filter }) {
    const reader = liveReader(core, viewOf(session));
    const cursor = cursorOf(core, slotOf(core, nodeId));
    const projection = createProjection(filterOf(session, filter));
    const slot = slotAt(reader.layout, cursor);
    const record = reader.record(slot);
    const row = {
      nodeId,
      parentId: reader.parentId(record),
      payloadType: reader.typeName(record),
      depth: depthAt(reader.layout, cursor),
      isExpanded: isExpanded(reader, cursor),
      childrenCount: record.childCount,
    };
    const write = (payload: Payload): Output => fieldsOf({ ...row, payload }, projection);
    return fitAnswer([record.payload], {
      room: roomOf(limits) + limits.valueBytes, // any one value can be read in full
      make: (payload) => projection.pick(payload),
      sizeOf: () => 0,
      shorten: (payload, bytes) => shortened(projection.pick(payload), bytes),
      write: ([payload = {}]) => write(payload),
    }).output;
  },
});

const getView = toolSpec({
  name: 'get_view',
  description: 'Gives the visible rows of a subtree, page by page: what is expanded in your view. ' +
    'With "defaultExpanded": true everything that you did not collapse; "depthLimit" 1 gives the root and its children.',
  annotations: reads,
  kind: 'read',
  input: GetView,
  targets: ({ rootNodeId }) => [rootNodeId],
  run(context, input) {
    const {
      rootNodeId,
      includeViewRoot,
      defaultExpanded,
      depthLimit = Infinity,
      pageSize,
      pageToken,
      shape,
      ...filter
    } = input;
    const { session } = context;
    const properties = filterOf(session, filter);
    const view = viewOf(session, defaultExpanded);
    const args = { rootNodeId, includeViewRoot, defaultExpanded, depthLimit, shape, ...properties };
    const step = walk(context, { tool: 'get_view', args, rootNodeId, view, pageToken, start: (root) => root });
    const page = (limit: number): FoundPage => viewPage(step, { depthLimit, limit });
    const envelope = includeViewRoot === true
      ? { rootNodeId, ...properties, defaultExpanded: view.defaultExpanded }
      : {};
    const projection = createProjection(properties);
    return answer(context, step, { page, asked: pageSize, shape, projection, envelope });
  },
});

const listChildren = toolSpec({
  name: 'list_children',
  description: 'Gives the children of a node, page by page, whether or not it is expanded.',
  annotations: reads,
  kind: 'read',
  input: ListChildren,
  targets: ({ nodeId }) => [nodeId],
  run(context, { nodeId, limit, pageToken, shape, ...filter }) {
    const properties = filterOf(context.session, filter);
    const args = { nodeId, shape, ...properties };
    const step = walk(context, {
      tool: 'list_children',
      args,
      rootNodeId: nodeId,
      view: viewOf(context.session),
      pageToken,
      start: (root, { layout }) => after(layout, root),
    });
    const page = (most: number): FoundPage => childrenPage(step, most);
    return answer(context, step, { page, asked: limit, shape, projection: createProjection(properties) });
  },
});

/** The tools that read pages. */
export const readTools: readonly ToolSpec[] = [getNode, getView, listChildren];

/** The number of rows that a call requests, within the limit. */
export function limitOf({ limits }: CallContext, asked = limits.pageSize): number {
  return Math.min(asked, limits.maxPageSize);
}

/** The lists of the call, or those of the agent's view. */
export function filterOf(
  { filter }: Session,
  asked: { [Name in keyof PropertyFilter]?: readonly string[] | undefined },
) {
  return {
    includedProperties: asked.includedProperties ?? filter.includedProperties,
    excludedProperties: asked.excludedProperties ?? filter.excludedProperties,
  };
}

function isExpanded({ layout, hidden }: Reader, { pos, index }: Cursor): boolean {
  return flagAt(hidden, { number: blockAt(layout, pos), index });
}

interface FoundPage extends Page {
  readonly next: Cursor | undefined;
}

function viewPage(
  { reader, root, next }: Step,
  { depthLimit, limit }: { depthLimit: number; limit: number },
): FoundPage {
  const { layout, hidden } = reader;
  const range = {
    start: root,
    end: endOf(layout, root),
    level: hiddenAt(hidden, layout, { number: blockAt(layout, root.pos), index: root.index }),
    maxDepth: depthAt(layout, root) + depthLimit,
  };
  return visibleRows(reader, range, { from: next, limit });
}

function childrenPage({ reader, root, next }: Step, limit: number): FoundPage {
  const { layout } = reader;
  const depth = depthAt(layout, root) + 1;
  const found = childrenIn(layout, { start: next, end: endOf(layout, root) }, { depth, limit });
  return {
    next: found.next,
    slots: found.cursors.map((cursor) => slotAt(layout, cursor)),
    depths: found.cursors.map(() => depth),
    expanded: found.cursors.map((cursor) => isExpanded(reader, cursor)),
  };
}

/** Writes a page; what the bytes cut off is where the next one starts. */
function answer(
  context: CallContext,
  step: Step,
  { page, asked, shape = context.shape, projection, envelope = {} }: {
    readonly page: (limit: number) => FoundPage;
    readonly asked: number | undefined;
    readonly shape: Shape | undefined;
    readonly projection: Projection;
    readonly envelope?: Output;
  },
): Output {
  const found = page(limitOf(context, asked));
  const { output, count } = writePage(step.reader, found, { projection, limits: context.limits, shape, envelope });
  const isCut = count < found.slots.length;
  return { ...output, ...(isCut && { truncated: 'bytes' }), ...step.end(isCut ? page(count).next : found.next) };
}
