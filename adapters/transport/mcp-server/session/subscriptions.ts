/** The resources that a session watches. */

import { PinnaceError } from '../../../../src/base/errors.ts';
import { inRpc, unknownResource } from '../content/read-resource.ts';
import type { McpHost } from '../host.ts';
import type { Server } from '../sdk-2026.ts';
import { callerOf, readAs } from '../server.ts';
import { maxSubscriptions, watchOf, watchResource } from '../watch/watch-resource.ts';

/** What subscriptions need. */
export interface SubscriptionOptions {
  readonly server: Server;
  readonly host: McpHost;
  /** Aborts when the session is closed. */
  readonly closed: AbortSignal;
  /** Whether the session may be used now. */
  readonly isOpen: () => boolean;
}

/** Serves `resources/subscribe` and `resources/unsubscribe`. */
export function serveSubscriptions({ server, host, closed, isOpen }: SubscriptionOptions): void {
  const watched = new Map<string, AbortController>();
  server.setRequestHandler('resources/subscribe', async ({ params: { uri } }, context) => {
    if (watched.has(uri)) return {};
    const stop = new AbortController();
    const signal = AbortSignal.any([stop.signal, closed]);
    const { principal } = callerOf(context);
    const notify = (): Promise<void> => server.sendResourceUpdated({ uri });
    const start = async (): Promise<void> => {
      if (watched.size >= maxSubscriptions) throw tooMany();
      watched.set(uri, stop);
      if (!await watchResource(uri, { host, principal, signal, isOpen, notify })) throw unknownResource(uri);
    };
    try {
      await inRpc({ uri }, () => readAs(context, watchOf(uri), undefined, start));
      return {};
    } catch (error) {
      if (watched.get(uri) === stop) watched.delete(uri);
      stop.abort();
      throw error;
    }
  });
  server.setRequestHandler('resources/unsubscribe', ({ params: { uri } }) => {
    watched.get(uri)?.abort();
    watched.delete(uri);
    return {};
  });
}

function tooMany(): PinnaceError {
  return new PinnaceError('rate_limited', `Cannot watch the resource: a session watches at most ${maxSubscriptions}`, {
    retryable: false,
    details: { reason: 'too_many_subscriptions', maxSubscriptions },
  });
}
