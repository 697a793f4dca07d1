/** The stored records of a run, and their keys. */

import { type ErrorData, PinnaceError } from '../base/errors.ts';
import type { Key } from '../base/key.ts';
import { sha256Sync } from '../base/hash.ts';
import type { Principal } from '../base/principal.ts';
import type { Change, Storage } from '../contracts/storage.ts';
import { readJournal } from '../log/journal-record.ts';
import { type OwnedRecord, owns } from '../permission/ownership.ts';
import type { UIMessageChunk } from '../contracts/ai-types.ts';
import type { Money } from '../base/record-fields.ts';
import type { Loss } from '../tools/call-ends.ts';
import { actorOf, type Span, type SpanFacts, type SpanOptions, startSpan } from '../events/span.ts';

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
  /** How often another instance has gone on with it after a loss, and how many steps it had ended then. */
  readonly recovery?: { readonly count: number; readonly steps: number };
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

/** An event as what it says. */
export interface RecordedChunk extends RunEvent {
  readonly chunk: UIMessageChunk;
}

/** The keys of one run. */
export function runPrefix(runId: string): Key {
  return ['run', runId];
}

/** The record of a call that may have acted: made before the tool runs, and closed after it. */
function callKey(runId: string, toolCallId: string): Key {
  return ['run', runId, 'call', toolCallId.length <= 200 ? toolCallId : sha256Sync(toolCallId)];
}

/**
 * Keys are the subject's and the issuer's, not the session's: a retry may come with a renewed certificate. Those of the server are one
 * part longer, so that no issuer can name them.
 */
export function idempotencyKey(
  { tenant, subject, session }: Principal,
  { key, byServer }: { readonly key: string; readonly byServer?: true },
): Key {
  const issuer = byServer ? ['', '#server'] : [session?.issuer ?? ''];
  return ['idempotency', tenant, ...issuer, subject, key];
}

/** Where version 0.2 recorded the key: all subjects of an issuer shared it. Read for one release. */
export function sharedIdempotencyKey({ tenant, session }: Principal, key: string): Key {
  return ['idempotency', tenant, session?.issuer ?? '', key];
}

/** Where a cancellation is found that came while no instance had the run. */
export function cancelKey(runId: string): Key {
  return ['run', runId, 'cancel'];
}

/** The change that records what a run has used before a step. */
export function usageNote(runId: string, usage: object, ttlMs: number): Change {
  return { key: usageKey(runId), value: { ...usage }, ttlMs };
}

