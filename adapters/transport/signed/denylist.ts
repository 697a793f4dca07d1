/** The stored list of what is revoked before it expires. */

import type { Key } from '../../../src/base/key.ts';
import type { Change, Storage } from '../../../src/contracts/storage.ts';
import { clockSkewSeconds, maxCertificateSeconds } from './profile.ts';

/** One revocation. Times are seconds, as in certificates. */
export type Revocation =
  | { readonly kind: 'certificate'; readonly issuer: string; readonly certificateId: string }
  | { readonly kind: 'subject'; readonly issuer: string; readonly subject: string }
  | { readonly kind: 'session_key'; readonly keyThumbprint: string }
  | { readonly kind: 'root_key'; readonly rootKeyId: string }
  | { readonly kind: 'issued_before'; readonly issuer: string; readonly issuedBefore: number };

/** The facts of a session that a revocation may name. */
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

/** A copy of the list. */
export interface Denylist {
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
export async function readDenylist(storage: Storage): Promise<Denylist> {
  const names = new Set<string>();
  const issuedBefore = new Map<string, number>();
  for (let after: Key | undefined, page; page === undefined || page.length === pageSize; after = page.at(-1)?.key) {
    page = await storage.list({ prefix, limit: pageSize, ...(after !== undefined && { after }) });
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
