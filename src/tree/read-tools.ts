/** The tools that read pages of the tree: `get_node`, `get_view`, `list_children`. */

import {
  bytesOf,
  fieldsOf,
  fitAnswer,
  type Page,
  roomOf,
  shortened,
  type Step,
  walk,
  writePage,
} from './answer-pages.ts';
import type { Payload } from './node-store.ts';
import { childrenIn } from './placing.ts';
import { createProjection, type Projection, type PropertyFilter } from './properties.ts';
import { after, type Cursor, depthAt, endOf, slotAt } from './sequence.ts';
import { Reader } from './snapshots.ts';
import { cursorOf, slotOf } from './structure.ts';
import { GetNode, GetView, ListChildren, OneNode, OneRoot, Search } from './tool-input.ts';
import {
  type CallContext,
  type Output,
  reads,
  type Session,
  sets,
  type Shape,
  type ToolSpec,
  toolSpec,
  touchView,
  viewOf,
  viewOfNode,
} from './tool-spec.ts';
import { createMatcher, type Hit, type Matcher, search } from './tree-search.ts';

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
    const reader = new Reader(core, { view: viewOf(session) });
    const cursor = cursorOf(core, slotOf(core, nodeId));
    const projection = createProjection(filterOf(session, filter));
    const slot = slotAt(reader.layout, cursor);
    const record = reader.record(slot);
    const row = {
      nodeId,
      parentId: reader.parentId(record),
      payloadType: reader.typeName(record),
      depth: depthAt(reader.layout, cursor),
      isExpanded: reader.view.isExpanded(cursor),
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
    return answerPage(context, step, { page, asked: pageSize, shape, projection, envelope });
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
    return answerPage(context, step, { page, asked: limit, shape, projection: createProjection(properties) });
  },
});

export const readTools: readonly ToolSpec[] = [getNode, getView, listChildren];

function limitOf({ limits }: CallContext, asked = limits.pageSize): number {
  return Math.min(asked, limits.maxPageSize);
}

/** The lists of the call, or those of the agent's view. */
function filterOf(
  { filter }: Session,
  asked: { [Name in keyof PropertyFilter]?: readonly string[] | undefined },
) {
  return {
    includedProperties: asked.includedProperties ?? filter.includedProperties,
    excludedProperties: asked.excludedProperties ?? filter.excludedProperties,
  };
}

interface FoundPage extends Page {
  readonly next: Cursor | undefined;
}

function viewPage(
  { reader, root, next }: Step,
  { depthLimit, limit }: { depthLimit: number; limit: number },
): FoundPage {
  return reader.view.rows(reader.view.below(root, depthLimit), { from: next, limit });
}

function childrenPage({ reader, root, next }: Step, limit: number): FoundPage {
  const { layout } = reader;
  const depth = depthAt(layout, root) + 1;
  const found = childrenIn(layout, { start: next, end: endOf(layout, root) }, { depth, limit });
  return {
    next: found.next,
    slots: found.cursors.map((cursor) => slotAt(layout, cursor)),
    depths: found.cursors.map(() => depth),
    expanded: found.cursors.map((cursor) => reader.view.isExpanded(cursor)),
  };
}

