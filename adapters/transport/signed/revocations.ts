/** Revokes sessions: adds to the denylist, checks it, and calls listeners during runs. */

import { BoundedMap } from '../../../src/base/bounded-map.ts';
import { PinnaceError } from '../../../src/base/errors.ts';
import type { Key } from '../../../src/base/key.ts';
import type { NonceUse } from '../../../src/contracts/authenticator.ts';
import type { Change, CommitResult, Storage } from '../../../src/contracts/storage.ts';
import { commitOwn, readPages } from '../../../src/log/commits.ts';
import { groupCommits } from '../../../src/log/group-commit.ts';
import { clockSkewSeconds, maxCertificateSeconds, maxSignatureSeconds, refusal } from './profile.ts';

export interface Revocations {
  /** Adds to the list. It takes effect here at once, and on other instances when their copy is too old. */
  revoke(revocation: Revocation): Promise<void>;
  /**
   * Whether this session is revoked.
   *
   * @throws PinnaceError `overloaded` where the list cannot be read: no session is accepted then.
   */
  isRevoked(session: Revocable): Promise<boolean>;
  /** Calls the listener once when this session is revoked. Returns the function that removes it. */
  onRevoked(session: Revocable, listener: () => void): () => void;
}

export interface RevocationOptions {
  readonly storage: Storage;
  readonly now: () => number;
  /** How long a copy of the list is used. */
  readonly maxAgeMs?: number;
  /** Repeats a task until the returned function is called. Used only while there are listeners. */
  readonly every?: (intervalMs: number, task: () => void) => () => void;
}

/** Stores the denylist, and caches a copy of it for a short time. */
export function createRevocations(options: RevocationOptions): Revocations {
  const { storage, now } = options;
  const watchers = createWatchers(options);
  const copy = createCopy({ ...options, onRead: (list) => watchers.notify(list) });
  return {
    async revoke(revocation) {
      await storage.commit([toChange(revocation, now())]);
      await copy.renew();
    },
    async isRevoked(session) {
      const list = await copy.current().catch((error: unknown) => {
        throw refusal('overloaded', { cause: error });
      });
      return list.has(session);
    },
    onRevoked(session, listener) {
      // A failed read is repeated the next time; requests are rejected meanwhile.
      const check = async (): Promise<Denylist | undefined> => await copy.current().catch(() => undefined);
      const stop = watchers.add({ session, listener }, () => void check());
      // A run that another instance has left may have been revoked before this one took it.
      void check().then((list) => list?.has(session) && watchers.notify(list));
      return stop;
    },
  };
}

const defaultMaxAgeMs = 5000;

function createCopy(
  { storage, now, maxAgeMs = defaultMaxAgeMs, onRead }: RevocationOptions & {
    readonly onRead: (list: Denylist) => void;
  },
) {
  let last: { readonly list: Denylist; readonly readAt: number; readonly turn: number } | undefined;
  let turns = 0;
  let reading: Promise<Denylist> | undefined;

  async function renew(): Promise<Denylist> {
    const [turn, readAt] = [++turns, now()];
    const list = await readDenylist(storage);
    // A slow read that started before another must not overwrite its result.
    if (last === undefined || last.turn < turn) last = { list, readAt, turn };
    onRead(list);
    return list;
  }

  return {
    renew,
    async current(): Promise<Denylist> {
      const ageMs = last === undefined ? Infinity : now() - last.readAt;
      // Half its time before it is too old, so that with steady traffic no request waits for it.
      if (ageMs >= maxAgeMs / 2) reading ??= renew().finally(() => reading = undefined);
      if (last === undefined || ageMs >= maxAgeMs) return await (reading ?? renew());
      reading?.catch(() => undefined); // the next request reads again
      return last.list;
    },
  };
}

interface Watcher {
  readonly session: Revocable;
  readonly listener: () => void;
}

function createWatchers({ maxAgeMs = defaultMaxAgeMs, every = repeat }: RevocationOptions) {
  const watchers = new Set<Watcher>();
  let stop: (() => void) | undefined;
  function remove(watcher: Watcher): void {
    if (!watchers.delete(watcher) || watchers.size > 0) return;
    stop?.();
    stop = undefined;
  }
  return {
    add(watcher: Watcher, check: () => void): () => void {
      watchers.add(watcher);
      stop ??= every(Math.max(maxAgeMs, 1000), check);
      return () => remove(watcher);
    },
    /** Calls the listeners whose session is on the list. */
    notify(list: Denylist): void {
      for (const watcher of [...watchers].filter(({ session }) => list.has(session))) {
        remove(watcher);
        watcher.listener();
      }
    },
  };
}

function repeat(intervalMs: number, task: () => void): () => void {
  const timer = setInterval(task, intervalMs);
  return () => clearInterval(timer);
}

export type Revocation =
  | { readonly kind: 'certificate'; readonly issuer: string; readonly certificateId: string }
  | { readonly kind: 'subject'; readonly issuer: string; readonly subject: string }
  | { readonly kind: 'session_key'; readonly keyThumbprint: string }
  | { readonly kind: 'root_key'; readonly rootKeyId: string }
  | { readonly kind: 'issued_before'; readonly issuer: string; readonly issuedBefore: number };

export interface Revocable {
  readonly issuer: string;
  readonly certificateId: string;
  /** Whom it is about: its `sub`, the subject, and the actor. A revocation of each revokes it. */
  readonly subjects: readonly string[];
  readonly keyThumbprint: string;
  readonly rootKeyId: string;
  /** Seconds. */
  readonly issuedAt: number;
}