/** Where it is found. */
export function usageKey(runId: string): Key {
  return ['run', runId, 'used'];
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

/** Why the model stopped, as the AI SDK says it. */
export type FinishReason = NonNullable<Extract<UIMessageChunk, { type: 'finish' }>['finishReason']>;

/** The end of a run. */
export type RunEnd =
  | { readonly type: 'completed'; readonly finishReason: FinishReason }
  /** A person must approve calls before the chat can go on. */
  | { readonly type: 'awaiting_approval'; readonly finishReason: FinishReason }
  /** A plan waits for people: their replies go on with it, and the chat's next run follows it. */
  | { readonly type: 'suspended'; readonly finishReason: FinishReason }
  /** The run reached a limit; its output until then is valid. */
  | { readonly type: 'stopped'; readonly finishReason: FinishReason; readonly error: ErrorData }
  | { readonly type: 'cancelled'; readonly reason: string }
  | { readonly type: 'failed'; readonly error: ErrorData }
  /** The run has lost its instance, and none could go on with it. */
  | { readonly type: 'interrupted'; readonly error: ErrorData };

/** How a run is, or has ended: up to version 0.2 an interrupted one was recorded as failed. */
export function runStateOf({ state, error }: Pick<RunState, 'state' | 'error'>): RunState['state'] {
  return state === 'failed' && error?.details?.['reason'] === 'worker_lost' ? 'interrupted' : state;
}

/** Why calls that are open at this end of their run have no result. */
export function lossAt(end: RunEnd): Loss {
  if (end.type === 'cancelled') return 'cancelled';
  if (end.type === 'interrupted') return 'worker_lost';
  if (!('error' in end)) return 'run_failed';
  return end.error.code === 'deadline_exceeded' ? 'run_timeout' : 'run_failed';
}

/** What a run has used: counts by name, whether some are estimates, and the cost. */
export type ReportedUsage = Readonly<Record<string, number | true | Money | CacheUsage>>;

/** What the caches of providers may have had of the prompts of a run. */
export interface CacheUsage {
  /** About how many tokens of the prompts were the beginning of an earlier one. */
  readonly cacheableTokens: number;
  /** The prompts whose beginning was changed. */
  readonly breaks: readonly { readonly step: number; readonly reason: string; readonly lostTokens: number }[];
}

/** A run as its caller sees it. */
export interface RunStatus extends Omit<RunState, 'tenant' | 'actor' | 'span' | 'continues' | 'parent' | 'recovery'> {
  readonly runId: string;
  readonly lastSeq: number;
  /** The run that this one was forked from, and its first step. */
  readonly parent?: { readonly runId: string; readonly step: number };
}

/** Returns the status of a run with this state. */
export function toStatus(
  runId: string,
  { seq, state }: { seq: number; state: RunState },
): RunStatus {
  const { tenant: _, actor: __, span: ___, continues: ____, recovery: _____, parent, ...shown } = state;
  const { subject } = ownerOfRun(state);
  const from = parent && { parent: { runId: parent.runId, step: parent.step } };
  return {
    runId,
    ...shown,
    state: runStateOf(state),
    ...(subject !== undefined && { subject }),
    ...from,
    lastSeq: seq,
  };
}

/** Two requests claimed one key at the same time. */
export function claimedAtOnce(): PinnaceError {
  return new PinnaceError(
    'conflict',
    'Cannot start the run: another request claimed its key at the same time; send it again',
  );
}

/** No run of the caller has the id. */
export function notFound(): PinnaceError {
  return new PinnaceError('not_found', 'No run has this id', { details: { reason: 'run_not_found' } });
}

/** The run is past its retention. */
export function expired(): PinnaceError {
  return new PinnaceError('run_expired', 'Cannot read the run: its retention has passed');
}

/** The run has no event of this number. */
export function badCursor(): PinnaceError {
  return new PinnaceError('last_event_id_invalid', 'Cannot resume the run: it has no event with this number');
}

/** The key belongs to another request. */
export function reused(): PinnaceError {
  return new PinnaceError(
    'idempotency_key_reused',
    'Cannot start the run: its idempotency key was used for another request; use a new key',
  );
}

/** Items of one run's own log: those behind `after`, up to `to`. */
export interface Segment {
  readonly runId: string;
  readonly after: number;
  readonly to: number;
}

/** The run that a run was forked from, in the record of the fork. */
export interface ForkedFrom {
  readonly runId: string;
  readonly chatId: string;
  /** Whose run it was, where it is another's: an administrator has made the fork. */
  readonly subject?: string;
  /** The first step of the fork. */
  readonly step: number;
  /** How many forks are between it and a run that is none. */
  readonly depth: number;
  /** How many items of its own come first. */
  readonly opening: number;
  /** The items behind these, where they are stored. */
  readonly prefix: readonly Segment[];
}

/** Where the items behind a number are stored. */
interface Place extends Segment {
  /** Added to the number of a stored item, it is the number in the fork. */
  readonly shift: number;
}

/** Returns where the item behind `after` is stored; `undefined` for the fork's own items behind its prefix. */
export function placeOf(runId: string, { opening, prefix }: ForkedFrom, after: number): Place | undefined {
  if (after < opening) return { runId, after, to: opening, shift: 0 };
  let start = opening;
  for (const segment of prefix) {
    const offset = after - start;
    const length = segment.to - segment.after;
    if (offset < length) return { ...segment, after: segment.after + offset, shift: start - segment.after };
    start += length;
  }
  return undefined;
}

interface CallRecord {
  readonly toolCallId: string;
  readonly tool: string;
  /** Of a call of a program, redacted: an undo needs it, and the stream does not show it. */
  readonly input?: unknown;
}

/** Returns the change that records the start of the call. The tool must not run before it is committed with the run's log. */
export function callStart(runId: string, call: CallRecord, ttlMs: number): Change {
  return { key: callKey(runId, call.toolCallId), value: call, ttlMs };
}

/** The calls of a run that were recorded as started. */
export interface StartedCalls {
  /** Whether the call has started, or one of the calls of its program. */
  has(toolCallId: string): boolean;
}

/** Reads the calls of a run that were recorded as started. */
export async function startedCalls(runId: string, storage: Storage): Promise<StartedCalls> {
  const entries = await storage.list({ prefix: [...runPrefix(runId), 'call'], limit: 1000 });
  const ids = entries.map(({ value }) => (value as CallRecord).toolCallId); // written by this module alone
  return { has: (toolCallId) => ids.some((id) => id === toolCallId || id.startsWith(`${toolCallId}/`)) };
}

/** The run and its requester. */
interface RunFacts extends Pick<SpanFacts, 'traceId' | 'parentSpanId' | 'spanId' | 'startedAt'> {
  readonly runId: string;
  readonly tenant: string;
  readonly subject: string;
  readonly actor?: string | undefined;
  readonly agentId: string;
  readonly messages?: number;
  /** The caller's own runtime, where the request names it. */
  readonly runtimeId?: string | undefined;
  /** The names of what the request sets of its agent. */
  readonly settings?: string | undefined;
}

/** Starts the span. */
export function spanOfRun(
  { traceId, parentSpanId, spanId, startedAt, runId, tenant, agentId, messages, runtimeId, settings, ...caller }:
    RunFacts,
  options: SpanOptions,
): Span {
  return startSpan({
    traceId,
    parentSpanId,
    ...(spanId !== undefined && { spanId }),
    ...(startedAt !== undefined && { startedAt }),
    tenant,
    actor: actorOf(caller),
    action: 'run.start',
    endAction: 'run.end',
    target: { type: 'agent', id: agentId },
    payload: { runId, messages, runtimeId, settings },
  }, options);
}

/** The chunks after all others, the last of them terminal. */
export function closingChunks(
  end: RunEnd,
  { runId, traceId, usage, read = [] }: Pick<RunFacts, 'runId' | 'traceId'> & {
    readonly usage: ReportedUsage;
    /** The sources of others that the run of a watched or guarded agent has read. */
    readonly read?: readonly string[];
  },
): readonly UIMessageChunk[] {
  const error = 'error' in end ? { error: end.error } : {};
  const facts = { ...error, ...(read.length > 0 && { read }) };
  return [
    { type: 'data-usage', data: usage },
    { type: 'data-run', id: runId, data: { runId, traceId, state: end.type, ...facts } },
    terminalChunk(end),
  ];
}

function terminalChunk(end: RunEnd): UIMessageChunk {
  switch (end.type) {
    case 'completed':
    case 'awaiting_approval':
    case 'suspended':
    case 'stopped':
      return { type: 'finish', finishReason: end.finishReason };
    case 'cancelled':
      return { type: 'abort', reason: end.reason };
    case 'failed':
    case 'interrupted':
      return { type: 'error', errorText: `${end.error.code}: ${end.error.message}` };
    default:
      return end satisfies never;
  }
}

/** A running loop. */
export interface Loop {
  read(): Promise<{ readonly chunks: readonly UIMessageChunk[] } | { readonly end: RunEnd }>;
}
