/** The tools that change the tree: `add_child`, `update_payload_property`, `remove_node`, `move_node` and `batch`. */

import { PinnaceError } from '../base/errors.ts';
import { invalid } from '../base/parse.ts';
import { bytesOf, fitList, roomOf } from './answer-pages.ts';
import { none, type Payload } from './node-store.ts';
import type { HistoryEntry, InverseOp } from './ops.ts';
import { badPayload, isReserved, unknownType } from './payload-types.ts';
import { type WantedPlace, wantedPlace } from './placing.ts';
import { checkValue, editPayload, parsePath } from './properties.ts';
import { slotAt, type Span, subtree } from './sequence.ts';
import {
  conflict,
  cursorOf,
  isBelow,
  isOfOtherEpoch,
  readVersion,
  slotOf,
  type Touch,
  touchesOf,
  type TreeChange,
  versionOf,
  type VersionParts,
} from './structure.ts';
import { AddChild, Batch, MoveNode, type Operation, RemoveNode, Undo, UpdateProperty } from './tool-input.ts';
import {
  adds,
  type CallContext,
  type Dependency,
  destroys,
  type Output,
  sets,
  type ToolSpec,
  toolSpec,
  viewOf,
  wholeOf,
} from './tool-spec.ts';
import { type Core, noView, type Transaction } from './tree-core.ts';

type Args<Tool extends Operation['tool']> = Omit<Extract<Operation, { tool: Tool }>, 'tool'>;

/** What a changing tool does, alone or in a batch: the nodes that must exist, what must be unchanged since they were read, and its work. */
type Rules<A> = Pick<ToolSpec, 'kind'> & {
  readonly targets: (args: A) => readonly string[];
  readonly dependsOn: (args: A) => readonly Dependency[];
  readonly guard?: (context: CallContext, args: A) => void;
  readonly run: (context: CallContext, args: A, transaction: Transaction) => Output;
};

/** A place among siblings depends on the siblings. */
const rules: { readonly [Tool in Operation['tool']]: Rules<Args<Tool>> } = {
  add_child: {
    kind: 'tree',
    targets: ({ parentNodeId }) => (parentNodeId === null ? [] : [parentNodeId]),
    dependsOn: (args) => args.parentNodeId !== null && isPlaced(args) ? [siblingsIn(args.parentNodeId)] : [],
    run: addChild,
  },
  update_payload_property: {
    kind: 'tree',
    targets: ({ nodeId }) => [nodeId],
    dependsOn: ({ nodeId }) => [{ nodeId, kinds: ['payload'] }],
    guard: guardProperty,
    run: updateProperty,
  },
  remove_node: {
    kind: 'tree',
    targets: ({ nodeId }) => [nodeId],
    dependsOn: ({ nodeId }) => [wholeOf(nodeId)],
    run: removeNode,
  },
  move_node: {
    kind: 'tree',
    targets: ({ nodeId, newParentId }) => [nodeId, newParentId],
    dependsOn: (args) => [
      { nodeId: args.nodeId, kinds: ['place'] },
      ...(isPlaced(args) ? [siblingsIn(args.newParentId)] : []),
    ],
    run: moveNode,
  },
};

function rulesOf({ tool }: Operation): Rules<Operation> {
  return rules[tool] as Rules<never> as Rules<Operation>; // safe: those of the operation's own tool
}

const addChildTool = toolSpec({
  name: 'add_child',
  description: 'Adds a child: last, or "before" or "after" a sibling, or at an "index". Gives its nodeId.',
  annotations: adds,
  input: AddChild,
  ...rules.add_child,
});

const updateTool = toolSpec({
  name: 'update_payload_property',
  description: 'Sets one property of a payload, named by its path ("meta.owner"); "unset": true takes it away.',
  annotations: sets,
  input: UpdateProperty,
  ...rules.update_payload_property,
});

const removeTool = toolSpec({
  name: 'remove_node',
  description: 'Removes a node with everything below it.',
  annotations: destroys,
  input: RemoveNode,
  ...rules.remove_node,
});

