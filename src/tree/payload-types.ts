/** The kinds of payload that a tree may hold, and the check of a payload against them. */

import * as v from 'valibot';
import { wrongArgument } from '../base/check-options.ts';
import { PinnaceError } from '../base/errors.ts';
import { isRecord } from '../base/is-record.ts';
import { checkData } from '../base/json.ts';
import { type Issue, pathText, toIssue } from '../base/parse.ts';
import type { Payload } from './node-store.ts';

/** One kind of payload. */
export interface PayloadType {
  /** A valibot schema whose output is an object of JSON. A payload with a field that the schema drops is refused: `unknown_field`. */
  readonly schema: v.GenericSchema<unknown, unknown>;
  /** The payload is the node itself: its properties are beside `NodeId` and the like, and cannot have their names. */
  readonly selfPayload?: boolean;
  /** Default values of a new node's payload. */
  readonly defaults?: Payload;
  /** The property that names a node to people; without it `name`, `title` or `label`. */
  readonly label?: string;
}

/** By name: a kind of payload, or just its schema. */
export type PayloadTypes = Readonly<Record<string, PayloadType | v.GenericSchema<unknown, unknown>>>;

/** The result of checking a payload: as the schema returns it, or what is wrong. */
type PayloadCheck =
  | { readonly ok: true; readonly payload: Payload }
  | BadPayload;

/** A payload that was refused; `unknown_field` where all that is wrong are fields that the schema does not know. */
interface BadPayload {
  readonly ok: false;
  readonly reason: 'invalid_payload' | 'unknown_field';
  readonly issues: readonly Issue[];
}

/** The kinds of payload of one tree, also by number. */
export interface TypeRegistry {
  readonly names: readonly string[];
  numberOf(name: string): number | undefined;
  get(name: string): PayloadType | undefined;
  at(number: number): PayloadType;
  check(name: string, payload: unknown, stored?: Payload): PayloadCheck;
}

/** Names of a self-payload node that are the tree's own. */
const reserved = new Set(['nodeid', 'children', 'parent', 'payloadtype', 'isexpanded', 'childrencount']);

export function createTypeRegistry(payloadTypes: PayloadTypes): TypeRegistry {
  const names = Object.keys(payloadTypes);
  const types = Object.entries(payloadTypes).map(([name, given]): PayloadType => {
    const type: PayloadType = 'schema' in given ? given : { schema: given };
    if (type.schema.kind === 'schema') return type;
    throw wrongArgument(
      'create the tree',
      name,
      `the payload type "${name}" takes a schema of valibot, such as v.object({ … })`,
    );
  });
  const numbers = new Map(names.map((name, number) => [name, number]));
  const get = (name: string): PayloadType | undefined => types[numbers.get(name) ?? -1];
  return {
    names,
    numberOf: (name) => numbers.get(name),
    get,
    at: (number) => types[number]!, // safe: numbers come from `numberOf`
    check(name, payload, stored) {
      const type = get(name);
      return type ? checkPayload(type, payload, stored) : invalidPayload([unknownType(name, names)]);
    },
  };
}

/** The error for a payload type that the tree does not know. */
export function unknownType(name: unknown, names: readonly string[]): Issue {
  const text = String(name);
  return {
    path: '',
    message: `is not a payload type of this tree: "${text.slice(0, 64)}"; there are ${quoted(names)}`,
  };
}

function quoted(names: readonly string[]): string {
  return names.slice(0, 20).map((name) => `"${name}"`).join(', ') || 'none';
}

function checkPayload({ schema, selfPayload }: PayloadType, payload: unknown, stored?: Payload): PayloadCheck {
  const refusal = refuse(payload);
  if (refusal) return invalidPayload([refusal]);
  const result = v.safeParse(schema, payload);
  if (!result.success) return toBadPayload(result.issues);
  if (!isRecord(result.output)) return invalidPayload([{ path: '', message: 'must be an object' }]);
  const taken = selfPayload ? Object.keys(result.output).find(isReserved) : undefined;
  if (taken !== undefined) return invalidPayload([{ path: taken, message: 'is a name of the node itself' }]);
  return keepAll(payload as Payload, result.output, stored); // safe: `refuse` lets only objects pass
}

/** A success that drops a field would be a silent loss. */
function keepAll(input: Payload, output: Payload, stored: Payload | undefined): PayloadCheck {
  const lost = lostFields(input, output);
  if (lost.length === 0) return { ok: true, payload: output };
  const unknown = stored ? lost.filter((path) => !hasField(stored, path)) : lost;
  if (unknown.length === 0) return { ok: true, payload: withFields(input, output, lost) };
  const issues = unknown.map((path) => ({ path: pathText(path), message: 'is not a field of this payload type' }));
  return { ok: false, reason: 'unknown_field', issues };
}

function invalidPayload(issues: readonly Issue[]): BadPayload {
  return { ok: false, reason: 'invalid_payload', issues };
}

/** A strict schema refuses unknown fields by itself. */
function toBadPayload(issues: readonly v.BaseIssue<unknown>[]): BadPayload {
  const isUnknown = issues.every(({ expected }) => expected === 'never');
  return { ok: false, reason: isUnknown ? 'unknown_field' : 'invalid_payload', issues: issues.map(toIssue) };
}

