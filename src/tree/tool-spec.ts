/** One tool of the tree: how it reads its input, which nodes it depends on, and what it does. */

import type * as v from 'valibot';
import { BoundedMap } from '../base/bounded-map.ts';
import { type ErrorData, PinnaceError, toData } from '../base/errors.ts';
import type { ToolAnnotations } from '../base/schema.ts';
import { type AuditSink, AuditTrail, Ledger, type Rate, RateLimiter } from './desk.ts';
import type { PropertyFilter } from './properties.ts';
import type { Touch } from './structure.ts';
import type { Core, Transaction } from './tree-core.ts';
import { createTextCache, type TextCache } from './tree-search.ts';
import type { View } from './view.ts';

type Schema = v.GenericSchema<unknown, Readonly<Record<string, unknown>>>;

/** A node, and its parts that must be unchanged since the caller read it. */
export interface Dependency {
  readonly nodeId: string;
  readonly kinds: readonly Touch['kind'][];
  /** So must everything below the node. */
  readonly isDeep?: boolean;
}

/** The node with everything below it. */
export function wholeOf(nodeId: string): Dependency {
  return { nodeId, kinds: ['payload', 'children', 'place'], isDeep: true };
}

/** The agent's own view, whichever of its nodes. */
export function viewOfNode(nodeId: string): Dependency {
  return { nodeId, kinds: ['view'] };
}

/** A tool with the input `S`. `view` and `tree` change the agent's view or, through the transaction, the tree; the output says `changed`. */
interface Spec<S extends Schema> {
  readonly name: string;
  readonly description: string;
  readonly annotations: v.InferOutput<typeof ToolAnnotations>;
  readonly kind: 'read' | 'export' | 'view' | 'tree';
  readonly input: S;
  readonly targets: (input: v.InferOutput<S>) => readonly string[];
  /** What is wrong whatever the version; throws `invalid_argument`. */
  readonly guard?: (context: CallContext, input: v.InferOutput<S>) => void;
  /** Reads what is large in the input, once, before the tree is locked; throws `invalid_argument`. */
  readonly prepare?: (context: CallContext, input: v.InferOutput<S>) => void;
  /** What must be unchanged since the caller read it; `undefined`: the whole tree. */
  readonly dependsOn?: (input: v.InferOutput<S>) => readonly Dependency[] | undefined;
  /** Takes so long that others change the tree meanwhile: only changes of what it depends on are conflicts, in every tree. */
  readonly isLong?: boolean;
  readonly run: (context: CallContext, input: v.InferOutput<S>, transaction: Transaction) => Output;
}

/** A tool whose input type is hidden: `input` and `run` belong together. */
export type ToolSpec = Spec<Schema>;

export function toolSpec<S extends Schema>(spec: Spec<S>): ToolSpec {
  return spec as unknown as ToolSpec; // safe: `call` passes only values that `input` has checked
}

/** Annotations of the reading tools, and of the changing ones by what a repeat does. */
export const reads = { readOnlyHint: true, openWorldHint: false } as const;
export const adds = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: false,
  openWorldHint: false,
} as const;
export const sets = { ...adds, idempotentHint: true } as const;
export const destroys = { ...adds, destructiveHint: true } as const;

/** How a page is written. Columns and outlines take a fraction of the bytes of rows. */
export type Shape = 'rows' | 'columns' | 'outline' | 'nested';

/** The agent that calls, and its permissions. */
export interface Caller {
  readonly core: Core;
  readonly desk: Desk;
  readonly agentId: string;
  readonly role: 'reader' | 'editor';
  readonly readOnly: boolean;
  readonly exportRole: 'reader' | 'editor';
  /** Whose changes `undo` takes back. */
  readonly undo: 'own' | 'any';
  readonly limits: TreeLimits;
  readonly shape: Shape;
  readonly audit: AuditSink | undefined;
  readonly now: () => number;
}

export interface CallContext extends Caller {
  readonly session: Session;
}

export interface Session {
  readonly viewId: string;
  /**
   * What the agent expanded and collapsed, over each of the two defaults: a node never touched is collapsed in the first and expanded
   * in the second. So `defaultExpanded` of a call is only a choice between them.
   */
  readonly collapsed: View;
  readonly expanded: View;
  viewRev: number;
  readonly viewTouches: (Touch & { readonly viewRev: number })[];
  defaultExpanded: boolean;
  filter: PropertyFilter;
}

/** What the tools of all agents at one tree share. */
interface Desk {
  readonly core: Core;
  readonly sessions: BoundedMap<string, Session>;
  readonly ledger: Ledger;
  readonly audit: AuditTrail;
  readonly texts: TextCache;
  /** Outlives the sessions: an agent whose view was evicted is still limited. */
  readonly rates: RateLimiter;
}

/** The maximum number of agents' views; the least recently used is evicted, which makes its version tokens stale. */
const maxSessions = 64;
const maxViewTouches = 200;

const desks = new WeakMap<Core, Desk>();

export function deskOf(core: Core): Desk {
  const known = desks.get(core);
  if (known) return known;
  const desk: Desk = {
    core,
    sessions: new BoundedMap(maxSessions, (session) => dropViews(core, session)),
    ledger: new Ledger(),
    audit: new AuditTrail(),
    texts: createTextCache(),
    rates: new RateLimiter(),
  };
  desks.set(core, desk);
  return desk;
}

