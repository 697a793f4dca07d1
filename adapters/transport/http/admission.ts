/** Admits as many starts of runs as the endpoint can serve within its objective. */

import { BoundedMap } from '../../../src/base/bounded-map.ts';
import { PinnaceError } from '../../../src/base/errors.ts';
import type { Principal } from '../../../src/base/principal.ts';
import type { Report } from '../../../src/events/report.ts';

/** The longest that a start may take when the composition does not say, in milliseconds. */
export const defaultStartObjectiveMs = 2_000;

interface AdmissionOptions {
  readonly objectiveMs: number;
  readonly now: () => number;
}

export interface Admission {
  readonly starting: number;
  /**
   * Counts a start, and returns the function that says that it is over.
   *
   * @throws PinnaceError `overloaded` (503) with the reason `start_objective` and the time after which a retry may be served.
   */
  enter(): () => void;
}

/** With fewer starts in progress, their times say how far away the storage is, and not how much the endpoint can serve. */
const fewest = 8;
const weight = 1 / 16;
const leastRetryMs = 1_000;

/**
 * Creates admission with nothing in progress. It learns the time between the ends of two starts while many are in progress. A new one
 * has to wait for those before it, so it is refused when that takes longer than the objective, and when no start has ended for as long.
 */
export function createAdmission({ objectiveMs, now }: AdmissionOptions): Admission {
  let starting = 0;
  let betweenMs = 0;
  let lastAt = now();
  const expectedMs = (): number => {
    if (starting < fewest) return 0;
    const silentMs = Math.max(0, now() - lastAt);
    return silentMs > objectiveMs ? Infinity : (starting + 1) * betweenMs;
  };
  const leave = (): void => {
    if (starting >= fewest) betweenMs += (Math.max(0, now() - lastAt) - betweenMs) * weight;
    lastAt = now();
    starting -= 1;
  };
  return {
    get starting() {
      return starting;
    },
    enter() {
      const waitMs = expectedMs();
      if (waitMs > objectiveMs) throw overloaded(Math.min(waitMs - objectiveMs, objectiveMs));
      if (starting === 0) lastAt = now();
      starting += 1;
      let isOver = false;
      return () => {
        if (!isOver) leave();
        isOver = true;
      };
    },
  };
}

function overloaded(overMs: number): PinnaceError {
  return new PinnaceError('overloaded', 'The endpoint cannot start the run in time: try again later', {
    retryAfterMs: Math.max(leastRetryMs, Math.ceil(overMs)),
    details: { reason: 'start_objective' },
  });
}

/** The most runs at once. A plan counts as one while it works, also after its client has left. */
export interface QuotaLimits {
  /** Of one tenant. Default: 16. */
  readonly runsPerTenant: number;
  /** Of one subject of a tenant, so that one person cannot take all of them. Default: half of `runsPerTenant`. */
  readonly runsPerSubject: number;
  /** Of the instance. Default: 200. */
  readonly runs: number;
}

export const defaultQuotas: QuotaLimits = { runsPerTenant: 16, runsPerSubject: 8, runs: 200 };

export interface Quotas {
  /**
   * Counts a run of this subject, and returns the function that releases it.
   *
   * @throws PinnaceError `rate_limited` when the subject or its tenant is at its limit, `overloaded` (503) when the instance is.
   */
  enter(caller: { readonly tenant: string; readonly subject: string }): () => void;
}

/** Creates quotas with nothing counted yet; `what` is counted, in errors. */
export function createQuotas(given: Partial<QuotaLimits> = {}, what = 'runs'): Quotas {
  const { runsPerTenant = defaultQuotas.runsPerTenant, runs = defaultQuotas.runs } = given;
  const { runsPerSubject = Math.ceil(runsPerTenant / 2) } = given;
  const open = new Map<string, number>();
  let total = 0;
  const change = (key: string, by: 1 | -1): void => {
    const count = (open.get(key) ?? 0) + by;
    if (count === 0) open.delete(key);
    else open.set(key, count);
  };
  return {
    enter({ tenant, subject }) {
      const keys = [JSON.stringify([tenant]), JSON.stringify([tenant, subject])] as const;
      if (total >= runs) throw instanceFull();
      if ((open.get(keys[0]) ?? 0) >= runsPerTenant) throw full('tenant', { most: runsPerTenant, what });
      if ((open.get(keys[1]) ?? 0) >= runsPerSubject) throw full('subject', { most: runsPerSubject, what });
      total += 1;
      for (const key of keys) change(key, 1);
      let hasLeft = false;
      return () => {
        if (hasLeft) return;
        hasLeft = true;
        total -= 1;
        for (const key of keys) change(key, -1);
      };
    },
  };
}

function instanceFull(): PinnaceError {
  return new PinnaceError('overloaded', 'The endpoint runs as much as it can: try again later', {
    details: { reason: 'instance_quota' },
  });
}

function full(
  of: 'tenant' | 'subject',
  { most, what }: { readonly most: number; readonly what: string },
): PinnaceError {
  const owner = of === 'tenant' ? 'this tenant has' : 'you have';
  return new PinnaceError(
    'rate_limited',
    `Cannot start: ${owner} ${most} ${what} under way, wait for one to end`,
    { details: { reason: `${of}_quota` } },
  );
}

export interface StartedWith {
  readonly chatId?: string | undefined;
  readonly idempotencyKey: string;
}

export type WatchSubject = (principal: Principal, started: StartedWith) => void;

const mostEntries = 4_096;
/** Later, another person may well use the same name. */
const withinMs = 3_600_000;

/**
 * Creates the watch. It reports once for each issuer that one chat, or one idempotency key, was used by several of its subjects within an
 * hour: such a subject is likely a session, or one member of a group that shares a chat.
 */
export function createSubjectWatch(
  { report, now }: { readonly report: Report; readonly now: () => number },
): WatchSubject {
  const known = new BoundedMap<string, { readonly subject: string; readonly at: number }>(mostEntries);
  const reported = new BoundedMap<string, true>(mostEntries);
  return ({ tenant, subject, session }, { chatId, idempotencyKey }) => {
    if (session === undefined || reported.get(session.issuer)) return;
    for (const [kind, id] of [['chat', chatId], ['key', idempotencyKey]]) {
      if (id === undefined) continue;
      const key = JSON.stringify([session.issuer, tenant, kind, id]);
      const [last, at] = [known.get(key), now()];
      known.set(key, { subject, at });
      if (last === undefined || last.subject === subject || at - last.at > withinMs) continue;
      reported.set(session.issuer, true);
      report(looksLikeSession(), { kind: 'http', id: 'subject_looks_like_session' });
      return;
    }
  };
}

function looksLikeSession(): PinnaceError {
  return new PinnaceError(
    'conflict',
    'One chat or idempotency key was used by several subjects of one issuer within an hour: the subject of its certificates looks ' +
      'like a session. Runs, chats and keys belong to the subject. Name the person or the group in the claim "subject" or in ' +
      '"Pinnace-Subject", or map the certificate with "subjectOf" of createAuthenticator',
    { retryable: false, details: { reason: 'subject_looks_like_session' } },
  );
}
