/**
 * The state of a question between two requests. The client carries a signed id; what it stands for is stored here, and is spent by the
 * request that answers. Every instance over the same storage accepts it.
 */

import { createRequestStateCodec, type RequestStateCodec, type ServerContext } from '../sdk-2026.ts';
import type { Key } from '../../../../src/base/key.ts';
import { loadOnce } from '../../../../src/base/load-once.ts';
import type { Principal } from '../../../../src/base/principal.ts';
import type { Storage } from '../../../../src/contracts/storage.ts';

/** What is stored with a question. */
export interface QuestionRecord {
  /** How often the call has asked, from 1. */
  readonly round: number;
  /** The answers so far, each under the key and the digest of its question. */
  readonly answers: Readonly<Record<string, unknown>>;
  /** The digests of the questions that are open, by key. */
  readonly asked: Readonly<Record<string, string>>;
}

/** The states of one storage. */
export interface QuestionStates {
  /** Stores the record and returns the state for the client. */
  mint(record: QuestionRecord, context: ServerContext): Promise<string>;
  /**
   * Returns the record and removes it. Rejects for a state that was changed, is too old, was used before, or belongs to another
   * principal, method, name or input.
   */
  spend(state: string, context: ServerContext): Promise<QuestionRecord>;
}

/** How long a question may be answered. */
const validMs = 3_600_000;
const signingKey: Key = ['mcp-question-key'];

/** Opens the states of a storage. `boundTo` returns the principal of a request, and a text that names the call. */
export function createQuestionStates(
  storage: Storage,
  boundTo: (context: ServerContext) => { readonly principal: Principal; readonly call: string },
): QuestionStates {
  const bind = (context: ServerContext): string => {
    const { principal: { tenant, subject }, call } = boundTo(context);
    return JSON.stringify([tenant, subject, context.mcpReq.method, call]);
  };
  const codec = loadOnce(async (): Promise<RequestStateCodec<{ readonly id: string }>> => {
    return createRequestStateCodec({ key: await keyOf(storage), ttlSeconds: validMs / 1000, bind });
  });
  return {
    async mint(record, context) {
      const id = crypto.randomUUID();
      const { principal } = boundTo(context);
      await storage.commit([{ key: recordKey(principal, id), value: record, ttlMs: validMs }]);
      return await (await codec()).mint({ id }, context);
    },
    async spend(state, context) {
      const { id } = await (await codec()).verify(state, context);
      const key = recordKey(boundTo(context).principal, id);
      const entry = await storage.get(key);
      if (!entry) throw new Error('spent');
      const spent = await storage.commit([{ key, ifVersion: entry.version }]);
      if (!spent.ok) throw new Error('spent');
      return entry.value as QuestionRecord; // only `mint` writes it
    },
  };
}

function recordKey({ tenant, subject }: Principal, id: string): Key {
  return ['mcp-question', tenant, subject, id];
}

/** The key that signs states: made by the first instance that asks. */
async function keyOf(storage: Storage): Promise<Uint8Array> {
  const own = crypto.getRandomValues(new Uint8Array(32));
  const made = await storage.commit([{ key: signingKey, value: own, ifVersion: null }]);
  if (made.ok) return own;
  const entry = await storage.get(signingKey);
  if (entry?.value instanceof Uint8Array) return entry.value;
  throw new Error('The key of questions cannot be read');
}
