/**
 * The records of everything that waits for a person: approvals of tool calls and of undos, questions of plans. A decision is bound to its subject,
 * made once and spent once. Only a stored decision counts.
 */

import type { NoticeMaker } from '../contracts/notices.ts';
import { PinnaceError, type ProblemCode } from '../base/errors.ts';
import { canonicalJson } from '../base/json.ts';
import type { Key } from '../base/key.ts';
import { commitOwn, outlast } from '../log/commits.ts';
import type { Change, Storage } from '../contracts/storage.ts';
import type { Owner, Principal } from '../base/principal.ts';
import type { JsonSchema } from '../base/schema.ts';
import { dueChange } from '../log/due.ts';
import { readJournal } from '../log/journal-record.ts';
import { haveOneOwner, type OwnedRecord, owns, requireDecider } from './ownership.ts';
import {
  announcedChanges,
  asksPrefix,
  requireRoom,
  settledChanges,
  waitingChanges,
  type WaitingRecord,
} from './waiting.ts';

/** A question to a person. Who may decide on it is fixed when it is asked. */
export interface Interruption extends WaitingRecord {
  /** Empty where the agent is not in the registry. */
  readonly agentId: string;
  /** SHA-256 over the subject of the decision: when any of it changes, the decision is void. */
  readonly binding: string;
  /** SHA-256 over the chat and the agent. Absent in records of earlier versions, and of questions. */
  readonly place?: string;
  /** The digest of what the tool showed of the call. Absent where it shows nothing, and in records of earlier versions. */
  readonly preview?: string | undefined;
  /** What the provider that executes the call has called its question, for its answer. */
  readonly providerApprovalId?: string | undefined;
  /** The program that waits: the run that started it, and its id there. */
  readonly program?: { readonly runId: string; readonly id: string };
  /** `closed`: the answer is no longer needed. */
  readonly state: 'pending' | 'approved' | 'denied' | 'answered' | 'spent' | 'closed';
  readonly decidedBy?: string;
  /** Who has decided for that subject, where that is another. */
  readonly decidedByActor?: string;
  readonly reason?: string;
  /** What was decided, in a record that is spent. Absent in records of earlier versions. */
  readonly approved?: boolean;
  /** What a person may change, as it was asked. Absent where the call cannot be changed. */
  readonly edit?: { readonly input: unknown; readonly schema: JsonSchema };
  /** What it was changed to. */
  readonly edited?: EditedInput;
  /** What is taken back once it is approved: for whom, with the rights of then, and how far. `binding` is the digest of its preview. */
  readonly undo?: { readonly owner: Owner; readonly toStep: number };
  /** The run that has spent it: goes on with it where another instance continues the run. */
  readonly spentBy?: string;
  /** One random mark of each write: an instance whose answer was lost finds its own. */
  readonly marks?: readonly string[];
  /** The answer as canonical JSON, to recognize a repetition. */
  readonly answer?: string;
}

/** The input of a person in place of the model's. */
export interface EditedInput {
  readonly input: unknown;
  /** SHA-256 of the input as canonical JSON. */
  readonly digest: string;
  /** Where it differs, as JSON Pointers. */
  readonly paths: readonly string[];
}

/** What events say of a change: where, and a digest; no value. */
export function editSummary({ paths, digest }: EditedInput): Readonly<Record<string, string>> {
  return { paths: paths.join(' ').slice(0, 300), digest };
}

/** The decision of a person. */
export interface Decision {
  readonly approved: boolean;
  readonly reason?: string | undefined;
}

/** A decision as a run spends it. */
export interface SpentDecision extends Decision {
  readonly kind: Interruption['kind'];
  /** The digest of what the person was shown; see `Interruption`. */
  readonly preview?: string | undefined;
  readonly providerApprovalId?: string | undefined;
  /** What the person has changed, and what that person was shown and named by. */
  readonly edited?: EditedInput & Pick<Interruption, 'approvers' | 'fourEyes'> & {
    readonly quote?: string | undefined;
  };
}

