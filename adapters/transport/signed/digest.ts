/** The `Content-Digest` of a body (RFC 9530). */

import { type Dictionary, isInnerList, parseDictionary, serializeDictionary } from 'structured-headers';
import { refusal } from './refusal.ts';

/** The supported algorithms; others are ignored. */
const algorithms: ReadonlyMap<string, string> = new Map([['sha-256', 'SHA-256'], ['sha-512', 'SHA-512']]);

/** Both digests take 140 characters; the rest is room for algorithms that are ignored. */
const longestHeader = 1024;

/** Creates the header for a body. */
export async function createContentDigest(body: Uint8Array<ArrayBuffer>): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', body);
  return serializeDictionary(new Map([['sha-256', [digest, new Map()]]]));
}

/**
 * Checks the header against the body: every known digest must match, and there must be one.
 *
 * @throws PinnaceError `digest_missing` without a known digest, `digest_mismatch` when one differs.
 */
export async function verifyContentDigest(header: string | null, body: Uint8Array<ArrayBuffer>): Promise<void> {
  const digests = header === null || header.length > longestHeader ? undefined : readDictionary(header);
  const known = [...algorithms].filter(([name]) => digests?.has(name));
  if (digests === undefined || known.length === 0) throw refusal('digest_missing');
  for (const [name, algorithm] of known) {
    const claimed = bytesOf(digests, name);
    const actual = new Uint8Array(await crypto.subtle.digest(algorithm, body));
    if (claimed === undefined || !isSame(claimed, actual)) throw refusal('digest_mismatch');
  }
}

function readDictionary(header: string): Dictionary | undefined {
  try {
    return parseDictionary(header);
  } catch {
    return undefined;
  }
}

function bytesOf(digests: Dictionary, name: string): Uint8Array | undefined {
  const member = digests.get(name);
  if (member === undefined || isInnerList(member) || !(member[0] instanceof ArrayBuffer)) return undefined;
  return new Uint8Array(member[0]);
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}
