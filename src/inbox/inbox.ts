/**
 * What waits for people, of runs, programs and plans, as one list.
 *
 * What must always hold:
 *
 * 1. The records of `src/permission` are the truth. The inbox reads their index and decides by the functions that decide elsewhere:
 *    it has no state, no rights and no rules of its own.
 * 2. An item is shown to those who may decide on it, to its owner, and with the scope `admin` to administrators. For all others it does
 *    not exist. Whoever decides names the digest of what was listed.
 * 3. Decisions of one request are independent: each is stored or refused by itself.
 * 4. A stored chat goes on when nothing of its run waits any more. The commit of the decision has put the run into the index of due
 *    things, so that a process that dies before the start is made up for by the next sweep.
 * 5. The stream compares listings. It has no log: who connects again gets a new snapshot.
 */

import { type PinnaceError, toData } from '../base/errors.ts';
import { limitOf, readPagePlace, writePageToken } from '../base/page.ts';
import { parse } from '../base/parse.ts';
import { readData } from '../base/json.ts';
import { readEdit } from '../tools/edited-calls.ts';
import { type Principal, requireScope } from '../base/principal.ts';
import type { Key } from '../base/key.ts';
import { findQuestion, type Interruption, refusal } from '../permission/interruption.ts';
import { guardRead } from '../permission/guarded.ts';
import { requireDecider } from '../permission/ownership.ts';
import { everyone, namesOf, seenOf, summaryOf, waitingPrefix, type WaitingSummary } from '../permission/waiting.ts';
import {
  type Inbox,
  type InboxDecision,
  InboxDecisions,
  type InboxItem,
  type InboxQuery,
  type InboxResult,
} from '../runtime/inbox.ts';
import { decideOnCall, type InboxServices } from '../runtime/run-methods.ts';
import type { RuntimeParts } from '../runtime/run-context.ts';
import { answerServer } from '../runtime/mcp-operations.ts';
import { type GoneOn, goOnNow } from './go-on.ts';
import { watchInbox } from './watch.ts';

export { wakeQuestion } from './go-on.ts';

/** Opens the inbox. */
export function openInbox(parts: RuntimeParts, services: InboxServices): Inbox {
  const { storage, now } = parts;
  const readAs = async (principal: Principal, of: InboxQuery['of']): Promise<void> => {
    requireScope(principal, 'tool:approve');
    if (of !== 'tenant') return;
    requireScope(principal, 'admin');
    const target = { type: 'inbox', id: principal.tenant };
    await guardRead(services.guard, { action: 'inbox.read', target, principal, attempt: 'Cannot read the inbox' });
  };
  return {
    async list(principal, { limit, pageToken, ...query } = {}) {
      await readAs(principal, query.of);
      const most = limitOf({ ...(limit !== undefined && { limit }) });
      const { tenant, subject } = principal;
      const question = ['inbox', tenant, subject, query];
      const after = pageToken === undefined ? undefined : await readPagePlace(question, pageToken, placeOf);
      const all = await listItems(parts, principal, { ...query, after });
      const items = all.slice(0, most);
      const last = items.at(-1);
      const more = last && all.length > most ? JSON.stringify([last.openedAt, last.id]) : undefined;
      return {
        items,
        waiting: Math.min(all.length, mostListed),
        ...(more !== undefined && { nextPageToken: await writePageToken(question, more) }),
      };
    },
    async get(id, principal) {
      requireScope(principal, 'tool:approve');
      const record = await findQuestion(principal, id, { storage, now: now() });
      const summary = summaryOf(record);
      if (!summary || !record.facts) throw unlisted();
      const { facts, edit } = record;
      return { ...itemOf(principal, summary), facts, ...(edit && { edit }) };
    },
    async decide(given, principal) {
      requireScope(principal, 'tool:approve');
      const decisions = parse(InboxDecisions, readData(given), { what: 'the decisions' });
      return await Promise.all(decisions.map(async (decision): Promise<InboxResult> => {
        const { id } = decision;
        try {
          return { id, state: 'stored', ...await decideItem(parts, services, { decision, principal }) };
        } catch (error) {
          return { id, state: 'refused', error: toData(error) };
        }
      }));
    },
    async watch(principal, { of, signal } = {}) {
      await readAs(principal, of);
      const list = (): Promise<readonly InboxItem[]> => listItems(parts, principal, { of });
      return await watchInbox(parts, { tenant: principal.tenant, list, signal });
    },
  };
}

/** The most items of one name that a listing reads. */
const mostListed = 1000;