const moveTool = toolSpec({
  name: 'move_node',
  description: 'Moves a node with everything below it to another parent, or to another place below the same.',
  annotations: sets,
  input: MoveNode,
  ...rules.move_node,
});

const batchTool = toolSpec({
  name: 'batch',
  description: 'Makes several changes as one: all or none, in order, under one version. ' +
    'Name the nodes that you add ("nodeId") to use them in later operations.',
  annotations: destroys,
  kind: 'tree',
  input: Batch,
  targets: ({ operations }) => batchTargets(operations),
  dependsOn: ({ operations }) => operations.flatMap((operation) => rulesOf(operation).dependsOn(operation)),
  guard: (context, { operations }) => {
    for (const operation of operations) rulesOf(operation).guard?.(context, operation);
  },
  run: (context, { operations }, transaction) =>
    resultsOf(context, operations.map((operation) => rulesOf(operation).run(context, operation, transaction))),
});

export const writeTools: readonly ToolSpec[] = [addChildTool, updateTool, removeTool, moveTool, batchTool];

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
    for (const nodeId of rulesOf(operation).targets(operation)) if (!added.has(nodeId)) targets.add(nodeId);
    if (operation.tool === 'add_child' && operation.nodeId !== undefined) added.add(operation.nodeId);
  }
  return [...targets];
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
  const cursor = cursorOf(core, slotOf(core, nodeId));
  const rank = view.hiddenAt(cursor) === 0 ? view.rowsBefore(view.whole(), cursor) : null;
  return { nodeId, oldParentId, newParentId, rank };
}

export const undoTool: ToolSpec = toolSpec({
  name: 'undo',
  description:
    'Takes back your change of the tree that returned this "version"; an undo can be undone too. What is expanded in your view is ' +
    'no change of the tree. A conflict when later changes touch the same nodes: undo those first.',
  annotations: destroys,
  kind: 'tree',
  input: Undo,
  targets: () => [],
  dependsOn: () => [], // it looks itself for what is in its way
  run(context, { version }, transaction) {
    const { core } = context;
    const entry = entryOf(context, version);
    if (effectiveSince(core, entry).some((other) => isInTheWay(core, entry, other))) throw blocked(context, version);
    try {
      for (const inverse of entry.inverses) transaction.apply(withinReach(core, inverse));
    } catch (error) {
      // The nodes that it needs were removed, or are now inside each other.
      throw error instanceof PinnaceError && error.code !== 'internal' ? blocked(context, version) : error;
    }
    transaction.undoes(entry.rev);
    return { undone: version };
  },
});

/** The later mutations, less those that cancel each other: a change and the undoing of it. */
function effectiveSince(core: Core, { rev }: HistoryEntry): readonly HistoryEntry[] {
  const cancelled = new Set<number>();
  return (core.history.since(rev) ?? []).toReversed().filter((entry) => {
    if (cancelled.has(entry.rev)) return false;
    if (entry.undoes === undefined || entry.undoes <= rev) return true;
    cancelled.add(entry.undoes);
    return false;
  });
}

/** The change that the version names: exactly the one whose call returned it, not the latest one at that revision. */
function entryOf(context: CallContext, version: string): HistoryEntry {
  const { core, session } = context;
  const parts = readVersion(version);
  const isKnown = parts !== undefined && !isOfOtherEpoch(core, version);
  const entry = isKnown ? core.history.get(parts.rev) : undefined;
  if (!isKnown || (!entry && parts.rev > 0)) throw unknownVersion(core, version);
  if (!entry || !isNamed(entry, parts) || !isAllowed(entry, context)) throw nothingToUndo(version, entry);
  if (!entry.undone) return entry;
  throw conflict(`Cannot undo version "${version.slice(0, 80)}": it is undone already`, {
    reason: 'already_undone',
    version: versionOf(core, session),
  });
}

/** An event's version names the mutation alone; an answer's names the view of its caller as well. */
function isNamed({ author }: HistoryEntry, { viewId, viewRev }: VersionParts): boolean {
  if (viewId === noView.viewId) return true;
  return author?.view?.viewId === viewId && author.view.viewRev === viewRev;
}

