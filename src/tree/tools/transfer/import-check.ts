/** Checks the rows of an import before anything of them is applied. */

import { type Issue, pathText } from '../../../base/parse.ts';
import { isLargerThan } from '../pages/answer-size.ts';
import type { ImportDocument, ImportRow } from './import-rows.ts';
import type { TypeRegistry } from '../../nodes/payload-types.ts';
import { isNodeId, type TreeRow } from '../../nodes/row.ts';

/** What an import must meet. */
export interface ImportRules {
  readonly types: TypeRegistry;
  /** The payload types that the caller allows. */
  readonly allowed: ReadonlySet<string>;
  /** Whether the content is going to be used, or only what is expanded. */
  readonly isContentUsed: boolean;
  /** The most bytes of one payload. */
  readonly payloadBytes: number;
}

/** An issue with a code. */
export interface ImportIssue extends Issue {
  readonly code: string;
}

/** How many issues an answer lists. */
const maxIssues = 20;

/** Returns the rows as the schemas make them, and up to 20 issues. */
export function checkDocument(
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
