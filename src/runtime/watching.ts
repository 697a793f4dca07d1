/** Authorized access to a runtime's events and audit. */

import { loadOnce } from '../base/load-once.ts';
import type { EventBlocks } from '../events/event-blocks.ts';
import type { EventFeed } from '../events/event-feed.ts';
import { ringFeed } from '../events/ring-feed.ts';
import type { RuntimeObservers } from './runtime-options.ts';
import { type Principal, requireScope } from '../base/principal.ts';
import type { HostedRuntime } from './runtime.ts';

const load = /* @__PURE__ */ loadOnce(() => import('../events/store-feed.ts'));

/** Creates the methods; `closing` ends all subscriptions. */
export function createWatching(
  { ring, audit }: Pick<RuntimeObservers, 'ring' | 'audit'>,
  closing: AbortSignal,
): Pick<HostedRuntime, 'events' | 'feed' | 'audit'> {
  const instance = crypto.randomUUID().slice(0, 8);
  const feedOf = (principal: Principal): EventFeed =>
    ring.store
      ? storeFeed(ring.store.log(principal.tenant))
      : ringFeed(ring, { origin: instance, isVisible: visibleTo(principal) });
  return {
    events(principal, { signal, ...wanted } = {}) {
      requireScope(principal, 'admin');
      return ring.watch(visibleTo(principal), {
        ...wanted,
        signal: signal ? AbortSignal.any([signal, closing]) : closing,
      });
    },
    feed(principal) {
      requireScope(principal, 'admin');
      const feed = feedOf(principal);
      return {
        origin: feed.origin,
        follow: (how) => feed.follow({ ...how, signal: AbortSignal.any([how.signal, closing]) }),
      };
    },
    audit(principal) {
      requireScope(principal, 'admin');
      return audit?.log(principal.tenant);
    },
  };
}

/** A feed of the events in a tenant's log. Instances share the log, and so the origin of all numbers. */
function storeFeed(log: EventBlocks): EventFeed {
  return {
    origin: 'log',
    async *follow(options) {
      const { followLog } = await load();
      yield* followLog(log, options);
    },
  };
}

/** In-process principals also receive events of no tenant. */
function visibleTo({ tenant, via }: Principal): (of: string | undefined) => boolean {
  return (of) => of === tenant || (of === undefined && via === 'in-process');
}
