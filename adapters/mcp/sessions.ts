/** The session of one connection. It is replaced when the server no longer knows it. */

import { withAttempts } from '../../src/base/with-retries.ts';
import { connectionClosed, endOfSession, sessionExpired } from './failures.ts';
import type { McpFetch } from './mcp-fetch.ts';
import type { McpSession } from './session.ts';

/** A session and its `fetch`. */
export interface LiveSession extends McpFetch {
  readonly session: McpSession;
}

/** The current session. */
export interface Sessions {
  /**
   * Runs work with the session. When the server no longer knows it, the next work starts another. Work that the server has refused
   * for its session alone is repeated in the new one, once (Streamable HTTP, Session Management); work whose answer broke off only
   * where `again` allows it.
   */
  use<T>(work: (live: LiveSession) => Promise<T>, options: { readonly again: boolean }): Promise<T>;
  close(): Promise<void>;
}

/** Creates the sessions of a connection, starting with this one. */
export function createSessions(first: LiveSession, open: () => Promise<LiveSession>): Sessions {
  let current: Promise<LiveSession> | undefined = Promise.resolve(first);
  let closed = false;

  function live(): Promise<LiveSession> {
    if (closed) throw connectionClosed();
    if (current !== undefined) return current;
    current = openNext();
    return current;
  }

  async function openNext(): Promise<LiveSession> {
    try {
      return await open();
    } catch (error) {
      current = undefined;
      throw error;
    }
  }

  function forget(lost: Promise<LiveSession>): void {
    if (current === lost) current = undefined; // not closed: other calls may wait for its responses
  }

  return {
    async use(work, { again }) {
      const used = live();
      try {
        return await work(await used);
      } catch (error) {
        const end = endOfSession(error);
        if (end === undefined) throw error;
        forget(used);
        if (end === 'lost' && !again) throw error;
        const next = await live().catch((cause: unknown) => {
          if (end === 'expired') throw sessionExpired(cause);
          throw cause;
        });
        return await work(next).catch((last: unknown) => {
          throw withAttempts(last, 2);
        });
      }
    },
    async close() {
      closed = true;
      await current?.then(({ session }) => session.close()).catch(() => {});
    },
  };
}