/** Writes a page; what the bytes cut off is where the next one starts. */
function answerPage(
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

export const searchTool: ToolSpec = toolSpec({
  name: 'search',
  description:
    'Finds the nodes of a subtree that meet all filters, expanded or not. "eq" compares JSON values, "contains" finds text ' +
    'within text (whatever its case) and elements of lists; the paths "$id" and "$type" stand for id and payload type. ' +
    'A page may be empty and still have a "pageToken": go on with it.',
  annotations: reads,
  kind: 'read',
  input: Search,
  targets: ({ rootNodeId }) => [rootNodeId],
  guard: (_, { filters }) => filters.forEach((filter) => createMatcher(filter, { caseSensitive: true })),
  run(context, { rootNodeId, filters, caseSensitive = false, limit, pageToken, ...properties }) {
    const { desk, session, now, limits } = context;
    const matchers = filters.map((filter) => createMatcher(filter, { caseSensitive }));
    const args = { rootNodeId, filters, caseSensitive, ...properties };
    const view = viewOf(session);
    const step = walk(context, { tool: 'search', args, rootNodeId, view, pageToken, start: (root) => root });
    const span = { start: step.next, end: endOf(step.reader.layout, step.root) };
    const deadline = now() + limits.searchMs;
    const isLate = (): boolean => now() >= deadline;
    const found = search(step.reader, desk.texts, { span, matchers, limit: limitOf(context, limit), isLate });
    const wantsPayload = (properties.includedProperties ?? properties.excludedProperties) !== undefined;
    const projection = wantsPayload ? createProjection(filterOf(session, properties)) : undefined;
    const describing = { matchers, projection, textBytes: limits.textBytes };
    const { output, count } = fitAnswer(found.hits, {
      room: roomOf(limits),
      make: (hit) => describe(step.reader, hit, describing),
      sizeOf: bytesOf,
      shorten: (hit, bytes) => describeBriefly(step.reader, hit, { ...describing, bytes }),
      write: (hits) => ({ hits }),
    });
    const cutAt = found.hits[count];
    if (!cutAt) return { ...output, scanned: found.scanned, ...step.end(found.next) };
    return { ...output, scanned: cutAt.scanned, truncated: 'bytes', ...step.end(cutAt.at) };
  },
});

interface Describing {
  readonly matchers: readonly Matcher[];
  readonly projection: Projection | undefined;
  readonly textBytes: number;
}

function describe(reader: Reader, { slot, depth }: Hit, { matchers, projection, textBytes }: Describing): Output {
  const record = reader.record(slot);
  return {
    nodeId: reader.id(slot),
    payloadType: reader.typeName(record),
    depth,
    label: reader.label(record).slice(0, 200),
    breadcrumb: breadcrumb(reader, record.parent),
    matched: [...new Set(matchers.map(({ path }) => path))],
    ...(projection && { payload: projection.pick(record.payload, { textBytes }) }),
  };
}

/** A hit that is too large alone: the breadcrumb is left out, and the payload shortened. */
function describeBriefly(
  reader: Reader,
  { slot, depth }: Hit,
  { projection, bytes }: Describing & { readonly bytes: number },
): Output {
  const record = reader.record(slot);
  return {
    nodeId: reader.id(slot),
    payloadType: reader.typeName(record),
    depth,
    label: reader.label(record).slice(0, Math.min(200, bytes / 8)),
    breadcrumb: [],
    matched: [],
    $truncated: true,
    ...(projection && { payload: shortened(projection.pick(record.payload), bytes / 2) }),
  };
}

/** The longest breadcrumb: the nodes nearest to the hit. */
const maxBreadcrumb = 32;

/** The nodes above, from the top down. */
function breadcrumb(reader: Reader, parent: number): Output[] {
  const crumbs: Output[] = [];
  for (let slot = parent; slot >= 0 && crumbs.length < maxBreadcrumb;) {
    const record = reader.record(slot);
    crumbs.push({ nodeId: reader.id(slot), label: reader.label(record).slice(0, 80) });
    slot = record.parent;
  }
  return crumbs.toReversed();
}

const notes = 'Changes only your own view.';

const expandNode = oneNode('expand_node', `Expands a node: its children become visible. ${notes}`, () => true);
const collapseNode = oneNode('collapse_node', `Collapses a node: what is below it is hidden. ${notes}`, () => false);
const toggleNode = {
  ...oneNode(
    'toggle_node',
    `Expands a collapsed node and collapses an expanded one. Two calls cancel out: send an idempotencyKey. ${notes}`,
    (isExpanded) => !isExpanded,
  ),
  annotations: { ...sets, idempotentHint: false },
};
const expandAll = allBelow('expand_all', `Expands a node and everything below it. ${notes}`, true);
const collapseAll = allBelow('collapse_all', `Collapses a node and everything below it. ${notes}`, false);

/** The tools that change an agent's view. */
export const viewTools: readonly ToolSpec[] = [expandNode, collapseNode, toggleNode, expandAll, collapseAll];

function oneNode(name: string, description: string, wanted: (isExpanded: boolean) => boolean): ToolSpec {
  return toolSpec({
    name,
    description,
    annotations: sets,
    kind: 'view',
    input: OneNode,
    targets: ({ nodeId }) => [nodeId],
    dependsOn: ({ nodeId }) => [viewOfNode(nodeId)],
    run({ core, session }, { nodeId }) {
      const cursor = cursorOf(core, slotOf(core, nodeId));
      const before = viewOf(session).isExpanded(cursor);
      const isExpanded = wanted(before);
      if (isExpanded === before) return { nodeId, isExpanded, changed: false };
      for (const view of [session.collapsed, session.expanded]) view.setExpanded(cursor, isExpanded);
      touchView(session, nodeId);
      return { nodeId, isExpanded, changed: true };
    },
  });
}

function allBelow(name: string, description: string, isExpanded: boolean): ToolSpec {
  return toolSpec({
    name,
    description,
    annotations: sets,
    kind: 'view',
    input: OneRoot,
    targets: ({ rootNodeId }) => [rootNodeId],
    dependsOn: ({ rootNodeId }) => [viewOfNode(rootNodeId)],
    run: (context, { rootNodeId }) => setAll(context, { rootNodeId, isExpanded }),
  });
}

function setAll(
  { core, session }: CallContext,
  { rootNodeId, isExpanded }: { rootNodeId: string; isExpanded: boolean },
): Output {
  const cursor = cursorOf(core, slotOf(core, rootNodeId));
  const changes = [session.collapsed, session.expanded].map((view) => view.setAll(cursor, isExpanded));
  const changed = changes.includes(true);
  if (changed) touchView(session, rootNodeId);
  return { rootNodeId, isExpanded, changed };
}
