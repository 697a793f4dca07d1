/** What waits for people: the interface of the inbox. `src/inbox` works it, and is loaded on use. */

import * as v from 'valibot';
import type { ErrorData } from '../base/errors.ts';
import type { Page, PageOptions } from '../base/page.ts';
import type { Principal } from '../base/principal.ts';
import type { JsonSchema } from '../base/schema.ts';
import type { UndoReport } from './undo-types.ts';
import type { WaitingFacts, WaitingSummary } from '../permission/waiting.ts';

/** Something that waits for a person. */
export interface InboxItem extends WaitingSummary {
  /**
   * Why the caller may not decide: another person than the one who has asked must (`own_request`), others are named
   * (`not_an_approver`), or the answer is its owner's (`owner_only`). Absent: it may.
   */
  readonly blocked?: 'own_request' | 'not_an_approver' | 'owner_only';
}

/** An item with everything that a person is shown. */
export interface InboxDetail extends InboxItem {
  /** For calls the description of the call, for questions of plans the question with its schema or options. */
  readonly facts: WaitingFacts;
  /** The input, where the person may change it, and its schema. */
  readonly edit?: { readonly input: unknown; readonly schema: JsonSchema };
}

/** Which items. */
export interface InboxQuery extends PageOptions {
  readonly kind?: InboxItem['kind'] | undefined;
  readonly agentId?: string | undefined;
  readonly toolId?: string | undefined;
  /** Opened before this time, in milliseconds since 1970. */
  readonly before?: number | undefined;
  /** `tenant`: all of the tenant, for the scope `admin`. Default: what the caller may decide on or has asked for. */
  readonly of?: 'me' | 'tenant' | undefined;
}

/** A page of items, the oldest first, and how many wait from its first item on, up to 1,000. */
export interface InboxPage extends Page<InboxItem> {
  readonly waiting: number;
}

/** The decision on one item. */
export interface InboxDecision {
  readonly id: string;
  /** The digest that the item was listed with: nobody decides on what was not on the screen. */
  readonly seen: string;
  readonly approved: boolean;
  readonly reason?: string | undefined;
  /** The answer to a question of a plan, or the `answers` to the questions of an MCP server. */
  readonly answer?: unknown;
  /** What to call the tool with in place of its input. */
  readonly input?: unknown;
}

/** What became of one decision. The others of its request do not depend on it. */
export type InboxResult =
  | {
    readonly id: string;
    readonly state: 'stored';
    /** The run with which the server goes on, or the plan; absent while more waits, and where the chat's client goes on. */
    readonly runId?: string;
    /** What an approved undo has taken back. Absent where another instance does it. */
    readonly undo?: UndoReport;
  }
  | { readonly id: string; readonly state: 'refused'; readonly error: ErrorData };

/** A change of what waits. A new watcher gets everything as a `snapshot` first. */
export type InboxChange =
  | { readonly type: 'snapshot'; readonly items: readonly InboxItem[] }
  | { readonly type: 'opened'; readonly item: InboxItem }
  /** Decided, closed or expired. */
  | { readonly type: 'settled'; readonly id: string };

/** How to watch. */
export interface InboxWatch extends Pick<InboxQuery, 'of'> {
  readonly signal?: AbortSignal | undefined;
}

/** What waits for people, of runs, programs and plans. All methods need the scope `tool:approve`. */
export interface Inbox {
  /**
   * Lists what the caller may decide on, and what its own work waits for. Reads no records.
   *
   * Rejects with `forbidden` for the tenant's without the scope `admin`, `invalid_argument` for a wrong limit or page token.
   *
   * @example
   * const { items, waiting } = await runtime.inbox.list(principal, { kind: 'approval' });
   */
  list(principal: Principal, query?: InboxQuery): Promise<InboxPage>;
  /** Returns an item with all that a person is shown. Rejects with `not_found`, `already_decided`, `approval_expired`. */
  get(id: string, principal: Principal): Promise<InboxDetail>;
  /**
   * Decides on 1 to 100 items, each for itself. Where the server stores the chat, it goes on when nothing of it waits any more.
   *
   * Rejects with `invalid_argument` for a request that is none. The errors of items are in their results: `conflict`
   * (`facts_changed`) for another digest than the listed one, `not_found`, `forbidden`, `already_decided`, `approval_expired`.
   *
   * @example
   * const results = await runtime.inbox.decide(items.map(({ id, seen }) => ({ id, seen, approved: true })), principal);
   */
  decide(decisions: readonly InboxDecision[], principal: Principal): Promise<readonly InboxResult[]>;
  /** Streams what waits: a snapshot, then each change, until the signal aborts or the stream is canceled. */
  watch(principal: Principal, options?: InboxWatch): Promise<ReadableStream<InboxChange>>;
}

/** The most decisions of one request. */
const mostDecisions = 100;

/** The schema of one request of decisions. */
export const InboxDecisions: v.GenericSchema<unknown, readonly InboxDecision[]> = v.pipe(
  v.array(v.strictObject({
    id: v.pipe(v.string(), v.minLength(1), v.maxLength(200)),
    seen: v.pipe(v.string(), v.maxLength(64)),
    approved: v.boolean(),
    reason: v.optional(v.pipe(v.string(), v.maxLength(500))),
    answer: v.optional(v.unknown()),
    input: v.optional(v.unknown()),
  })),
  v.minLength(1),
  v.maxLength(mostDecisions),
);
