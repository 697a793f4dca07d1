/** The claim of a new run: its key, the nonce of its request and its record, in one commit. */

import type { Key } from '../base/key.ts';
import type { Principal } from '../base/principal.ts';
import type { NonceUse } from '../contracts/authenticator.ts';
import type { Change, Storage } from '../contracts/storage.ts';
import { creation, readJournal } from '../log/journal-record.ts';
import { commitOwn, hasKey } from '../log/commits.ts';
import { type Instances, ownedKey } from '../log/instances.ts';
import {
  chatKey,
  claimedAtOnce,
  idempotencyKey,
  type IdempotencyRecord,
  ownerOfRun,
  reused,
  runPrefix,
  type RunState,
  type RunStatus,
  sharedIdempotencyKey,
  toStatus,
} from './run-record.ts';
import { owns } from '../permission/ownership.ts';
import type { WrittenLog } from './live-run.ts';
import { readRun, type StoredRunOptions } from './stored-run.ts';

/** What names a new run. */
export interface ClaimOptions {
  readonly runId: string;
  readonly principal: Principal;
  readonly state: RunState;
  /** The caller's key and a digest of the request; without it the request cannot be repeated. */
  readonly idempotency: {
    readonly key: string;
    readonly fingerprint: string;
    /** A key of the server's own, which no caller can take. */
    readonly byServer?: true;
  } | undefined;
  readonly detachGraceMs: number;
  readonly abort: (reason: unknown) => void;
  /** Is used up in the same commit. */
  readonly nonce?: NonceUse | undefined;
  /** The first items of the log, and the number of the last one, where the log shares items of others; none when absent. */
  readonly log?: { readonly items: readonly string[]; readonly seq: number } | undefined;
  /** Are written in the same commit. */
  readonly beside?: readonly Change[];
  /** Are written with the end of the run. */
  readonly ending?: readonly Change[];
  /** The change that adds the answer to a stored chat. */
  readonly answer?: ((log: WrittenLog) => Change | undefined) | undefined;
  /** Conflicts where what the run was resolved from is out of date. */
  readonly check?: Change | undefined;
  /** The changes of a stored chat. Those with an `ifVersion` conflict where the chat was changed meanwhile. */
  readonly chat?: readonly Change[] | undefined;
}

/** The outcome of a claim: a new run and the version of its head, the run of the key, or what has changed meanwhile. */
export type Claim =
  | { readonly version: string }
  | { readonly known: RunStatus }
  | { readonly isStale: 'definitions' | 'chat' };

/** What claims need. */
export interface ClaimParts {
  readonly options: Pick<StoredRunOptions, 'now' | 'ttlMs' | 'storageGraceMs'> & { readonly retentionMs: number };
  /** Commits for runs of this instance. It does not retry. */
  readonly grouped: Storage;
  readonly stored: StoredRunOptions;
  readonly instances: Instances;
}

/** Finds the run of a known key. @throws PinnaceError `idempotency_key_reused` for another request. */
export async function findRun(
  shared: ClaimParts,
  principal: Principal,
  idempotency: ClaimOptions['idempotency'],
): Promise<RunStatus | undefined> {
  if (!idempotency) return undefined;
  const { known, version } = await readKey(shared, principal, idempotency);
  return known ??
    (version === null && !idempotency.byServer ? await readSharedKey(shared, principal, idempotency) : undefined);
}

/** Reads a key: its run, unless that has expired, and the version under which it may be claimed. */
async function readKey(
  { options: { retentionMs, now }, stored }: ClaimParts,
  principal: Principal,
  idempotency: NonNullable<ClaimOptions['idempotency']>,
): Promise<{ readonly known?: RunStatus; readonly version: string | null }> {
  const entry = await stored.storage.get(idempotencyKey(principal, idempotency));
  if (!entry) return { version: null };
  const { runId, fingerprint } = entry.value as IdempotencyRecord; // only `claim` writes it
  if (fingerprint !== idempotency.fingerprint) throw reused();
  const head = await readRun(runId, stored);
  const isKnown = head && (head.state.endedAt ?? Infinity) + retentionMs >= now();
  return { version: entry.version, ...(isKnown && { known: toStatus(runId, head) }) };
}

