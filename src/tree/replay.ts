/** Idempotency keys: the same request again gives the same answer, and happens once. */

import { PinnaceError } from '../errors.ts';
import { canonicalJson } from './canonical.ts';
import { ledgerId } from './idempotency.ts';
import { sha256 } from './sha256.ts';
import type { Answer, CallContext, Output } from './tool-spec.ts';

/** Under what an answer is remembered, and for which request. */
export interface AnswerKey {
  readonly id: string;
  readonly digest: string;
  readonly at: number;
}

/** A repeat gives the answer of then; one that comes while the first is under way waits for it. */
export async function replayOr(
  context: CallContext,
  { tool, args }: { readonly tool: string; readonly args: Output },
  apply: (key: AnswerKey | undefined) => Promise<Answer>,
): Promise<Answer> {
  const { versionToken: _, idempotencyKey, ...content } = args;
  if (typeof idempotencyKey !== 'string') return await apply(undefined);
  const { pending } = context.desk.ledger;
  const id = ledgerId(context.agentId, tool, idempotencyKey);
  while (pending.has(id)) await pending.get(id)?.catch(() => {}); // its failure is told to whoever called first
  const key = { id, digest: sha256(canonicalJson(content)), at: context.now() };
  const running = answerOr(context, { key, idempotencyKey }, apply);
  pending.set(id, running);
  try {
    return await running;
  } finally {
    pending.delete(id);
  }
}

async function answerOr(
  { desk, core }: CallContext,
  { key, idempotencyKey }: { readonly key: AnswerKey; readonly idempotencyKey: string },
  apply: (key: AnswerKey) => Promise<Answer>,
): Promise<Answer> {
  const known = desk.ledger.get(key.id, key.at) ?? await core.keeper?.answer(key.id);
  if (!known) return await apply(key);
  if (known.digest !== key.digest) throw keyTaken(idempotencyKey);
  return { ...(structuredClone(known.output) as Answer), replayed: true }; // safe: an answer was stored
}

function keyTaken(key: string): PinnaceError {
  return new PinnaceError(
    'invalid_argument',
    `Cannot use idempotency key "${
      key.slice(0, 64)
    }" again: it belongs to a request with other arguments; take a new one`,
    { details: { reason: 'idempotency_key_taken' } },
  );
}
