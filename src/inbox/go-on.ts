/**
 * Goes on with a stored chat when nothing of its run waits for a person any more.
 *
 * - Once: the run that goes on has the key `continue:<run>`, which no caller can take. Two who decide last at the same time, a sweep and
 *   another instance all start the same run.
 * - The chat must still be where the run has left it: a message that came meanwhile has gone on already.
 * - It runs for the owner with the rights of then, and `authorize` is asked (`run.continue`).
 * - The commit of a decision makes the question due, and the commit that opens it when it expires. The key goes when the run has
 *   started, or there is none to start.
 */

import { createPrincipal } from '../base/principal.ts';
import { dueKey } from '../log/due.ts';
import { readJournal } from '../log/journal-record.ts';
import { guardEmitted } from '../permission/guarded.ts';
import { type Interruption, readQuestion } from '../permission/interruption.ts';
import { asksPrefix } from '../permission/waiting.ts';
import { approvalsRequestedIn } from '../runtime/decided-calls.ts';
import { readWhole } from '../runtime/open-chats.ts';
import type { RuntimeParts } from '../runtime/run-context.ts';
import type { InboxResult } from '../runtime/inbox.ts';
import type { InboxServices } from '../runtime/run-methods.ts';
import { runPrefix, type RunState } from '../runtime/run-record.ts';

/** What became of it. */
export type GoneOn = Pick<Extract<InboxResult, { readonly state: 'stored' }>, 'runId' | 'undo'>;

/** Goes on after a decision that was made due at this time. */
export async function goOnNow(
  parts: RuntimeParts,
  services: InboxServices,
  { record, at }: { readonly record: Interruption; readonly at: number },
): Promise<GoneOn> {
  if (record.kind === 'undo') return await takeBack(parts, services, { id: record.id, at });
  if (!record.goesOn) return none;
  const gone = await goOn(parts, services, record);
  if (gone === 'later') {
    parts.due.arm(parts.now() + againMs);
    return none;
  }
  await parts.storage.commit([{ key: dueKey(at, record.id) }]);
  return gone;
}

async function takeBack(
  parts: RuntimeParts,
  services: InboxServices,
  due: { id: string; at: number },
): Promise<GoneOn> {
  const undo = await (await services.undo()).carryOutUndo(parts, services, due);
  return undo ? { undo } : none;
}

const againMs = 1_000;

/** Closes what has expired undecided, and goes on with it and with what a lost process has decided. */
export async function wakeQuestion(
  parts: RuntimeParts,
  services: InboxServices,
  { id, at }: { readonly id: string; readonly at: number },
): Promise<boolean> {
  const { storage, now } = parts;
  const record = await readQuestion(storage, id);
  if (record?.state === 'pending') {
    if (record.expiresAt > now()) return false;
    await parts.interruptions.close(id, 'expired');
  }
  if (record?.kind === 'undo') return (await takeBack(parts, services, { id, at })).undo !== undefined;
  const gone = record ? await goOn(parts, services, record) : none;
  if (gone === 'later') parts.due.arm(now() + againMs);
  else await storage.commit([{ key: dueKey(at, id) }]);
  return gone !== 'later' && gone.runId !== undefined;
}

async function goOn(
  parts: RuntimeParts,
  { guard, start }: InboxServices,
  { runId, goesOn }: Interruption,
): Promise<GoneOn | 'later'> {
  const { storage, runs } = parts;
  const asks = await storage.list({ prefix: asksPrefix(runId), limit: 1000 });
  if (!goesOn || asks.some(({ value }) => value !== 'undo')) return none;
  const { owner, chatId, request } = goesOn;
  const principal = createPrincipal(owner);
  const idempotency = { key: `continue:${runId}`, fingerprint: runId, byServer: true } as const;
  const state = (await readJournal<RunState>(storage, runPrefix(runId)))?.head.state;
  if (state?.state === 'running') return 'later';
  const { found, stored } = await readWhole(parts, owner, chatId);
  const last = stored.at(-1)?.message;
  const isThere = state?.state === 'awaiting_approval' && found?.record.lastRunId === runId;
  if (!isThere || !last || approvalsRequestedIn(last).length === 0) {
    const next = await runs.find(principal, idempotency);
    return next ? { runId: next.runId } : none;
  }
  const { traceId, agentId } = state;
  const facts = { action: 'run.continue', target: { type: 'run', id: runId } };
  const asked = { ...facts, subject: owner.subject, principal, trace: { traceId }, context: { agentId } };
  const attempt = 'Cannot go on with the chat';
  const done = (next: { readonly runId: string }) => next;
  return await guardEmitted(guard, { ...asked, attempt, done }, async () => {
    // The message is stored: its id says which one goes on.
    const messages = [{ id: last.id, role: 'assistant', parts: [{ type: 'text', text: '' }] }];
    const chat = { id: chatId, store: true, messages };
    const started = await start({ ...request, chat }, principal, { idempotency, trace: { traceId } });
    return { runId: started.runId };
  });
}

const none: GoneOn = {};