/** All items behind a place, the oldest first. */
async function listItems(
  { storage, now }: Pick<RuntimeParts, 'storage' | 'now'>,
  principal: Principal,
  { of, after, kind, agentId, toolId, before = Infinity }: Omit<InboxQuery, 'pageToken' | 'limit'> & {
    readonly after?: Key | undefined;
  },
): Promise<readonly InboxItem[]> {
  const { tenant, agents } = principal;
  const names = of === 'tenant' ? [everyone] : namesOf(principal);
  const pages = await Promise.all([...new Set(names)].map(async (name) => {
    const prefix = waitingPrefix(tenant, name);
    return await storage.list({ prefix, limit: mostListed, ...(after && { after: [...prefix, ...after] }) });
  }));
  const time = now();
  const found = new Map<string, WaitingSummary>();
  for (const { value } of pages.flat()) {
    const item = value as WaitingSummary; // only `waiting.ts` writes them
    const isWanted = (kind ?? item.kind) === item.kind && (agentId ?? item.agentId) === item.agentId &&
      (toolId === undefined || item.toolId === toolId) && item.openedAt < before && item.expiresAt > time;
    if (isWanted && (agents === '*' || item.agentId === '' || agents.includes(item.agentId))) found.set(item.id, item);
  }
  const sorted = [...found.values()].toSorted((a, b) => a.openedAt - b.openedAt || (a.id < b.id ? -1 : 1));
  return sorted.map((item) => itemOf(principal, item));
}

/** Reads the place behind which the next page starts: time and id. */
function placeOf(after: string): Key | undefined {
  return /^\[\d{1,16}(\.\d+)?,"[\w.]{1,200}"\]$/.test(after) ? JSON.parse(after) as Key : undefined; // as just checked
}

function itemOf(principal: Principal, summary: WaitingSummary): InboxItem {
  const blocked = whyBlocked(principal, summary);
  return { ...summary, ...(blocked && { blocked }) };
}

function whyBlocked(principal: Principal, item: WaitingSummary): InboxItem['blocked'] {
  const isOwn = principal.subject === item.subject;
  if (item.kind === 'sign_in' || item.kind === 'elicitation') return isOwn ? undefined : 'owner_only';
  try {
    requireDecider(principal, { ...item, tenant: principal.tenant });
    return undefined;
  } catch (error) {
    const { details } = error as PinnaceError; // nothing else is thrown
    return details?.['reason'] === 'own_request' ? 'own_request' : 'not_an_approver';
  }
}

interface Deciding {
  readonly decision: InboxDecision;
  readonly principal: Principal;
}

/** Decides on one item. Returns the run or the plan that goes on with it, or what it has taken back. */
async function decideItem(
  parts: RuntimeParts,
  services: InboxServices,
  { decision, principal }: Deciding,
): Promise<GoneOn> {
  const { storage, now, plans } = parts;
  const { id, seen, approved, reason, answer } = decision;
  const record = await findQuestion(principal, id, { storage, now: now() });
  const { runId, kind } = record;
  if (seenOf(record) !== seen) throw factsChanged();
  if (runId.startsWith('plan_')) {
    if (!plans) throw unlisted();
    const edited = kind === 'approval' ? await readEdit(record.edit, decision) : undefined;
    await plans.reply(runId, principal, { askId: id, answer: answerOf(record, decision), edited });
    return { runId };
  }
  if (kind === 'undo' && approved) await checkUndo(parts, services, record);
  const goesOnAt = now();
  if (kind === 'elicitation' && approved) {
    await answerServer(parts, services.guard, { runId, id, input: { answers: answer ?? {} }, principal, goesOnAt });
  } else {
    const edited = await readEdit(record.edit, decision);
    const given = { approved, ...(reason !== undefined && { reason }), edited, goesOnAt };
    await decideOnCall(parts, [runId, id, given, principal]);
  }
  return await goOnNow(parts, services, { record, at: goesOnAt }).catch((error: unknown) => {
    parts.report(error, { kind: 'run', id: runId }); // the decision is stored, and a sweep tries again
    return {};
  });
}

/** Closes the question of an undo that is no longer what was asked for: who has asked looks again. */
async function checkUndo(parts: RuntimeParts, services: InboxServices, record: Interruption): Promise<void> {
  try {
    await (await services.undo()).checkUndo(parts, record);
  } catch (error) {
    if (toData(error).code === 'conflict') await parts.interruptions.close(record.id, 'closed');
    throw error;
  }
}

/** The answer to a question of a plan. An approval of a call is answered as the decision on it. */
function answerOf({ kind }: Interruption, { approved, reason, answer }: InboxDecision): unknown {
  if (kind === 'approval') {
    return { approved, ...(reason !== undefined && { reason }) };
  }
  if (answer !== undefined) return answer;
  throw refusal('invalid_argument', 'Cannot answer the question of the plan: send its "answer"', 'answer_missing');
}

function factsChanged(): PinnaceError {
  return refusal(
    'conflict',
    'Cannot decide: what is asked is not what was shown; list the inbox again',
    'facts_changed',
  );
}

/** An earlier version has asked, or the runtime has no plans. */
function unlisted(): PinnaceError {
  return refusal('not_found', 'No item of the inbox has this id', 'approval_not_found');
}
