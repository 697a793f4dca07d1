/** The audit of an endpoint, as in process. */

import type { CallOptions } from './call-options.ts';
import type { EventLog, LoggedEvent } from '../../../src/events/audit.ts';
import type { EventQuery } from '../../../src/events/event-query.ts';
import type { Verification } from '../../../src/events/event-chain.ts';
import type { Page } from '../../../src/base/page.ts';
import { queryOf } from './query.ts';

/** What was done, and whether the audit is complete. Errors are those of the log; `not_found` where the endpoint has no audit. */
export interface RemoteAudit extends Pick<EventLog, 'verify'> {
  /** Returns a page, the oldest first. */
  list(query?: EventQuery, options?: CallOptions): Promise<Page<LoggedEvent>>;
}

/** Sends one request and returns the JSON of the response. */
type CallRoute = (request: {
  readonly method: string;
  readonly path: string;
  readonly signal: AbortSignal;
}) => Promise<unknown>;

/** Creates the audit of a remote endpoint. */
export function createRemoteAudit(callRoute: CallRoute): RemoteAudit {
  const get = (path: string, { signal = new AbortController().signal }: CallOptions): Promise<unknown> =>
    callRoute({ method: 'GET', path, signal });
  return {
    async list({ from, until, ...query } = {}, options = {}) {
      const times = { from: timeOf(from), until: timeOf(until) };
      return await get(`/v1/audit${queryOf({ ...query, ...times })}`, options) as Page<LoggedEvent>; // the endpoint's schema says so
    },
    verify: async ({ anchor, ...options } = {}) => {
      const { seq, hash } = anchor ?? {};
      return await get(`/v1/audit/verification${queryOf({ seq, hash })}`, options) as Verification; // as above
    },
  };
}

function timeOf(time: number | undefined): string | undefined {
  return time === undefined ? undefined : new Date(time).toISOString();
}
