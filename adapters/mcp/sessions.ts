/** The session of one connection: a server may forget it, and then another takes its place. */

import { withAttempts } from '../../src/tools/retry.ts';
import { connectionClosed, isSessionExpired } from './failures.ts';
import type { McpFetch } from './mcp-fetch.ts';
import type { McpSession } from './session.ts';

/** A session, and its way out. */
export interface LiveSession extends McpFetch {
  readonly session: McpSession;
}

/** The session of now. */
export interface Sessions {
  /**
   * Works with the session. Where the server has forgotten it, the next work begins another, and where `again` allows it, this
   * work is that next one.
   */
  use<T>(work: (live: LiveSession) => Promise<T>, options: { readonly again: boolean }): Promise<T>;
  close(): Promise<void>;
}

/** Creates the sessions that begin with this one. */
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
    if (current === lost) current = undefined; // not closed: others may wait for what it still answers
  }

  return {
    async use(work, { again }) {
      const used = live();
      try {
        return await work(await used);
      } catch (error) {
        if (!isSessionExpired(error)) throw error;
        forget(used);
        if (!again) throw error;
        return await work(await live()).catch((last: unknown) => {
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
