/** `import_view`: brings a view back, or its content. Checked as a whole first; then applied as a whole. */

import { PinnaceError } from '../../../base/errors.ts';
import { fitList, roomOf } from '../pages/answer-size.ts';
import { wholeOf } from '../call/conflict-scope.ts';
import type { Core } from '../../nodes/core.ts';
import { cursorOf, find, isInside, slotOf } from '../../nodes/structure.ts';
import { checkDocument, type ImportIssue } from './import-check.ts';
import { type ImportDocument, readDocument } from './import-rows.ts';
import type { Transaction } from '../../nodes/mutate.ts';
import { parsePath } from '../../nodes/property-path.ts';
import type { TreeRow } from '../../nodes/row.ts';
import { type Session, touchView, viewOf } from '../session.ts';
import { ImportView } from '../tool-input.ts';
import { destroys, type ToolSpec, toolSpec } from '../tool-spec.ts';
import type { CallContext } from '../caller.ts';
import type { Output } from '../output.ts';
import { freshId } from '../write-tools.ts';

/** The tool that imports. */
export const importTool: ToolSpec = toolSpec({
  name: 'import_view',
  description:
    'Reads what export_view gave. "byNodeId" (default) restores which nodes are expanded and the property filters of your view, ' +
    'and changes no content. "replaceSubtree" makes the root\'s payload and everything below it what the document holds. ' +
    '"dryRun": true only reports.',
  annotations: destroys,
  kind: 'tree',
  input: ImportView,
  targets: () => [],
  isLong: true,
  prepare(context, input) {
    const { viewJson, payloadTypes, rootLookupStrategy = 'byNodeId', rootNodeId } = input;
    const { core: { types }, limits: { payloadBytes } } = context;
    const isContentUsed = rootLookupStrategy === 'replaceSubtree';
    const document = read(context, viewJson);
    const allowed = new Set(payloadTypes ?? types.names);
    const { rows, issues } = checkDocument(document, { types, allowed, isContentUsed, payloadBytes });
    if (issues.length > 0) throw refused(issues);
    prepared.set(input, { document, rows, root: rootNodeId ?? document.rootNodeId, isContentUsed });
  },
  dependsOn(input) {
    const { root, isContentUsed } = preparedOf(input);
    return isContentUsed && typeof root === 'string' ? [wholeOf(root)] : undefined;
  },
  run(context, input, transaction) {
    const { document, rows, isContentUsed, root: wanted } = preparedOf(input);
    const root = rootOf(context.core, wanted);
    const plan: Plan = isContentUsed ? replacePlan(context, root, rows) : restorePlan(context.core, document);
    if (input.dryRun === true) return { rootNodeId: root, dryRun: true, changed: false, ...plan.counts };
    if (plan.rows) replace(transaction, root, plan.rows);
    const changed = restoreView(context, document, plan.ids) || isContentUsed;
    return { rootNodeId: root, changed, ...plan.counts };
  },
});

/** A document that was read and checked. */
interface Prepared {
  readonly document: ImportDocument;
  readonly rows: readonly TreeRow[];
  readonly root: unknown;
  readonly isContentUsed: boolean;
}

/** By the input of the call: where others are faster, the same document is applied again. */
const prepared = new WeakMap<object, Prepared>();

function preparedOf(input: object): Prepared {
  return prepared.get(input)!; // safe: `prepare` comes first
}

function read({ core: { types }, limits }: CallContext, viewJson: unknown): ImportDocument {
  const isSelf = (name: unknown): boolean => typeof name === 'string' && types.get(name)?.selfPayload === true;
  const document = readDocument(viewJson, { limits, isSelf });
  if ('rows' in document) return document;
  throw refused([{ ...document, code: 'unreadable' }]);
}

function rootOf(core: Core, rootNodeId: unknown): string {
  if (typeof rootNodeId === 'string' && find(core, rootNodeId)) return rootNodeId;
  const name = String(rootNodeId).slice(0, 128);
  throw new PinnaceError('not_found', `Cannot import below node "${name}": the tree has no such node`);
}

/** What an import is going to do: counts for the answer, and for each node of the document the id that it has in the tree. */
interface Plan {
  readonly counts: Output;
  readonly ids: readonly (string | undefined)[];
  /** The new content, where there is one. */
  readonly rows?: readonly TreeRow[];
}

