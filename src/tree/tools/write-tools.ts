/** The tools that change the tree: `add_child`, `update_payload_property`, `remove_node`, `move_node` and `batch`. */

import { PinnaceError } from '../../base/errors.ts';
import { bytesOf, fitList, roomOf } from './pages/answer-size.ts';
import { checkedPayload } from './checked-payload.ts';
import { type Dependency, wholeOf } from './call/conflict-scope.ts';
import { cursorOf, slotOf } from '../nodes/structure.ts';
import { slotAt, type Span, subtree } from '../nodes/layout.ts';
import type { Transaction } from '../nodes/mutate.ts';
import { none } from '../nodes/node-store.ts';
import { checkValue, editPayload } from '../nodes/payload-edit.ts';
import { isReserved } from '../nodes/payload-types.ts';
import { type WantedPlace, wantedPlace } from '../nodes/place.ts';
import { parsePath } from '../nodes/property-path.ts';
import { viewOf } from './session.ts';
import { AddChild, Batch, MoveNode, type Operation, RemoveNode, UpdateProperty } from './tool-input.ts';
import { adds, destroys, sets, type ToolSpec, toolSpec } from './tool-spec.ts';
import type { CallContext } from './caller.ts';
import type { Output } from './output.ts';
import { rowsBefore } from '../views/visible.ts';

type Args<Tool extends Operation['tool']> = Omit<Extract<Operation, { tool: Tool }>, 'tool'>;

const addChildTool = toolSpec({
  name: 'add_child',
  description: 'Adds a child: last, or "before" or "after" a sibling, or at an "index". Gives its nodeId.',
  annotations: adds,
  kind: 'tree',
  input: AddChild,
  targets: ({ parentNodeId }) => (parentNodeId === null ? [] : [parentNodeId]),
  dependsOn: (input) => needsOf({ ...input, tool: 'add_child' }),
  run: addChild,
});

const updateTool = toolSpec({
  name: 'update_payload_property',
  description: 'Sets one property of a payload, named by its path ("meta.owner"); "unset": true takes it away.',
  annotations: sets,
  kind: 'tree',
  input: UpdateProperty,
  targets: ({ nodeId }) => [nodeId],
  dependsOn: (input) => needsOf({ ...input, tool: 'update_payload_property' }),
  guard: (context, input) => guardProperty(context, input),
  run: updateProperty,
});

const removeTool = toolSpec({
  name: 'remove_node',
  description: 'Removes a node with everything below it.',
  annotations: destroys,
  kind: 'tree',
  input: RemoveNode,
  targets: ({ nodeId }) => [nodeId],
  dependsOn: (input) => needsOf({ ...input, tool: 'remove_node' }),
  run: removeNode,
});

const moveTool = toolSpec({
  name: 'move_node',
  description: 'Moves a node with everything below it to another parent, or to another place below the same.',
  annotations: sets,
  kind: 'tree',
  input: MoveNode,
  targets: ({ nodeId, newParentId }) => [nodeId, newParentId],
  dependsOn: (input) => needsOf({ ...input, tool: 'move_node' }),
  run: moveNode,
});

const batchTool = toolSpec({
  name: 'batch',
  description: 'Makes several changes as one: all or none, in order, under one version. ' +
    'Name the nodes that you add ("nodeId") to use them in later operations.',
  annotations: destroys,
  kind: 'tree',
  input: Batch,
  targets: ({ operations }) => batchTargets(operations),
  dependsOn: ({ operations }) => operations.flatMap(needsOf),
  guard: (context, { operations }) =>
    operations.forEach((operation) => {
      if (operation.tool === 'update_payload_property') guardProperty(context, operation);
    }),
  run: (context, { operations }, transaction) =>
    resultsOf(context, operations.map((operation) => runOperation(context, operation, transaction))),
});

/** The tools that change the tree. */
export const writeTools: readonly ToolSpec[] = [addChildTool, updateTool, removeTool, moveTool, batchTool];

function runOperation(context: CallContext, operation: Operation, transaction: Transaction): Output {
  switch (operation.tool) {
    case 'add_child':
      return addChild(context, operation, transaction);
    case 'update_payload_property':
      return updateProperty(context, operation, transaction);
    case 'remove_node':
      return removeNode(context, operation, transaction);
    case 'move_node':
      return moveNode(context, operation, transaction);
    default:
      return operation satisfies never;
  }
}

/** The results as far as the bytes allow: first the ids of removed nodes are left out, then the last results. */
function resultsOf({ limits }: CallContext, results: readonly Output[]): Output {
  const room = roomOf(limits);
  if (bytesOf(results) <= room) return { results };
  const short = fitList(results.map(({ removedIds: _, ...result }) => result), room);
  return { results: short, truncated: 'bytes' };
}

/** The nodes that must exist before the batch: not those that it adds. */
function batchTargets(operations: readonly Operation[]): readonly string[] {
  const added = new Set<string>();
  const targets = new Set<string>();
  for (const operation of operations) {
    for (const nodeId of operationTargets(operation)) if (!added.has(nodeId)) targets.add(nodeId);
    if (operation.tool === 'add_child' && operation.nodeId !== undefined) added.add(operation.nodeId);
  }
  return [...targets];
}

function operationTargets(operation: Operation): readonly string[] {
  if (operation.tool === 'add_child') return operation.parentNodeId === null ? [] : [operation.parentNodeId];
  return operation.tool === 'move_node' ? [operation.nodeId, operation.newParentId] : [operation.nodeId];
}