export function badPayload(what: string, { reason, issues }: BadPayload): PinnaceError {
  const [first] = issues;
  const where = first?.path ? `"${first.path}" ` : '';
  const why = first?.message ?? 'is not valid';
  return new PinnaceError('invalid_argument', `Cannot read ${what}: ${where}${why}; nothing was changed`, {
    details: { reason, ...(reason === 'unknown_field' && { field: first?.path }), issues: issues.slice(0, 20) },
  });
}

function refuse(payload: unknown): Issue | undefined {
  if (!isRecord(payload)) return { path: '', message: 'must be an object' };
  try {
    checkData(payload);
    return undefined;
  } catch (error) {
    if (!(error instanceof PinnaceError)) throw error;
    return { path: '', message: error.message.replace(/^[^:]*: /, 'must be plain JSON: ') };
  }
}

/** Whether a name is the tree's own on a node whose payload is the node. Case does not matter. */
export function isReserved(name: string): boolean {
  return reserved.has(name.toLowerCase());
}

type FieldPath = readonly string[];

/** How many fields a refusal lists. */
const maxFields = 20;

/**
 * Returns the fields of the input that the output does not have, also nested and in lists; at most 20. Fields that the schema added
 * do not matter, nor does a value that it turned into another kind.
 */
function lostFields(input: unknown, output: unknown): readonly FieldPath[] {
  const lost: FieldPath[] = [];
  collectLost({ input, output, path: [] }, lost);
  return lost;
}

interface Pair {
  readonly input: unknown;
  readonly output: unknown;
  readonly path: FieldPath;
}

/** Payloads are at most 64 levels deep, so this may call itself. */
function collectLost({ input, output, path }: Pair, lost: FieldPath[]): void {
  if (!isContainer(input) || !isContainer(output) || input === output) return;
  if (Array.isArray(input) !== Array.isArray(output)) return;
  for (const [name, value] of Object.entries(input)) {
    if (lost.length >= maxFields) return;
    if (value === undefined) continue;
    const stored = Object.hasOwn(output, name) ? output[name] : undefined;
    if (stored === undefined) lost.push([...path, name]);
    else collectLost({ input: value, output: stored, path: [...path, name] }, lost);
  }
}

/** Returns a copy of the output with these fields of the input that it has a place for. */
function withFields(input: Payload, output: Payload, fields: readonly FieldPath[]): Payload {
  const copy = structuredClone(output);
  for (const path of fields) {
    const [from, to] = [holderOf(input, path), holderOf(copy, path)];
    const name = path.at(-1)!; // safe: a path has a name
    if (from && to) to[name] = structuredClone(from[name]);
  }
  return copy;
}

function hasField(payload: Payload, path: FieldPath): boolean {
  return Object.hasOwn(holderOf(payload, path) ?? {}, path.at(-1)!); // safe: as above
}

function holderOf(payload: unknown, path: FieldPath): Record<string, unknown> | undefined {
  let here = payload;
  for (const name of path.slice(0, -1)) here = isContainer(here) && Object.hasOwn(here, name) ? here[name] : undefined;
  return isContainer(here) ? here : undefined;
}

function isContainer(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

/** A node as data. In a list, parents precede their children, and siblings are in order (pre-order). */
export interface TreeRow {
  readonly nodeId: string;
  /** `null` for the root. */
  readonly parentId: string | null;
  readonly payloadType: string;
  readonly payload: Payload;
}

export const maxIdLength = 128;

export function isNodeId(nodeId: unknown): nodeId is string {
  return typeof nodeId === 'string' && nodeId.length > 0 && nodeId.length <= maxIdLength && nodeId.isWellFormed();
}

/**
 * Checks ids, payload types and payloads, and returns the rows as the schemas make them. Their order is checked on insertion.
 * @throws PinnaceError `invalid_argument` with up to 20 issues.
 */
export function checkRows(types: TypeRegistry, rows: Iterable<TreeRow>): TreeRow[] {
  const checked: TreeRow[] = [];
  const issues: Issue[] = [];
  let areUnknownFields = true;
  let i = 0;
  for (const row of rows) {
    const path = `rows.${i++}`;
    if (!isNodeId(row.nodeId)) {
      areUnknownFields = false;
      issues.push({ path: `${path}.nodeId`, message: `must be text of 1 to ${maxIdLength}` });
    }
    const check = types.check(row.payloadType, row.payload);
    if (check.ok) {
      checked.push({ ...row, payload: check.payload });
      continue;
    }
    areUnknownFields &&= check.reason === 'unknown_field';
    issues.push(...check.issues.map((issue) => ({ ...issue, path: joinPath(`${path}.payload`, issue.path) })));
    if (issues.length >= 20) break;
  }
  if (issues.length === 0) return checked;
  throw badPayload('the rows of the tree', {
    ok: false,
    reason: areUnknownFields ? 'unknown_field' : 'invalid_payload',
    issues,
  });
}

function joinPath(path: string, rest: string): string {
  return rest === '' ? path : `${path}.${rest}`;
}

/** The error for rows that do not form one tree in pre-order. */
export function badRows(row: TreeRow, why: string): PinnaceError {
  return new PinnaceError('invalid_argument', `Cannot insert node "${row.nodeId}": ${why}`, {
    details: { reason: 'invalid_rows' },
  });
}