let lastViewId = 0;

export function sessionOf({ core, sessions }: Desk, agentId: string): Session {
  return sessions.getOrCreate(agentId, () => createSession(core));
}

function createSession(core: Core): Session {
  return {
    viewId: (++lastViewId).toString(36),
    collapsed: core.addView({ defaultExpanded: false }),
    expanded: core.addView({ defaultExpanded: true }),
    viewRev: 0,
    viewTouches: [],
    defaultExpanded: false,
    filter: { includedProperties: [], excludedProperties: [] },
  };
}

/** The agent's view with this default; without one, its own. */
export function viewOf(session: Session, defaultExpanded = session.defaultExpanded): View {
  return defaultExpanded ? session.expanded : session.collapsed;
}

export function touchView(session: Session, nodeId: string): void {
  session.viewRev++;
  session.viewTouches.push({ nodeId, kind: 'view', viewRev: session.viewRev });
  if (session.viewTouches.length > maxViewTouches) session.viewTouches.shift();
}

function dropViews(core: Core, { collapsed, expanded }: Session): void {
  for (const view of [collapsed, expanded]) core.dropView(view);
}

/** The bounds of a tree's tools. */
export interface TreeLimits {
  /** Rows of a page where the call names no number, and at most. */
  readonly pageSize: number;
  readonly maxPageSize: number;
  /** Bytes of an answer. A page that would be larger ends early; `get_node` may take `valueBytes` more, an export `importBytes`. */
  readonly responseBytes: number;
  /** Bytes of one text in a page; `get_node` returns it in full. */
  readonly textBytes: number;
  /** Bytes of one new value, of a whole payload, and of a call's arguments besides an import's view. */
  readonly valueBytes: number;
  readonly payloadBytes: number;
  readonly inputBytes: number;
  /** Paths in a list of properties or filters, and operations in a batch. */
  readonly maxPaths: number;
  readonly maxBatch: number;
  /** Bytes and nodes of an import or an export. */
  readonly importBytes: number;
  readonly maxNodes: number;
  /** Nodes of a nested export; more go in flat rows. */
  readonly nestedNodes: number;
  /** A search that has found nothing for this long answers with a page token. */
  readonly searchMs: number;
  /** Calls per agent; absent: as many as it likes. */
  readonly reads?: Rate;
  readonly writes?: Rate;
}

export const defaultTreeLimits: TreeLimits = {
  pageSize: 50,
  maxPageSize: 1000,
  responseBytes: 64 * 1024,
  textBytes: 2 * 1024,
  valueBytes: 64 * 1024,
  payloadBytes: 1024 * 1024,
  inputBytes: 1024 * 1024,
  maxPaths: 100,
  maxBatch: 1000,
  importBytes: 16 * 1024 * 1024,
  maxNodes: 1_000_000,
  nestedNodes: 10_000,
  searchMs: 50,
};

/** The deepest nested view; what is deeper goes in flat rows. */
export const maxNestedDepth = 500;

/** The output of a tool, without its version. */
export type Output = Readonly<Record<string, unknown>>;

export type Answer = Output & { readonly version: string };

/** The outcome of a call. */
export type TreeOutcome =
  | { readonly ok: true; readonly output: Answer }
  | { readonly ok: false; readonly error: TreeErrorData };

/** The codes of the tree's tools. */
export type TreeErrorCode = 'invalid_argument' | 'not_found' | 'forbidden' | 'conflict' | 'rate_limited' | 'internal';

/** An error of a tool. The version, changes and issues of `details` are also beside the code. */
export interface TreeErrorData extends ErrorData {
  readonly code: TreeErrorCode;
  /** The latest version. */
  readonly version?: string;
  /** What has changed since the version that the call gave. */
  readonly changes?: unknown;
  readonly issues?: unknown;
}

const codes: ReadonlySet<string> = new Set<TreeErrorCode>([
  'invalid_argument',
  'not_found',
  'forbidden',
  'conflict',
  'rate_limited',
  'internal',
]);
const retryable: ReadonlySet<string> = new Set<TreeErrorCode>(['conflict', 'rate_limited', 'internal']);

/** The longest message: what it quotes may come from a caller. */
const maxMessage = 1000;

/** Returns the error as data. What is none of ours says nothing of itself. */
export function toTreeError(error: unknown): TreeErrorData {
  const { code: own, message, retryAfterMs, details: given } = toData(error);
  const code = isTreeCode(own) ? own : 'internal';
  const details = code === own ? given : { ...given, reason: own };
  const { version, changes, issues } = details ?? {};
  return {
    code,
    message: message.slice(0, maxMessage),
    retryable: retryable.has(code),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(typeof version === 'string' && { version }),
    ...(changes !== undefined && { changes }),
    ...(issues !== undefined && { issues }),
    ...(details && { details }),
  };
}

function isTreeCode(code: string): code is TreeErrorCode {
  return codes.has(code);
}

/** The error for a node that must exist. A node that was removed says when. */
export function missing(nodeId: string, removedAt: string | undefined): PinnaceError {
  const why = removedAt === undefined ? 'the tree has no such node' : 'it was removed';
  return new PinnaceError('not_found', `Cannot find node "${nodeId}": ${why}`, {
    details: { reason: removedAt === undefined ? 'unknown_node' : 'removed_node', ...(removedAt && { removedAt }) },
  });
}