/** What must be unchanged since the caller read it. A place among siblings depends on the siblings. */
function needsOf(operation: Operation): readonly Dependency[] {
  switch (operation.tool) {
    case 'add_child':
      return operation.parentNodeId !== null && isPlaced(operation) ? [siblingsIn(operation.parentNodeId)] : [];
    case 'update_payload_property':
      return [{ nodeId: operation.nodeId, kinds: ['payload'] }];
    case 'remove_node':
      return [wholeOf(operation.nodeId)];
    case 'move_node':
      return [
        { nodeId: operation.nodeId, kinds: ['place'] },
        ...(isPlaced(operation) ? [siblingsIn(operation.newParentId)] : []),
      ];
    default:
      return operation satisfies never;
  }
}

function isPlaced({ before, after, index }: WantedPlace): boolean {
  return before !== undefined || after !== undefined || index !== undefined;
}

function siblingsIn(nodeId: string): Dependency {
  return { nodeId, kinds: ['children'] };
}

function addChild({ core, limits }: CallContext, args: Args<'add_child'>, transaction: Transaction): Output {
  const { parentNodeId, payloadType, payloadProps = {}, nodeId = freshId(), ...wanted } = args;
  const payload = checkedPayload({ core, limits }, {
    nodeId,
    payloadType,
    payload: { ...core.types.get(payloadType)?.defaults, ...payloadProps },
  });
  for (const [propertyName, newValue] of Object.entries(payload)) {
    if (newValue !== undefined) checkValue({ propertyName, newValue }, limits.valueBytes);
  }
  const place = wantedPlace(core, parentNodeId, wanted);
  const row = { nodeId, parentId: parentNodeId, payloadType, payload: structuredClone(payload) };
  transaction.apply({ kind: 'insert', rows: [row], place });
  return { nodeId };
}

/** An id that no node has. */
export function freshId(): string {
  return crypto.randomUUID();
}

function guardProperty({ core, limits }: CallContext, args: Args<'update_payload_property'>): void {
  const path = parsePath(args.propertyName);
  checkValue(args, limits.valueBytes);
  const slot = slotOf(core, args.nodeId);
  if (slot === none || !core.types.at(core.store.types[slot]!).selfPayload || !isReserved(path[0]!)) return; // safe: as above
  throw new PinnaceError(
    'invalid_argument',
    `Cannot update property "${args.propertyName}" of node "${args.nodeId}": on a node that is its own payload this name is the tree's`,
    { details: { reason: 'reserved_property' } },
  );
}

function updateProperty(
  { core, limits }: CallContext,
  args: Args<'update_payload_property'>,
  transaction: Transaction,
): Output {
  const { nodeId } = args;
  const slot = slotOf(core, nodeId);
  if (slot === none) throw new PinnaceError('not_found', `Cannot find node "${nodeId}": the tree has no such node`);
  const before = core.store.payloads[slot]!; // safe: the slot is of the tree
  const edited = editPayload(before, args);
  if (edited === before) return { nodeId };
  const payloadType = core.types.names[core.store.types[slot]!]!; // safe: as above
  const payload = checkedPayload({ core, limits }, { nodeId, payloadType, payload: edited, stored: before });
  transaction.apply({ kind: 'payload', nodeId, payloadType, payload });
  return { nodeId };
}

const maxRemovedIds = 100;

function removeNode({ core, limits }: CallContext, { nodeId }: Args<'remove_node'>, transaction: Transaction): Output {
  const { layout } = core.sequence;
  const slot = slotOf(core, nodeId);
  const span = slot === none ? undefined : subtree(layout, cursorOf(core, slot));
  const removedIds = span ? fitList(firstIds({ core }, span), roomOf(limits) / 2) : [];
  const size = core.size;
  transaction.apply({ kind: 'remove', nodeId });
  return { nodeId, removedCount: size - core.size, removedIds };
}

function firstIds({ core }: Pick<CallContext, 'core'>, { start, end }: Span): string[] {
  const { sequence: { layout }, store } = core;
  const ids: string[] = [];
  let { pos, index } = start;
  for (; pos <= end.pos && pos < layout.count; pos++, index = 0) {
    const stop = pos === end.pos ? end.index : layout.lengths[layout.order[pos]!]!; // safe: pos is below count
    for (; index < stop; index++) {
      if (ids.push(store.ids[slotAt(layout, { pos, index })]!) === maxRemovedIds) return ids; // safe: a cursor of the tree
    }
  }
  return ids;
}

function moveNode({ core, session }: CallContext, args: Args<'move_node'>, transaction: Transaction): Output {
  const { nodeId, newParentId, ...wanted } = args;
  const { ids, parents } = core.store;
  const oldParentId = ids[parents[slotOf(core, nodeId)]!] ?? null; // safe: without a slot there is no parent
  transaction.apply({ kind: 'move', nodeId, place: wantedPlace(core, newParentId, { ...wanted, moving: nodeId }) });
  const view = viewOf(session);
  const { layout } = core.sequence;
  const cursor = cursorOf(core, slotOf(core, nodeId));
  const all = { start: { pos: 0, index: 0 }, end: { pos: layout.count, index: 0 }, level: 0, maxDepth: Infinity };
  const rank = view.hiddenAt(cursor) === 0 ? rowsBefore({ layout, hidden: view.hidden }, all, cursor) : null;
  return { nodeId, oldParentId, newParentId, rank };
}