interface Denylist {
  has(session: Revocable): boolean;
}

const prefix: Key = ['auth', 'revoked'];
const pageSize = 1000;

/** Returns the change that adds to the list. A revocation of certificates leaves it when they have expired. */
export function toChange(revocation: Revocation, now: number): Change {
  const ttlMs = lifetimeOf(revocation, now);
  return { key: [...prefix, ...nameOf(revocation)], value: revocation, ...(ttlMs !== undefined && { ttlMs }) };
}

/** Reads the whole list: it is short, because certificates are short-lived. */
async function readDenylist(storage: Storage): Promise<Denylist> {
  const names = new Set<string>();
  const issuedBefore = new Map<string, number>();
  for await (const page of readPages(storage, { prefix, limit: pageSize })) {
    for (const { value } of page) {
      const revocation = value as Revocation; // safe: only `toChange` writes under this prefix
      if (revocation.kind === 'issued_before') issuedBefore.set(revocation.issuer, revocation.issuedBefore);
      else names.add(textOf(revocation));
    }
  }
  return {
    has: (session) =>
      session.issuedAt < (issuedBefore.get(session.issuer) ?? -Infinity) ||
      revocationsOf(session).some((revocation) => names.has(textOf(revocation))),
  };
}

/** Every revocation that would match this session. */
function revocationsOf({ issuer, certificateId, subjects, keyThumbprint, rootKeyId }: Revocable): Revocation[] {
  return [
    { kind: 'certificate', issuer, certificateId },
    ...subjects.map((subject) => ({ kind: 'subject', issuer, subject }) as const),
    { kind: 'session_key', keyThumbprint },
    { kind: 'root_key', rootKeyId },
  ];
}

function textOf(revocation: Revocation): string {
  return JSON.stringify(nameOf(revocation));
}

function nameOf(revocation: Revocation): readonly string[] {
  const { kind } = revocation;
  switch (kind) {
    case 'certificate':
      return [kind, revocation.issuer, revocation.certificateId];
    case 'subject':
      return [kind, revocation.issuer, revocation.subject];
    case 'session_key':
      return [kind, revocation.keyThumbprint];
    case 'root_key':
      return [kind, revocation.rootKeyId];
    case 'issued_before':
      return [kind, revocation.issuer];
    default:
      return kind satisfies never;
  }
}

/** A day more than needed allows for a store whose clock differs. */
const certificateLifeMs = (maxCertificateSeconds + 2 * clockSkewSeconds) * 1000 + 86_400_000;

function lifetimeOf(revocation: Revocation, now: number): number | undefined {
  if (revocation.kind === 'certificate') return certificateLifeMs;
  if (revocation.kind === 'issued_before') return certificateLifeMs + Math.max(0, revocation.issuedBefore * 1000 - now);
  return undefined;
}

/**
 * A signature at the limit of the future is accepted until `expires` plus the skew: 120 s. Reading a clock in whole seconds adds
 * one; the rest is for a store whose clock differs.
 */
const nonceTtlMs = (maxSignatureSeconds + 2 * clockSkewSeconds + 5) * 1000;

export interface NonceStore {
  /**
   * Opens the use of a key's nonce. One of those that commit the same nonce gets it.
   *
   * @throws PinnaceError `signature_replayed` when this instance knows that the nonce was used, or is being used.
   */
  open(keyThumbprint: string, nonce: string): NonceUse;
  /** Opens the use and commits it. @throws PinnaceError as `NonceUse.commit`; where the store fails, no caller gets the nonce. */
  claim(keyThumbprint: string, nonce: string): Promise<void>;
}

/** The nonces that an instance remembers, so that it refuses most replays without its storage. */
const maxKnown = 10_000;

/** Stores nonces for as long as their signatures could be replayed. */
export function createNonceStore({ storage }: { readonly storage: Storage }): NonceStore {
  const grouped = groupCommits(storage);
  const known = new BoundedMap<string, true>(maxKnown);
  const open: NonceStore['open'] = (keyThumbprint, nonce) => {
    const id = JSON.stringify([keyThumbprint, nonce]);
    if (known.has(id)) throw refusal('signature_replayed');
    const key = ['auth', 'nonce', keyThumbprint, nonce];
    // A value of its own finds a commit whose response was lost.
    const change = { key, value: crypto.randomUUID(), ttlMs: nonceTtlMs, ifVersion: null };
    let used: Promise<void> | undefined;
    const use: NonceUse = {
      storage,
      change,
      commit: () =>
        used ??= commitUse(grouped, change).catch((error: unknown) => {
          used = undefined;
          if (!(error instanceof PinnaceError && error.code === 'signature_replayed')) known.delete(id); // the same request may be sent again
          throw error;
        }),
      committed: () => void (used = Promise.resolve()),
      replayed: () => refusal('signature_replayed'),
    };
    known.set(id, true);
    return use;
  };
  return { open, claim: async (keyThumbprint, nonce) => await open(keyThumbprint, nonce).commit() };
}

async function commitUse(storage: Storage, change: NonceUse['change']): Promise<void> {
  const { key, value: mark } = change;
  const written = async (): Promise<string | undefined> => {
    const found = await storage.get(key);
    return found?.value === mark ? found?.version : undefined;
  };
  const result = await commitOwn(storage, [change], { written }).catch((error: unknown): CommitResult => {
    throw refusal(isFull(error) ? 'replay_store_full' : 'overloaded', { cause: error });
  });
  if (!result.ok) throw refusal('signature_replayed');
}

function isFull(error: unknown): boolean {
  return error instanceof PinnaceError && error.details?.['reason'] === 'storage_full';
}
