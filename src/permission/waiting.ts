/**
 * The index of what waits for people: one entry for each name under which somebody may decide, so that a listing reads no records.
 *
 * - The record of the interruption is the truth. Entries are written and removed in its own commits: a listing may be late, never wrong.
 * - `owner:ada` has what ada's work waits for, whoever decides; `subject:bo`, `role:finance` and `actor:bo` what they were named for,
 *   and `*` all of a tenant, for its administrators. `asks` has what one run still waits for. The bell has news of a tenant.
 * - Entries live as long as the decision may be made. A sweep then closes the record, so that its watchers and receivers know.
 * - `seen` is the digest of what people are shown. A decision that names another one was made on another screen.
 */

import { PinnaceError } from '../base/errors.ts';
import { sha256Sync } from '../base/hash.ts';
import { canonicalJson } from '../base/json.ts';
import type { Key } from '../base/key.ts';
import type { Owner, Principal } from '../base/principal.ts';
import type { Change, Storage } from '../contracts/storage.ts';
import { dueChange, dueKey, type DueThing } from '../log/due.ts';
import type { NoticeMaker } from '../contracts/notices.ts';
import type { DelegatedRecord } from './ownership.ts';

/** What people are shown of a question. */
export interface WaitingFacts extends Readonly<Record<string, unknown>> {
  /** What is to be done, in words that no model and no tool has written. */
  readonly title: string;
  /** What it is about: data, shown in quotation marks. */
  readonly quote?: string | undefined;
  /** The id of the tool that is to be called. */
  readonly toolId?: string;
  /** The tool may change something and has no undo. */
  readonly cannotUndo?: true;
}

/** How the server goes on with a stored chat when nothing of it waits any more. */
export interface GoesOn {
  readonly chatId: string;
  /** For whom, with the rights of the request that has asked. */
  readonly owner: Owner;
  /** What that request has set besides its messages. */
  readonly request: Readonly<Record<string, unknown>>;
}

/** The part of an interruption that the index is made of. */
export interface WaitingRecord extends DelegatedRecord {
  readonly id: string;
  readonly kind: 'approval' | 'question' | 'sign_in' | 'elicitation' | 'undo';
  readonly runId: string;
  /** Milliseconds since 1970. Absent in records of earlier versions, which have no entries. */
  readonly openedAt?: number | undefined;
  readonly expiresAt: number;
  readonly facts?: WaitingFacts | undefined;
  readonly goesOn?: GoesOn | undefined;
  /** The chat of the run. */
  readonly chatId?: string | undefined;
}

/** An entry of the index. */
export interface WaitingSummary {
  readonly id: string;
  readonly kind: WaitingRecord['kind'];
  readonly title: string;
  readonly quote?: string;
  readonly toolId?: string;
  readonly agentId: string;
  readonly cannotUndo?: true;
  /** Whose work waits. */
  readonly subject: string;
  readonly actor?: string;
  readonly approvers?: readonly string[];
  readonly fourEyes?: true;
  readonly runId: string;
  readonly chatId?: string;
  /** Whether the server goes on by itself. Otherwise the chat's client does. */
  readonly goesOn: boolean;
  /** Milliseconds since 1970. */
  readonly openedAt: number;
  readonly expiresAt: number;
  /** The digest of what is shown: a decision names it. */
  readonly seen: string;
}

/** The most questions that wait of one subject. */
export const mostWaiting = 200;

const dayMs = 86_400_000;

/** Where the entries of a name are, the oldest first. */
export function waitingPrefix(tenant: string, name: string): Key {
  return ['waiting', tenant, name];
}

/** What one run still waits for: the kind of each, or `true` in entries of earlier versions. An undo keeps no run waiting. */
export function asksPrefix(runId: string): Key {
  return ['asks', runId];
}

/** Changes with everything that is opened or settled in a tenant. */
export function bellKey(tenant: string): Key {
  return ['waiting-bell', tenant];
}

/** The names under which a caller finds what it may decide on, or has asked for. */
export function namesOf({ subject, actor = subject, roles = [] }: Principal): readonly string[] {
  return [
    `owner:${subject}`,
    `subject:${subject}`,
    `actor:${actor}`,
    ...roles.slice(0, mostRoles).map((role) => `role:${role}`),
  ];
}

/** Everything of a tenant. */
export const everyone = '*';
const mostRoles = 16;

/** The digest of what people are shown. */
export function seenOf({ kind, facts }: Pick<WaitingRecord, 'kind' | 'facts'>): string {
  return sha256Sync(canonicalJson([kind, facts ?? null])).slice(0, 32);
}

