/** Notices back ends whose subjects are sessions: what one person owns would be lost with each renewed certificate. */

import { BoundedMap } from '../../../src/base/bounded-map.ts';
import { PinnaceError } from '../../../src/base/errors.ts';
import type { Principal } from '../../../src/base/principal.ts';
import type { Report } from '../../../src/events/report.ts';

/** What a run was started with. */
export interface StartedWith {
  readonly chatId?: string | undefined;
  readonly idempotencyKey: string;
}

/** Looks at whom a run was started for. */
export type WatchSubject = (principal: Principal, started: StartedWith) => void;

/** The chats and keys that are remembered. */
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