/** Why an approval cannot be spent. */
export type UnspendableReason =
  | 'approval_not_found'
  | 'approval_undecided'
  | 'approval_expired'
  | 'approval_spent'
  | 'approval_moved'
  | 'approval_altered'
  | 'preview_changed';

/** An approval that allows nothing. */
export interface Unspendable {
  readonly unspendable: UnspendableReason;
}

/** The call that an approval is spent on. */
export interface SpendClaim extends Required<Pick<Interruption, 'tenant' | 'binding' | 'place'>> {
  readonly subject: string;
}

/** What a claim says of records of version 0.2, which do not name the subject. */
export type EarlierClaim = Pick<SpendClaim, 'binding' | 'place'>;

/** What a new interruption is about. */
export type NewInterruption =
  & Pick<
    Interruption,
    | 'kind'
    | 'runId'
    | 'tenant'
    | 'actor'
    | 'agentId'
    | 'binding'
    | 'place'
    | 'preview'
    | 'providerApprovalId'
    | 'program'
    | 'approvers'
    | 'fourEyes'
    | 'facts'
    | 'goesOn'
    | 'chatId'
    | 'edit'
    | 'undo'
  >
  & {
    readonly subject: string;
    /** A shorter time to decide than usual. */
    readonly withinMs?: number | undefined;
  };

/** The interruptions of one storage. */
export interface Interruptions {
  /** @throws PinnaceError `rate_limited` (`too_many_waiting`). */
  open(facts: NewInterruption): Promise<Interruption>;
  /** Returns a new record, and the changes that store it, to be part of the caller's commit: the record first. */
  draft(facts: NewInterruption): { readonly record: Interruption; readonly changes: readonly Change[] };
  /** Checks that so many questions may be asked. @throws PinnaceError `rate_limited` (`too_many_waiting`). */
  requireRoom(owner: Pick<Principal, 'tenant' | 'subject'>, more: number): Promise<void>;
  /** Returns a record of the caller's own. */
  find(principal: Principal, id: string): Promise<Interruption | undefined>;
  /**
   * Stores a decision.
   *
   * @throws PinnaceError `not_found` for an unknown one, for one of another run or agent, and where the caller may neither
   * decide on it nor has asked, `forbidden` (`own_request`, `not_an_approver`), `already_decided` (409) when it is, also by the same answer, `approval_expired` (410) when it is too late, `conflict` (`answers_required`) to approve a question
   * without its answers.
   */
  decide(
    principal: Principal,
    runId: string,
    id: string,
    decision: Decision & {
      readonly isAnswered?: boolean;
      readonly edited?: EditedInput | undefined;
      /** The server goes on with a stored chat then. Absent: the chat's client does. */
      readonly goesOnAt?: number | undefined;
    },
  ): Promise<void>;
  /**
   * Closes a question whose answer is no longer needed, or has not come in time. Of one that is decided nothing changes, and one that
   * has expired stays due: the room that woke it removes the key.
   */
  close(id: string, why: 'closed' | 'expired'): Promise<void>;
  /** Checks that a decision can be stored. @throws PinnaceError as `decide`. */
  requirePending(principal: Principal, runId: string, id: string): Promise<void>;
  /**
   * Spends a decision: of all callers, on every instance, one receives what was decided, the others why there is nothing to spend.
   * `again`: also returns a decision that was spent before. For a caller that has taken over from one that is lost. So does the run
   * `by` that has spent it itself.
   */
  spend(
    id: string,
    claim: SpendClaim,
    options: { readonly again?: boolean; readonly by?: string; readonly earlier: () => Promise<EarlierClaim> },
  ): Promise<SpentDecision | Unspendable>;
}

/** An answer to a question, and what is to be committed with it. */
export interface Answering {
  readonly storage: Storage;
  readonly now: number;
  readonly ttlMs: number;
  readonly answer: unknown;
  readonly changes: readonly Change[];
  readonly notices?: NoticeMaker | undefined;
}

