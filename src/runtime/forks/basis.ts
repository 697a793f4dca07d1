/** What a run was started from, as `keep: 'inputs'` records it: forks and test cases are made of it. */

import type { Key } from '../../base/key.ts';
import type { Agent } from '../../base/schema.ts';
import type { Change, Storage } from '../../contracts/storage.ts';
import { runPrefix } from '../run-record.ts';
import type { Limits } from '../limits.ts';
import type { RunRequest } from '../run-request.ts';

/** The record. Secrets are in it by their names only. */
export interface RunBasis {
  readonly v: 1;
  readonly request: RunRequest;
  readonly agent: Agent;
  readonly providerId: string;
  readonly modelId: string;
  readonly toolSetDigest: string;
  readonly limits: Limits;
  /** The names of the tools that the first step offers; absent without discovery, where it offers all. */
  readonly active?: readonly string[];
}

/** UTF-16 code units of one entry: a storage takes values of up to 4 MiB. */
const pieceLength = 524_288;

/** Returns the changes that record a basis: the first is small enough for the commit of the run's claim. */
export function basisChanges(
  runId: string,
  basis: RunBasis,
  { redact, ttlMs }: { readonly redact: (text: string) => string; readonly ttlMs: number },
): readonly [Change, ...Change[]] {
  const text = redact(JSON.stringify(basis));
  const count = Math.ceil(text.length / pieceLength);
  const piece = (n: number): Change => {
    const value = text.slice(n * pieceLength, (n + 1) * pieceLength);
    return { key: pieceKey(runId, n), value: n === 0 ? { count, text: value } : value, ttlMs };
  };
  return [piece(0), ...Array.from({ length: count - 1 }, (_, n) => piece(n + 1))];
}

/** Reads the basis of a run; `undefined` where none was recorded, or it has expired. */
export async function readBasis(runId: string, storage: Pick<Storage, 'get'>): Promise<RunBasis | undefined> {
  const first = await storage.get(pieceKey(runId, 0));
  if (!first) return undefined;
  const { count, text } = first.value as { readonly count: number; readonly text: string }; // only `basisChanges` writes it
  const rest = await Promise.all(
    Array.from({ length: count - 1 }, async (_, n) => (await storage.get(pieceKey(runId, n + 1)))?.value),
  );
  if (rest.some((piece) => piece === undefined)) return undefined;
  return JSON.parse([text, ...rest].join('')) as RunBasis; // as above
}

function pieceKey(runId: string, n: number): Key {
  return [...runPrefix(runId), 'basis', n];
}
