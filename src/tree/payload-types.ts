/** The kinds of payload that a tree may hold, and the check of a payload against them. */

import * as v from 'valibot';
import { PinnaceError } from '../errors.ts';
import { checkData } from '../json.ts';
import { type Issue, toIssue } from '../parse.ts';
import type { Payload } from './node-store.ts';

/** One kind of payload. */
export interface PayloadType {
  /** A valibot schema whose output is an object of JSON. */
  readonly schema: v.GenericSchema<unknown, unknown>;
  /** The payload is the node itself: its properties stand beside `NodeId` and the like, and cannot have their names. */
  readonly selfPayload?: boolean;
  /** What a new node's payload has where the caller gives nothing. */
  readonly defaults?: Payload;
  /** The property that names a node to people; without it `name`, `title` or `label`. */
  readonly label?: string;
}

/** By name: a kind of payload, or just its schema. */
export type PayloadTypes = Readonly<Record<string, PayloadType | v.GenericSchema<unknown, unknown>>>;

/** The result of checking a payload: as the schema gives it, or what is wrong. */
type PayloadCheck =
  | { readonly ok: true; readonly payload: Payload }
  | { readonly ok: false; readonly issues: readonly Issue[] };

/** The kinds of payload of one tree, also by number. */
export interface TypeRegistry {
  readonly names: readonly string[];
  numberOf(name: string): number | undefined;
  get(name: string): PayloadType | undefined;
  at(number: number): PayloadType;
  /** Checks a payload as a whole; never throws. */
  check(name: string, payload: unknown): PayloadCheck;
}

/** Names of a self-payload node that are the tree's own. */
const reserved = new Set(['nodeid', 'children', 'parent', 'payloadtype', 'isexpanded', 'childrencount']);

/** Gives the registry. */
export function createTypeRegistry(payloadTypes: PayloadTypes): TypeRegistry {
  const names = Object.keys(payloadTypes);
  const types = Object.values(payloadTypes).map((type): PayloadType => ('schema' in type ? type : { schema: type }));
  const numbers = new Map(names.map((name, number) => [name, number]));
  const get = (name: string): PayloadType | undefined => types[numbers.get(name) ?? -1];
  return {
    names,
    numberOf: (name) => numbers.get(name),
    get,
    at: (number) => types[number]!, // safe: numbers come from `numberOf`
    check(name, payload) {
      const type = get(name);
      return type ? checkPayload(type, payload) : { ok: false, issues: [unknownType(name, names)] };
    },
  };
}

/** The error for a payload type that the tree does not know. */
export function unknownType(name: string, names: readonly string[]): Issue {
  return { path: '', message: `is not a payload type of this tree: "${name}"; there are ${quoted(names)}` };
}

function quoted(names: readonly string[]): string {
  return names.slice(0, 20).map((name) => `"${name}"`).join(', ') || 'none';
}

function checkPayload({ schema, selfPayload }: PayloadType, payload: unknown): PayloadCheck {
  const refusal = refuse(payload);
  if (refusal) return { ok: false, issues: [refusal] };
  const result = v.safeParse(schema, payload);
  if (!result.success) return { ok: false, issues: result.issues.map(toIssue) };
  if (!isRecord(result.output)) return { ok: false, issues: [{ path: '', message: 'must be an object' }] };
  const taken = selfPayload ? Object.keys(result.output).find(isReserved) : undefined;
  if (taken !== undefined) return { ok: false, issues: [{ path: taken, message: 'is a name of the node itself' }] };
  return { ok: true, payload: result.output };
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

function isRecord(value: unknown): value is Payload {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