/** Who may decide on what a principal asks for, in the record of the question. */
export function askedBy(
  { actor }: Principal,
  { approvers, fourEyes, withinMs }: Pick<NewInterruption, 'approvers' | 'fourEyes' | 'withinMs'> = {},
): Pick<NewInterruption, 'actor' | 'approvers' | 'fourEyes' | 'withinMs'> {
  return {
    ...(actor !== undefined && { actor }),
    ...(approvers && { approvers }),
    ...(fourEyes && { fourEyes }),
    ...(withinMs !== undefined && { withinMs }),
  };
}

/** The change that writes a record, to be part of the caller's commit. */
export function interruptionChange(record: Interruption, ttlMs: number): Change {
  return { key: keyOf(record.id), value: record, ttlMs };
}

/**
 * Stores the answer to a question, together with its effects. The first answer counts: the same one again is `replayed`.
 *
 * @throws PinnaceError as `decide` does; another answer is `already_decided`.
 */
export async function answerInterruption(
  principal: Principal,
  { runId, id }: { readonly runId: string; readonly id: string },
  { storage, now, ttlMs, answer, changes, notices }: Answering,
): Promise<'accepted' | 'replayed'> {
  const text = canonicalJson(answer);
  for (;;) {
    const entry = id.length > 64 ? undefined : await storage.get(keyOf(id));
    const record = entry?.value as Interruption | undefined; // only this module writes it
    if (!entry || !record || !await mayDecide(principal, runId, { record, storage })) throw notFound();
    if (record.state !== 'pending' && record.answer === text) return 'replayed';
    requireOpenQuestion(record, now);
    const mark = crypto.randomUUID();
    const decided = { ...record, ...decider(principal), answer: text, marks: [...record.marks ?? [], mark] };
    const own = { ...interruptionChange({ ...decided, state: 'answered' }, ttlMs), ifVersion: entry.version };
    const written = () => markedVersion(storage, id, mark);
    const settled = settlement(record, { notices, at: now, state: 'answered' });
    if ((await commitOwn(storage, [own, ...settled, ...changes], { written })).ok) return 'accepted';
  }
}

/** Removes the open questions of a run that is deleted: nobody finds or decides on them any more. */
export async function removeQuestions(storage: Storage, runId: string): Promise<void> {
  for (const { key } of await storage.list({ prefix: asksPrefix(runId), limit: 1000 })) {
    const id = String(key.at(-1));
    const record = await readQuestion(storage, id);
    await storage.commit([{ key: keyOf(id) }, ...record ? settledChanges(record) : [{ key }]]);
  }
}

/** Reads a question. */
export async function readQuestion(storage: Pick<Storage, 'get'>, id: string): Promise<Interruption | undefined> {
  return id.length > 64 ? undefined : (await storage.get(keyOf(id)))?.value as Interruption | undefined; // only this module writes it
}

/**
 * Finds a question that waits and that the caller may decide on, or has asked.
 *
 * @throws PinnaceError `not_found`, `already_decided`, `approval_expired`, `conflict` (`question_closed`).
 */
export async function findQuestion(
  principal: Principal,
  id: string,
  { storage, now }: { readonly storage: Storage; readonly now: number },
): Promise<Interruption> {
  const record = await readQuestion(storage, id);
  if (!record || !await isKnownTo(principal, record.runId, { record, storage })) throw notFound();
  requireOpenQuestion(record, now);
  return record;
}

/** @throws PinnaceError `already_decided`, `approval_expired`, `conflict` (`question_closed`). */
function requireOpenQuestion({ state, expiresAt }: Interruption, now: number): void {
  if (state === 'spent') throw alreadySpent();
  if (state !== 'pending' && state !== 'closed') throw alreadyDecided();
  if (expiresAt <= now) throw expired();
  if (state === 'closed') throw closed();
}