function isAllowed({ author }: HistoryEntry, { undo, agentId }: CallContext): boolean {
  return undo === 'any' || author?.agentId === agentId;
}

function unknownVersion(core: CallContext['core'], version: string): PinnaceError {
  const isOld = isOfOtherEpoch(core, version);
  const why = isOld
    ? 'the tree was opened again since, and what can be undone does not outlive that'
    : 'no change that is still stored returned it; give the "version" of the answer to the change';
  return new PinnaceError('not_found', `Cannot undo this version: ${why}`, {
    details: { reason: isOld ? 'epoch_changed' : 'version_unknown' },
  });
}

function nothingToUndo(version: string, entry: HistoryEntry | undefined): PinnaceError {
  const why = entry ? 'no change of yours returned it' : 'the tree had not changed yet';
  return new PinnaceError(
    'invalid_argument',
    `Cannot undo version "${version.slice(0, 80)}": ${why}; give the "version" of the answer to your change`,
    { details: { reason: 'nothing_to_undo' } },
  );
}

function isInTheWay(core: Core, entry: HistoryEntry, other: HistoryEntry): boolean {
  const touches = other.changes.flatMap(touchesOf);
  return entry.changes.some((change) => touches.some((touch) => clashes(core, change, touch)));
}

function clashes(core: Core, change: TreeChange, touch: Touch): boolean {
  const isSame = touch.nodeId === change.nodeId;
  switch (change.kind) {
    case 'payload':
      return isSame && (touch.kind === 'payload' || touch.kind === 'removed');
    case 'move':
      return isSame && (touch.kind === 'place' || touch.kind === 'removed');
    case 'insert':
      return isBelow(core, touch.nodeId, change.nodeId);
    case 'content':
      return isBelow(core, touch.nodeId, change.nodeId) && !(isSame && touch.kind !== 'children');
    case 'remove':
      return false;
    default:
      return change satisfies never;
  }
}

/** A node returns before its old neighbor; when that has moved, to the end. */
function withinReach(core: Core, inverse: InverseOp): InverseOp {
  if (!('place' in inverse) || inverse.place.beforeId === null) return inverse;
  const { parentId, beforeId } = inverse.place;
  const slot = slotOf(core, beforeId);
  const parent = slot === none ? none : core.store.parents[slot]!; // safe: the slot is of the tree
  const isThere = parent !== none && core.store.ids[parent] === parentId;
  return isThere ? inverse : { ...inverse, place: { parentId, beforeId: null } };
}

function blocked({ core, session }: CallContext, version: string): PinnaceError {
  return conflict(`Cannot undo version "${version.slice(0, 80)}": later changes build on it; undo those first`, {
    reason: 'changed_since',
    version: versionOf(core, session),
  });
}

/** Returns the payload as its schema makes it. @throws PinnaceError `invalid_argument` */
function checkedPayload(
  { core: { types }, limits }: Pick<CallContext, 'core' | 'limits'>,
  { nodeId, payloadType, payload, stored }: {
    readonly nodeId: string;
    readonly payloadType: string;
    readonly payload: unknown;
    readonly stored?: Payload;
  },
): Payload {
  if (!types.get(payloadType)) {
    const issue = { ...unknownType(payloadType, types.names), path: 'payloadType' };
    throw invalid(`the payload of node "${nodeId}"`, [issue]);
  }
  const check = types.check(payloadType, payload, stored);
  if (check.ok) return withinBytes(check.payload, { nodeId, limits });
  throw badPayload(`the payload of node "${nodeId}"`, check);
}

function withinBytes(payload: Payload, { nodeId, limits }: { nodeId: string } & Pick<CallContext, 'limits'>): Payload {
  const bytes = bytesOf(payload);
  if (bytes <= limits.payloadBytes) return payload;
  const message =
    `Cannot store the payload of node "${nodeId}": it takes ${bytes} bytes of at most ${limits.payloadBytes}`;
  throw new PinnaceError('invalid_argument', message, { details: { reason: 'too_large', limit: limits.payloadBytes } });
}
