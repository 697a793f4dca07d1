/** Idempotency keys: a repeated request returns the same answer and runs once. */

import { PinnaceError } from '../../../base/errors.ts';
import { canonicalJson } from '../../nodes/canonical.ts';
import { ledgerId } from './idempotency.ts';
import type { Remembered } from '../../nodes/mutation.ts';
import type { TreeStore } from '../../nodes/mutation.ts';
import { sha256Sync } from '../../../base/sha256-sync.ts';
import type { CallContext } from '../caller.ts';
import type { Answer, Output } from '../output.ts';

/** Under what an answer is remembered, and for which request. */
export interface AnswerKey {
  readonly id: string;
  /** As the caller named it. */
  readonly name: string;
  readonly digest: string;
  readonly at: number;
}

/** A repeat returns the original result; one that arrives during the first call waits for it. */
export async function replayOr(
  context: CallContext,
  { tool, args }: { readonly tool: string; readonly args: Output },
  apply: (key: AnswerKey | undefined) => Promise<Answer>,
): Promise<Answer> {
  const { versionToken: _, idempotencyKey, ...content } = args;
  if (typeof idempotencyKey !== 'string') return await apply(undefined);
  const { pending } = context.desk.ledger;
  const id = ledgerId(context.agentId, tool, idempotencyKey);
  while (pending.has(id)) await pending.get(id)?.catch(() => {}); // the first caller receives its failure
  const key = { id, name: idempotencyKey, digest: sha256Sync(canonicalJson(content)), at: context.now() };
  const running = answerOr(context, key, apply);
  pending.set(id, running);
  try {
    return await running;
  } finally {
    pending.delete(id);
  }
}

async function answerOr(
  { desk, core }: CallContext,
  key: AnswerKey,
  apply: (key: AnswerKey) => Promise<Answer>,
): Promise<Answer> {
  const known = desk.ledger.get(key.id, key.at) ?? await core.treeStore?.answer(key.id);
  return known ? replayed(known, key) : await apply(key);
}

/** The result of the same request, where another instance has stored one. */
export async function storedAnswer(treeStore: TreeStore, key: AnswerKey): Promise<Answer | undefined> {
  const known = await treeStore.answer(key.id);
  return known && replayed(known, key);
}

function replayed({ digest, output }: Remembered, key: AnswerKey): Answer {
  if (digest !== key.digest) throw keyTaken(key.name);
  return { ...(structuredClone(output) as Answer), replayed: true }; // safe: an answer was stored
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