/** Whose question it is, and of which agent; `undefined` where the caller may neither decide on it nor has asked. */
export async function ownerOfInterruption(
  principal: Principal,
  { runId, id }: { readonly runId: string; readonly id: string },
  storage: Storage,
): Promise<OwnedRecord | undefined> {
  const record = await readQuestion(storage, id);
  const isReached = record && await isKnownTo(principal, runId, { record, storage });
  return isReached ? await ownerOf(record, storage) : undefined;
}

/** The options of interruptions. */
export interface InterruptionOptions {
  readonly storage: Storage;
  readonly now: () => number;
  /** How long a decision may be made and spent. */
  readonly validMs: number;
  /** How long a run retries while the storage is out of reach. Decisions of people are not retried. */
  readonly graceMs?: number;
  /** Makes the notices of what waits. */
  readonly notices?: NoticeMaker | undefined;
}

/** How their records are read and written. */
function openRecords({ storage, now, validMs, graceMs = 0 }: InterruptionOptions) {
  const ttlMs = 2 * validMs; // so that a late decision is rejected as late
  const read = async (id: string) => {
    const entry = id.length > 64 ? undefined : await storage.get(keyOf(id));
    return entry && { record: entry.value as Interruption, version: entry.version }; // only this module writes it
  };
  const write = async (
    record: Interruption,
    ifVersion: string | null,
    { patienceMs = graceMs, beside = [] }: { readonly patienceMs?: number; readonly beside?: readonly Change[] } = {},
  ): Promise<boolean> => {
    const mark = crypto.randomUUID();
    const value: Interruption = { ...record, marks: [...record.marks ?? [], mark] };
    const written = () => markedVersion(storage, record.id, mark);
    const change = { key: keyOf(record.id), value, ifVersion, ttlMs };
    return (await commitOwn(storage, [change, ...beside], { written, graceMs: patienceMs })).ok;
  };
  const pending = async (principal: Principal, runId: string, id: string) => {
    const found = await read(id);
    if (!found || !await mayDecide(principal, runId, { record: found.record, storage })) throw notFound();
    requireOpenQuestion(found.record, now());
    return found;
  };
  return { ttlMs, read, write, pending };
}

/** Opens the interruptions of a storage. */
export function createInterruptions(options: InterruptionOptions): Interruptions {
  const { storage, now, validMs, graceMs = 0, notices } = options;
  const { ttlMs, read, write, pending } = openRecords(options);
  const enter = (record: Interruption): readonly Change[] => [
    ...waitingChanges(record, now()),
    ...announcedChanges(notices, record, { type: 'inbox.opened', at: now() }),
  ];
  const create = (facts: NewInterruption): Interruption => newInterruption(facts, { at: now(), validMs });
  return {
    async requirePending(...given) {
      await pending(...given);
    },
    draft(facts) {
      const record = create(facts);
      return { record, changes: [interruptionChange(record, ttlMs), ...enter(record)] };
    },
    requireRoom: (owner, more) => outlast(() => requireRoom(storage, owner, more), graceMs),
    async find(principal, id) {
      const found = await outlast(() => read(id), graceMs);
      return found && owns(principal, await ownerOf(found.record, storage)) ? found.record : undefined;
    },
    async open(facts) {
      await this.requireRoom(facts, 1);
      const record = create(facts);
      if (!await write(record, null, { beside: enter(record) })) {
        throw new PinnaceError('internal', 'Cannot ask for an approval: its id is taken');
      }
      return record;
    },
    async close(id, why) {
      const found = await outlast(() => read(id), graceMs);
      if (found?.record.state !== 'pending') return;
      const beside = settlement(found.record, { notices, at: now(), state: why });
      await write({ ...found.record, state: 'closed' }, found.version, { beside });
    },
    async decide(principal, runId, id, { approved, reason, isAnswered = false, edited, goesOnAt }) {
      const found = await pending(principal, runId, id);
      if (found.record.kind === 'elicitation' && approved && !isAnswered) throw unanswered();
      const decision = {
        ...decider(principal),
        ...(reason !== undefined && { reason: shortened(reason) }),
        ...(edited && { edited }),
      };
      const state = approved ? 'approved' : 'denied';
      const beside = settlement(found.record, { notices, at: now(), state, goesOnAt });
      const decided = { ...found.record, ...decision, state } as const;
      if (!await write(decided, found.version, { patienceMs: 0, beside })) throw alreadyDecided();
    },
    async spend(id, claim, { again = false, by, earlier }) {
      const found = await outlast(() => read(id), graceMs);
      if (!found) return { unspendable: 'approval_not_found' };
      const spending = { claim, earlier, storage, now: now() };
      const unspendable = await outlast(() => whyUnspendable(found.record, spending), graceMs);
      const decision = decisionOf(found.record);
      const isOwn = by !== undefined && found.record.spentBy === by;
      if (unspendable) return (again || isOwn) && isSpentWith(found.record, unspendable) ? decision : { unspendable };
      return await write(spentRecord(found.record, by), found.version) ? decision : { unspendable: 'approval_spent' };
    },
  };
}