/** The entry of a record; `undefined` for records without entries. */
export function summaryOf(record: WaitingRecord): WaitingSummary | undefined {
  const {
    id,
    kind,
    agentId = '',
    subject,
    actor,
    approvers,
    fourEyes,
    runId,
    openedAt,
    expiresAt,
    facts,
    goesOn,
    chatId,
  } = record;
  if (openedAt === undefined || !facts || subject === undefined) return undefined;
  const { title, quote, toolId, cannotUndo } = facts;
  return {
    id,
    kind,
    title,
    ...(quote !== undefined && { quote }),
    ...(toolId !== undefined && { toolId }),
    ...(cannotUndo && { cannotUndo }),
    agentId,
    subject,
    ...(actor !== undefined && { actor }),
    ...(approvers && { approvers }),
    ...(fourEyes && { fourEyes }),
    runId,
    ...(chatId !== undefined && { chatId }),
    goesOn: goesOn !== undefined || kind === 'undo' || runId.startsWith('plan_'),
    openedAt,
    expiresAt,
    seen: seenOf(record),
  };
}

/** The changes that enter a record, for the commit that writes it. */
export function waitingChanges(record: WaitingRecord, now: number): readonly Change[] {
  const summary = summaryOf(record);
  if (!summary) return [];
  const ttlMs = Math.max(1, record.expiresAt - now);
  return [
    ...keysOf(record).map((key) => ({ key, value: key[0] === 'asks' ? record.kind : summary, ttlMs })),
    ...expiryOf(record).map((thing) => dueChange(thing, ttlMs + dayMs)),
    ring(record),
  ];
}

/** The changes that remove it, for the commit that settles it. */
export function settledChanges(record: WaitingRecord): readonly Change[] {
  if (!summaryOf(record)) return [];
  const keys = [...keysOf(record), ...expiryOf(record).map(({ at, id }) => dueKey(at, id))];
  return [...keys.map((key) => ({ key })), ring(record)];
}

/** A commit takes less than this. */
const commitMs = 500;

/** The changes that announce it to receivers outside, for the same commit. */
export function announcedChanges(
  notices: NoticeMaker | undefined,
  record: WaitingRecord,
  { type, at, state }: {
    readonly type: 'inbox.opened' | 'inbox.settled';
    readonly at: number;
    readonly state?: string;
  },
): readonly Change[] {
  const summary = notices && summaryOf(record);
  if (!summary) return [];
  const { id, kind, title, quote, toolId, agentId, subject, runId, expiresAt } = summary;
  const facts = { kind, title, toolId, agentId, subject, runId, expiresAt: new Date(expiresAt).toISOString(), state };
  notices.send(at + commitMs);
  return notices.changes({
    type,
    tenant: record.tenant,
    item: id,
    at,
    data: { ...facts, ...(quote !== undefined && { detail: { quote } }) },
  });
}

function keysOf({ id, tenant, subject, approvers = [], runId, openedAt = 0 }: WaitingRecord): readonly Key[] {
  const names = new Set([`owner:${subject}`, ...approvers, everyone]);
  return [...[...names].map((name) => [...waitingPrefix(tenant, name), openedAt, id]), [...asksPrefix(runId), id]];
}

/** A sweep closes what has expired. Plans have deadlines of their own. */
function expiryOf({ id, tenant, expiresAt }: WaitingRecord): readonly DueThing[] {
  return id.startsWith('apr_') ? [{ id, tenant, at: expiresAt }] : [];
}

function ring({ tenant }: WaitingRecord): Change {
  return { key: bellKey(tenant), value: crypto.randomUUID(), ttlMs: dayMs };
}

/**
 * Checks that so many more questions may wait for a decision on the subject's work.
 *
 * @throws PinnaceError `rate_limited` (`too_many_waiting`).
 */
export async function requireRoom(
  storage: Pick<Storage, 'list'>,
  { tenant, subject }: Pick<Principal, 'tenant' | 'subject'>,
  more: number,
): Promise<void> {
  const waiting = await storage.list({ prefix: waitingPrefix(tenant, `owner:${subject}`), limit: mostWaiting });
  if (waiting.length + more <= mostWaiting) return;
  throw new PinnaceError(
    'rate_limited',
    `Cannot ask a person: ${waiting.length} questions wait for decisions already, and ${mostWaiting} may; decide on them first`,
    { details: { reason: 'too_many_waiting', limit: mostWaiting } },
  );
}
