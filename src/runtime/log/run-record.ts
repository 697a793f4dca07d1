/** The stored records of a run, and their keys. */

import type { ReportedUsage } from './run-chunks.ts';
import type { ErrorData } from '../../base/errors.ts';
import type { Key } from '../../base/key.ts';
import { sha256Sync } from '../../base/sha256-sync.ts';
import type { Principal } from '../../base/principal.ts';
import type { Storage } from '../../contracts/storage.ts';
import { readJournal } from '../../log/journal-record.ts';
import { type OwnedRecord, owns } from '../../permission/ownership.ts';
import type { RunEnd } from './run-end.ts';
import type { ForkedFrom } from './stitched-log.ts';

/** The state of a run, in the head of its log. */
export interface RunState {
  readonly state: 'running' | RunEnd['type'];
  readonly tenant: string;
  /** Whose run it is. Absent in records of version 0.2, which have it in `span`. */
  readonly subject?: string;
  /** Who has started it for the subject, where that is another. */
  readonly actor?: string;
  readonly agentId: string;
  readonly chatId: string;
  readonly traceId: string;
  /** The span of the run: the instance that finds the run lost emits its end. */
  readonly span?: { readonly spanId: string; readonly parentSpanId?: string; readonly subject?: string };
  /** The run before it in its chat, where this one continues the message of that one. */
  readonly continues?: string;
  /** The run that this one was forked from. */
  readonly parent?: ForkedFrom;
  /** When the run can be read no more, where that is before its retention has passed: what it shares with others expires. */
  readonly expiresAt?: number;
  /** The caller's own runtime, where the request named it. */
  readonly runtimeId?: string;
  /** The plan that the run follows. */
  readonly planId?: string;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly endedAt?: number;
  readonly error?: ErrorData;
  readonly usage?: ReportedUsage;
}

/** The record of an idempotency key. */
export interface IdempotencyRecord {
  readonly runId: string;
  /** SHA-256 of the request: the same key with another request is rejected. */
  readonly fingerprint: string;
}

/** One event of a run's stream, as it is sent. */
export interface RunEvent {
  /** From 1, without gaps. */
  readonly seq: number;
  /** A UI message chunk as JSON text. */
  readonly text: string;
}

/** The keys of one run. */
export function runPrefix(runId: string): Key {
  return ['run', runId];
}

/** The record of a call that may have acted: made before the tool runs, and closed after it. */
export function callKey(runId: string, toolCallId: string): Key {
  return ['run', runId, 'call', toolCallId.length <= 200 ? toolCallId : sha256Sync(toolCallId)];
}

/** Keys are the subject's and the issuer's, not the session's: a retry may come with a renewed certificate. */
export function idempotencyKey({ tenant, subject, session }: Principal, key: string): Key {
  return ['idempotency', tenant, session?.issuer ?? '', subject, key];
}

/** Where version 0.2 recorded the key: all subjects of an issuer shared it. Read for one release. */
export function sharedIdempotencyKey({ tenant, session }: Principal, key: string): Key {
  return ['idempotency', tenant, session?.issuer ?? '', key];
}

/** Where a chat's last run is found. */
export function chatKey({ tenant, subject }: Pick<Principal, 'tenant' | 'subject'>, chatId: string): Key {
  return ['chat', tenant, subject, chatId];
}

/** Finds the last run of the caller's chat. Version 0.2 recorded one for all subjects of a tenant: it counts if it is the caller's. */
export async function lastRunOf(
  storage: Storage,
  principal: Principal,
  chatId: string,
): Promise<string | undefined> {
  const own: unknown = (await storage.get(chatKey(principal, chatId)))?.value;
  if (own !== undefined) return typeof own === 'string' ? own : undefined;
  const shared: unknown = (await storage.get(['chat', principal.tenant, chatId]))?.value;
  if (typeof shared !== 'string') return undefined;
  const state = (await readJournal<RunState>(storage, runPrefix(shared)))?.head.state;
  return state && owns(principal, ownerOfRun(state)) ? shared : undefined;
}

/** The chat of the run that a run continues: a fork continues in another chat what its parent continued. */
export function chatBefore({ chatId, parent }: RunState): string {
  return parent?.chatId ?? chatId;
}

/** Whose run was the one that a run continues: a fork of an administrator goes on from the run of another. */
export function ownerBefore(state: RunState): OwnedRecord {
  return { ...ownerOfRun(state), ...(state.parent?.subject !== undefined && { subject: state.parent.subject }) };
}

/** Whose run it is. */
export function ownerOfRun({ tenant, subject, span, agentId }: RunState): OwnedRecord {
  return { tenant, subject: subject ?? span?.subject, agentId };
}