/** What is written beside a record that waits no more: its entries go, receivers get a notice, and what the server does then is due. */
function settlement(
  record: Interruption,
  { notices, at, state, goesOnAt }: {
    readonly notices: NoticeMaker | undefined;
    readonly at: number;
    /** When the server goes on with a stored chat. An approved undo is due in any case. */
    readonly goesOnAt?: number | undefined;
    readonly state: 'approved' | 'denied' | 'answered' | 'expired' | 'closed';
  },
): readonly Change[] {
  const settled = settledChanges(record).filter(({ key }) => state !== 'expired' || key[0] !== 'due');
  const { id, tenant, goesOn, undo } = record;
  const dueAt = undo && state === 'approved' ? goesOnAt ?? at : goesOn && goesOnAt;
  const due = dueAt === undefined ? [] : [dueChange({ id, at: dueAt, tenant })];
  return [...settled, ...announcedChanges(notices, record, { type: 'inbox.settled', at, state }), ...due];
}

/** The record of a decision that this run has spent. */
function spentRecord(record: Interruption, by: string | undefined): Interruption {
  return { ...record, state: 'spent', approved: decisionOf(record).approved, ...(by !== undefined && { spentBy: by }) };
}

function shortened(reason: string): string {
  return reason.slice(0, 500).toWellFormed();
}

function decisionOf(
  record: Interruption,
): SpentDecision {
  const { state, kind, reason, preview, providerApprovalId, edited, approvers, fourEyes, facts } = record;
  const { approved = state === 'approved' } = record;
  const shown = edited && { edited: { ...edited, approvers, fourEyes, quote: facts?.quote } };
  return {
    approved,
    kind,
    ...(reason !== undefined && { reason }),
    ...(preview !== undefined && { preview }),
    ...(providerApprovalId !== undefined && { providerApprovalId }),
    ...shown,
  };
}

/** Whether nothing but an earlier spending is in the way, and what was decided is on record. */
function isSpentWith({ approved }: Interruption, unspendable: UnspendableReason): boolean {
  return unspendable === 'approval_spent' && approved !== undefined;
}

function newInterruption(
  { withinMs = Infinity, ...facts }: NewInterruption,
  { at, validMs }: { readonly at: number; readonly validMs: number },
): Interruption {
  const id = `apr_${crypto.randomUUID().replaceAll('-', '')}`;
  return { ...facts, id, openedAt: at, expiresAt: at + Math.min(validMs, withinMs), state: 'pending' };
}

/** Returns the version of the record, where the write with this mark was done. */
async function markedVersion(storage: Storage, id: string, mark: string): Promise<string | undefined> {
  const entry = await storage.get(keyOf(id));
  const record = entry?.value as Interruption | undefined; // only this module writes it
  return record?.marks?.includes(mark) ? entry?.version : undefined;
}

interface Spending {
  readonly claim: SpendClaim;
  readonly earlier: () => Promise<EarlierClaim>;
  readonly storage: Storage;
  readonly now: number;
}

