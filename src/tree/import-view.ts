/** `import_view`: brings a view back, or its content. Checked as a whole first; then applied as a whole. */

import { PinnaceError } from '../base/errors.ts';
import { type Issue, pathText } from '../base/parse.ts';
import { fitList, isLargerThan, roomOf } from './answer-pages.ts';
import { type ImportDocument, type ImportRow, readDocument } from './import-rows.ts';
import { isNodeId, type TreeRow, type TypeRegistry } from './payload-types.ts';
import { parsePath } from './properties.ts';
import { cursorOf, find, isInside, slotOf } from './structure.ts';
import { ImportView } from './tool-input.ts';
import {
  type CallContext,
  destroys,
  type Output,
  type Session,
  type ToolSpec,
  toolSpec,
  touchView,
  viewOf,
  wholeOf,
} from './tool-spec.ts';
import type { Core, Transaction } from './tree-core.ts';
import { freshId } from './write-tools.ts';

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
    const document = readView(context, viewJson);
    const allowed = new Set(payloadTypes ?? types.names);
    const { rows, issues } = checkDocument(document, { types, allowed, isContentUsed, payloadBytes });
    if (issues.length > 0) throw refusedView(issues);
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

function readView({ core: { types }, limits }: CallContext, viewJson: unknown): ImportDocument {
  const isSelf = (name: unknown): boolean => typeof name === 'string' && types.get(name)?.selfPayload === true;
  const document = readDocument(viewJson, { limits, isSelf });
  if ('rows' in document) return document;
  throw refusedView([{ ...document, code: 'unreadable' }]);
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
    throw refusedView([{ path: '/IncludedProperties', code: 'filters', message }]);
  }
  for (const path of texts) if (!path.startsWith('$')) parsePath(path);
  return texts;
}

function refusedView(issues: readonly ImportIssue[]): PinnaceError {
  const [{ path, message }] = issues as [ImportIssue]; // safe: a refusal has an issue
  const text = `Cannot import the view: "${path === '' ? 'it' : path}" ${message}; nothing was changed`;
  const isUnknown = issues.every(({ code }) => code === 'unknown_field');
  return new PinnaceError('invalid_argument', text, {
    details: { reason: isUnknown ? 'unknown_field' : 'invalid_view', ...(isUnknown && { field: path }), issues },
  });
}

interface ImportRules {
  readonly types: TypeRegistry;
  readonly allowed: ReadonlySet<string>;
  /** Whether the content is going to be used, or only what is expanded. */
  readonly isContentUsed: boolean;
  readonly payloadBytes: number;
}

interface ImportIssue extends Issue {
  readonly code: string;
}

/** How many issues an answer lists. */
const maxIssues = 20;

/** Returns the rows as the schemas make them, and up to 20 issues. */
function checkDocument(
  document: ImportDocument,
  rules: ImportRules,
): { rows: TreeRow[]; issues: ImportIssue[] } {
  const issues: ImportIssue[] = [];
  const rows: TreeRow[] = [];
  const seen = new Set<string>();
  const path: string[] = [];
  issues.push(...checkEnvelope(document));
  for (const row of document.rows) {
    issues.push(...checkPlace(row, { seen, path }));
    const { payload, issues: found } = checkContent(row, rules);
    issues.push(...found);
    if (issues.length >= maxIssues) break;
    if (issues.length > 0) continue;
    // safe: checked just now
    rows.push({
      nodeId: row.nodeId as string,
      parentId: row.parentId,
      payloadType: row.payloadType as string,
      payload,
    });
  }
  if (document.rows.length === 0) issues.push({ path: '', code: 'no_root', message: 'must have a root' });
  if (rules.isContentUsed && isFiltered(document)) {
    issues.push({
      path: '',
      code: 'filtered',
      message: 'must hold all properties: export it without filters, or flat',
    });
  }
  return { rows, issues: issues.slice(0, maxIssues) };
}

/** The fields around the content; none is ignored silently. */
function checkEnvelope({ unknown, includedProperties, excludedProperties, defaultExpanded }: ImportDocument) {
  const issues = unknown.map((name) => unknownField('', name));
  const lists = { IncludedProperties: includedProperties, ExcludedProperties: excludedProperties };
  for (const [name, list] of Object.entries(lists)) {
    if (isGiven(list) && !Array.isArray(list)) issues.push(issue(`/${name}`, 'filters', 'must be a list of paths'));
  }
  if (isGiven(defaultExpanded) && typeof defaultExpanded !== 'boolean') {
    issues.push(issue('/DefaultExpanded', 'expansion', 'must be true or false'));
  }
  return issues;
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function unknownField(path: string, name: string): ImportIssue {
  return issue(`${path}/${pathText([name])}`, 'unknown_field', 'is not a field that an import knows');
}

function isFiltered({ includedProperties, excludedProperties }: ImportDocument): boolean {
  return [includedProperties, excludedProperties].some((paths) => Array.isArray(paths) && paths.length > 0);
}

function checkPlace({ nodeId, parentId, path: at }: ImportRow, { seen, path }: { seen: Set<string>; path: string[] }) {
  const issues: ImportIssue[] = [];
  if (!isNodeId(nodeId)) return [issue(at, 'invalid_id', 'must have an id of 1 to 128 characters')];
  if (seen.has(nodeId)) issues.push(issue(at, 'duplicate_id', 'has an id that another node has'));
  while (path.length > 0 && path.at(-1) !== parentId) path.pop();
  if (seen.size > 0 && path.length === 0) {
    const code = parentId === null ? 'second_root' : seen.has(parentId) ? 'not_pre_order' : 'unknown_parent';
    issues.push(issue(at, code, 'must stand behind its parent or one of its siblings, or what is below them'));
  }
  seen.add(nodeId);
  path.push(nodeId);
  return issues;
}

function checkContent(row: ImportRow, { types, allowed, isContentUsed, payloadBytes }: ImportRules) {
  const { path, payloadType } = row;
  const isKnown = typeof payloadType === 'string' && allowed.has(payloadType) && types.get(payloadType) !== undefined;
  const field = path.startsWith('/rows') ? 'payloadType' : 'PayloadType';
  if (!isKnown) {
    return { payload: {}, issues: [issue(`${path}/${field}`, 'payload_type', 'must be one of the payload types')] };
  }
  const odd = row.unknown.slice(0, maxIssues).map((name) => unknownField(path, name));
  if (isGiven(row.isExpanded) && typeof row.isExpanded !== 'boolean') {
    odd.push(issue(path, 'expansion', 'must say of its expansion true or false'));
  }
  if (!isContentUsed || odd.length > 0) return { payload: {}, issues: odd };
  if (row.isCollapsed) {
    return { payload: {}, issues: [issue(path, 'collapsed', 'must hold its children: expand all before the export')] };
  }
  const check = types.check(payloadType, row.payload);
  if (check.ok && isLargerThan(check.payload, payloadBytes)) {
    return { payload: {}, issues: [issue(path, 'too_large', `must have a payload of at most ${payloadBytes} bytes`)] };
  }
  if (check.ok) return { payload: check.payload, issues: [] };
  const issues = check.issues.map(({ path: inner, message }) =>
    issue(`${path}/${inner.replaceAll('.', '/')}`, check.reason === 'unknown_field' ? check.reason : 'payload', message)
  );
  return { payload: {}, issues };
}

/** The longest path that an issue shows: a nested view may be 500 levels deep. */
const maxPath = 300;

function issue(path: string, code: string, message: string): ImportIssue {
  return { path: path.slice(0, maxPath), code, message };
}