/**
 * Reads a key as version 0.2 recorded it, for all subjects of an issuer: a retry across the upgrade starts nothing twice. The run of
 * another subject is not shown, and the key starts no other run of the same request.
 *
 * @throws PinnaceError `idempotency_key_reused`.
 */
async function readSharedKey(
  { options: { retentionMs, now }, stored }: ClaimParts,
  principal: Principal,
  idempotency: NonNullable<ClaimOptions['idempotency']>,
): Promise<RunStatus | undefined> {
  const entry = await stored.storage.get(sharedIdempotencyKey(principal, idempotency.key));
  if (!entry) return undefined;
  const { runId, fingerprint } = entry.value as IdempotencyRecord; // only version 0.2 wrote it
  const head = await readRun(runId, stored);
  if (!head || (head.state.endedAt ?? Infinity) + retentionMs < now()) return undefined;
  const isOwn = owns(principal, { ...ownerOfRun(head.state), agentId: undefined });
  const isSame = fingerprint === idempotency.fingerprint;
  if (isOwn && isSame) return toStatus(runId, head);
  if (isOwn || isSame) throw reused();
  return undefined;
}

/** How often a claim is repeated after others that came between. */
const maxTries = 5;

/**
 * Claims the key, uses up the nonce and creates the run. Nothing is read before the first commit: a key is new, unless the commit conflicts at it.
 *
 * @throws PinnaceError `idempotency_key_reused`, and `signature_replayed` for a used nonce.
 */
export async function claimRun(shared: ClaimParts, given: ClaimOptions): Promise<Claim> {
  const { options: { storageGraceMs: graceMs }, grouped } = shared;
  const { runId, principal, idempotency, nonce, check, chat = [] } = given;
  const key = idempotency && idempotencyKey(principal, idempotency);
  let earlier = idempotency && !idempotency.byServer ? sharedIdempotencyKey(principal, idempotency.key) : undefined;
  if (idempotency && earlier && !grouped.checks) {
    const known = await readSharedKey(shared, principal, idempotency);
    if (known) return { known };
    earlier = undefined;
  }
  // Only this call uses the id: a head under it shows that everything was written.
  const written = async () => (await readJournal(grouped, runPrefix(runId)))?.version;
  for (let [tries, ifVersion]: [number, string | null] = [0, null]; tries < maxTries; tries++) {
    const result = await commitOwn(grouped, claimChanges(shared, given, { ifVersion, earlier }), { written, graceMs });
    if (result.ok) {
      nonce?.committed();
      return { version: result.version };
    }
    const isIn = (other: Key | undefined): boolean => other !== undefined && hasKey(result.conflicts, other);
    if (nonce && isIn(nonce.change.key)) throw nonce.replayed();
    if (idempotency && isIn(key)) {
      const { known, version } = await readKey(shared, principal, idempotency);
      if (known) return { known };
      ifVersion = version;
    } else if (idempotency && isIn(earlier)) {
      const known = await readSharedKey(shared, principal, idempotency);
      if (known) return { known };
      earlier = undefined;
    } else if (isIn(check?.key)) return { isStale: 'definitions' };
    else if (chat.some((change) => isIn(change.key))) return { isStale: 'chat' };
  }
  throw claimedAtOnce();
}

function claimChanges(
  { options: { now, ttlMs }, instances }: ClaimParts,
  { runId, principal, state, idempotency, nonce, check, log, beside = [], chat = [] }: ClaimOptions,
  { ifVersion, earlier }: { readonly ifVersion: string | null; readonly earlier: Key | undefined },
): readonly Change[] {
  const record: IdempotencyRecord = { runId, fingerprint: idempotency?.fingerprint ?? '' };
  return [
    ...creation(runPrefix(runId), { state, at: now(), ttlMs, ...log, instance: instances.id }).changes,
    { key: ownedKey(instances.id, runId), value: true, ttlMs },
    ...instances.join(runId),
    { key: chatKey(principal, state.chatId), value: runId, ttlMs },
    ...(idempotency ? [{ key: idempotencyKey(principal, idempotency), value: record, ttlMs, ifVersion }] : []),
    ...(earlier ? [{ key: earlier, ifVersion: null, keep: true as const }] : []),
    ...(nonce ? [nonce.change] : []),
    ...(check ? [check] : []),
    ...beside,
    ...chat,
  ];
}