function restorePlan(core: Core, { rows }: ImportDocument): Plan {
  const ids = rows.map(({ nodeId }) => (typeof nodeId === 'string' && find(core, nodeId) ? nodeId : undefined));
  const restored = ids.filter((nodeId) => nodeId !== undefined).length;
  return { ids, counts: { restored, skipped: ids.length - restored } };
}

/** Keeps ids that are free, or belong to nodes that the import replaces. */
function replacePlan({ core, limits }: CallContext, root: string, rows: readonly TreeRow[]): Plan {
  const room = roomOf(limits);
  const outer = cursorOf(core, slotOf(core, root));
  const renamed = new Map<string, string>();
  for (const [i, { nodeId }] of rows.entries()) {
    const inner = find(core, nodeId);
    if (i === 0) renamed.set(nodeId, root);
    else if (nodeId === root || (inner && !isInside(core, { inner, outer }))) renamed.set(nodeId, freshId());
  }
  const idOf = (nodeId: string): string => renamed.get(nodeId) ?? nodeId;
  const placed = rows.map((row) => ({
    ...row,
    nodeId: idOf(row.nodeId),
    parentId: row.parentId === null ? null : idOf(row.parentId),
  }));
  const changed = [...renamed].filter(([from, to]) => from !== to);
  const named = fitList(changed, room);
  return {
    rows: placed,
    ids: placed.map(({ nodeId }) => nodeId),
    counts: {
      imported: rows.length,
      ...(named.length > 0 && { ids: Object.fromEntries(named) }),
      ...(named.length < changed.length && { truncated: 'bytes' }),
    },
  };
}

function replace(transaction: Transaction, root: string, rows: readonly TreeRow[]): void {
  const [first, ...below] = rows;
  if (!first) return;
  transaction.apply({
    kind: 'payload',
    nodeId: root,
    payloadType: first.payloadType,
    payload: structuredClone(first.payload),
  });
  transaction.apply({ kind: 'content', nodeId: root, rows: below });
}

/** Restores expansion, default and filters; returns whether any differed. */
function restoreView(
  { core, session, limits }: CallContext,
  document: ImportDocument,
  ids: readonly (string | undefined)[],
) {
  let changed = restoreDefaults(session, document, limits.maxPaths);
  for (const [i, nodeId] of ids.entries()) {
    const isExpanded = document.rows[i]?.isExpanded;
    if (nodeId === undefined || typeof isExpanded !== 'boolean') continue;
    const cursor = cursorOf(core, slotOf(core, nodeId));
    if (viewOf(session).isExpanded(cursor) === isExpanded) continue;
    for (const view of [session.collapsed, session.expanded]) view.setExpanded(cursor, isExpanded);
    changed = true;
  }
  if (changed) touchView(session, String(document.rootNodeId));
  return changed;
}

function restoreDefaults(session: Session, document: ImportDocument, maxPaths: number): boolean {
  const before = JSON.stringify([session.defaultExpanded, session.filter]);
  session.filter = {
    includedProperties: pathsOf(document.includedProperties, maxPaths) ?? session.filter.includedProperties,
    excludedProperties: pathsOf(document.excludedProperties, maxPaths) ?? session.filter.excludedProperties,
  };
  if (typeof document.defaultExpanded === 'boolean') session.defaultExpanded = document.defaultExpanded;
  return JSON.stringify([session.defaultExpanded, session.filter]) !== before;
}

function pathsOf(paths: unknown, maxPaths: number): readonly string[] | undefined {
  if (!Array.isArray(paths)) return undefined;
  const texts = paths.filter((path): path is string => typeof path === 'string' && path !== '');
  if (texts.length !== paths.length || texts.length > maxPaths) {
    const message = `must be at most ${maxPaths} property paths`;
    throw refused([{ path: '/IncludedProperties', code: 'filters', message }]);
  }
  for (const path of texts) if (!path.startsWith('$')) parsePath(path);
  return texts;
}

function refused(issues: readonly ImportIssue[]): PinnaceError {
  const [{ path, message }] = issues as [ImportIssue]; // safe: a refusal has an issue
  const text = `Cannot import the view: "${path === '' ? 'it' : path}" ${message}; nothing was changed`;
  const isUnknown = issues.every(({ code }) => code === 'unknown_field');
  return new PinnaceError('invalid_argument', text, {
    details: { reason: isUnknown ? 'unknown_field' : 'invalid_view', ...(isUnknown && { field: path }), issues },
  });
}
