/**
 * One record for everything that waits for a person: the approval of a tool call today, a planner's question later. It is bound to
 * what was asked about, decided once and spent once. Whoever only claims a decision has none.
 */

import { PinnaceError } from './errors.ts';
import type { Key } from './key.ts';
import type { Storage } from './ports.ts';
import type { Principal } from './runtime/principal.ts';

/** Something that a person is asked. */
export interface Interruption {
  readonly id: string;
  readonly kind: 'approval';
  readonly runId: string;
  readonly tenant: string;
  readonly agentId: string;
  /** SHA-256 over all that the decision is about: with anything of it changed, the decision is worth nothing. */
  readonly binding: string;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
  readonly state: 'pending' | 'approved' | 'denied' | 'spent';
  readonly decidedBy?: string;
  readonly reason?: string;
}

/** What a person decides. */
export interface Decision {
  readonly approved: boolean;
  readonly reason?: string | undefined;
}

/** The interruptions of one storage. */
export interface Interruptions {
  open(facts: Pick<Interruption, 'kind' | 'runId' | 'tenant' | 'agentId' | 'binding'>): Promise<Interruption>;
  /**
   * Stores a decision.
   *
   * @throws PinnaceError `not_found` for an unknown one and one of another tenant, run or agent, `already_decided` (409) when it
   * is, also by the same answer, `approval_expired` (410) when it is too late.
   */
  decide(principal: Principal, runId: string, id: string, decision: Decision): Promise<void>;
  /**
   * Spends a decision: of all who try, on every instance, one is told what was decided. `undefined` for whatever is unknown,
   * undecided, expired, spent, or bound to something else.
   */
  spend(id: string, binding: string): Promise<Decision | undefined>;
}

/** What interruptions are kept in. */
export interface InterruptionOptions {
  readonly storage: Storage;
  readonly now: () => number;
  /** How long a decision may be made and spent. */
  readonly validMs: number;
}

/** Gives the interruptions of a storage. */
export function createInterruptions({ storage, now, validMs }: InterruptionOptions): Interruptions {
  const ttlMs = 2 * validMs; // so that a late decision is told that it is late
  const read = async (id: string) => {
    const entry = id.length > 64 ? undefined : await storage.get(keyOf(id));
    return entry && { record: entry.value as Interruption, version: entry.version }; // written by this module alone
  };
  const write = async (record: Interruption, ifVersion: string | null): Promise<boolean> =>
    (await storage.commit([{ key: keyOf(record.id), value: record, ifVersion, ttlMs }])).ok;
  return {
    async open(facts) {
      const id = `apr_${crypto.randomUUID().replaceAll('-', '')}`;
      const record: Interruption = { ...facts, id, expiresAt: now() + validMs, state: 'pending' };
      if (!await write(record, null)) throw new PinnaceError('internal', 'Cannot ask for an approval: its id is taken');
      return record;
    },
    async decide(principal, runId, id, { approved, reason }) {
      const found = await read(id);
      if (!found || !mayDecide(principal, runId, found.record)) throw notFound();
      if (found.record.state !== 'pending') throw alreadyDecided();
      if (found.record.expiresAt <= now()) throw expired();
      const decision = { decidedBy: principal.subject, ...(reason !== undefined && { reason: reason.slice(0, 500) }) };
      const state = approved ? 'approved' : 'denied';
      if (!await write({ ...found.record, ...decision, state }, found.version)) throw alreadyDecided();
    },
    async spend(id, binding) {
      const found = await read(id);
      if (!found || found.record.binding !== binding || found.record.expiresAt <= now()) return undefined;
      const { state, reason } = found.record;
      if (state !== 'approved' && state !== 'denied') return undefined;
      if (!await write({ ...found.record, state: 'spent' }, found.version)) return undefined;
      return { approved: state === 'approved', ...(reason !== undefined && { reason }) };
    },
  };
}

function keyOf(id: string): Key {
  return ['interruption', id];
}

function mayDecide({ tenant, agents }: Principal, runId: string, record: Interruption): boolean {
  return record.tenant === tenant && record.runId === runId && (agents === '*' || agents.includes(record.agentId));
}

function notFound(): PinnaceError {
  return new PinnaceError('not_found', 'No approval of this run has this id', {
    details: { reason: 'approval_not_found' },
  });
}

function alreadyDecided(): PinnaceError {
  return new PinnaceError('already_decided', 'The approval has been decided', { status: 409, retryable: false });
}

function expired(): PinnaceError {
  return new PinnaceError('approval_expired', 'The approval came too late: ask the agent again', { status: 410 });
}