/** Another person's approval does not exist for the caller. The binding is compared before the state, which a moved approval must not reveal. */
async function whyUnspendable(
  record: Interruption,
  { claim, earlier, storage, now }: Spending,
): Promise<UnspendableReason | undefined> {
  if (!haveOneOwner(await ownerOf(record, storage), claim) || isNoCall(record)) return 'approval_not_found';
  const { place, binding } = record.subject === undefined ? await earlier() : claim;
  if (record.place !== undefined && record.place !== place) return 'approval_moved';
  if (record.binding !== binding) return 'approval_altered';
  if (record.state === 'spent') return 'approval_spent';
  if (record.expiresAt <= now) return 'approval_expired';
  return record.state === 'approved' || record.state === 'denied' ? undefined : 'approval_undecided';
}

function isNoCall({ kind }: Interruption): boolean {
  return kind === 'question' || kind === 'undo';
}

function keyOf(id: string): Key {
  return ['interruption', id];
}

function decider({ subject, actor }: Principal): Pick<Interruption, 'decidedBy' | 'decidedByActor'> {
  return { decidedBy: subject, ...(actor !== undefined && { decidedByActor: actor }) };
}

interface Asked {
  readonly record: Interruption;
  readonly storage: Storage;
}

/**
 * Whether a principal may decide. A sign-in and the answers to a server are the owner's own.
 *
 * @throws PinnaceError `forbidden`, as `requireDecider`.
 */
async function mayDecide(principal: Principal, runId: string, { record, storage }: Asked): Promise<boolean> {
  if (record.runId !== runId || record.tenant !== principal.tenant) return false;
  const asked = { ...record, ...await ownerOf(record, storage) };
  return record.kind === 'sign_in' || record.kind === 'elicitation'
    ? owns(principal, asked)
    : requireDecider(principal, asked);
}

/** Whether a principal is told why it may not decide. */
async function isKnownTo(...asked: Parameters<typeof mayDecide>): Promise<boolean> {
  try {
    return await mayDecide(...asked);
  } catch (error) {
    if (error instanceof PinnaceError && error.code === 'forbidden') return true;
    throw error;
  }
}

/** Whose question it is. Records of version 0.2 do not say it: that of the run or the plan that asks. */
async function ownerOf({ tenant, subject, agentId, runId }: Interruption, storage: Storage): Promise<OwnedRecord> {
  if (subject !== undefined) return { tenant, subject, agentId };
  const prefix = [runId.startsWith('plan_') ? 'plan' : 'run', runId];
  const state = (await readJournal<StateOfOwner>(storage, prefix))?.head.state;
  return { tenant, subject: state?.subject ?? state?.span?.subject, agentId };
}

/** What the states of runs and of plans say of their owner. */
interface StateOfOwner {
  readonly subject?: string;
  readonly span?: { readonly subject?: string };
}

function notFound(): PinnaceError {
  return refusal('not_found', 'No approval of this run has this id', 'approval_not_found');
}

function alreadyDecided(): PinnaceError {
  return refusal('already_decided', 'The approval has been decided; the first decision counts', 'approval_decided');
}

function unanswered(): PinnaceError {
  return refusal('conflict', 'Cannot approve a question of a server: send the answers to it', 'answers_required');
}

function alreadySpent(): PinnaceError {
  return refusal('already_decided', 'The approval has been decided, and a run has used the decision', 'approval_spent');
}

function closed(): PinnaceError {
  return refusal('conflict', 'Cannot take the answer: no call waits for it any more', 'question_closed');
}

function expired(): PinnaceError {
  return refusal('approval_expired', 'The approval came too late: ask the agent again', 'approval_expired');
}

/** Why a decision, an answer or a sign-in is not taken. Another try changes nothing. */
export function refusal(code: ProblemCode, message: string, reason: string): PinnaceError {
  return new PinnaceError(code, message, { retryable: false, details: { reason } });
}
