/** The guarded fetch on Deno: the socket opens only to addresses that were checked, through the look-up of `node:http(s)`. */

import { checkNames, optional } from '../../src/base/check-options.ts';
import type { PinnaceError } from '../../src/base/errors.ts';
import type { Egress } from '../../src/contracts/egress.ts';
import { loadOnce } from '../../src/base/load-once.ts';
import { isPublicAddress as isPublic } from '../../src/base/network.ts';
import { withinTrace } from './active-trace.ts';
import type { Resolve } from './checked-lookup.ts';
import { guardedFetch, type GuardedFetchOptions } from './guarded-fetch.ts';
import { unreachable } from './refusals.ts';

/** The earlier name. */
export { serverEgress as denoEgress };

/** Loads the clients of Node with the first request: most instances start without one. */
const load = /* @__PURE__ */ loadOnce(() => import('./pinned-socket.ts'));
const loadLookup = /* @__PURE__ */ loadOnce(() => import('./checked-lookup.ts'));

/** What can be replaced, for tests and for networks with rules of their own. */
export interface DenoEgressOptions extends GuardedFetchOptions {
  /** Resolves names; the system's resolver when absent. */
  readonly resolve?: Resolve;
  /** Which addresses a name may lead to; those of the public internet when absent. */
  readonly isPublicAddress?: (ip: string) => boolean;
  /** Whether the platform calls our look-up; probed with the first request when absent. */
  readonly canPin?: () => Promise<boolean>;
}

/** An egress that knows whether its platform lets it check addresses. */
export interface PinnedEgress extends Egress {
  /** For `readyz`: without it, every request is `unavailable`. */
  readonly isReady: () => Promise<boolean>;
}

/** Creates the guarded fetch for servers: Node, and Deno (2.7.14 and later). */
export function serverEgress(options: DenoEgressOptions = {}): PinnedEgress {
  checkNames(
    'create the egress',
    options,
    optional('resolve', 'isPublicAddress', 'canPin', 'circuit', 'loopback', 'origins', 'privateOrigins', 'schemes'),
  );
  const { resolve = bySystem, isPublicAddress = isPublic, canPin = probe } = options;
  const isPinned = loadOnce(() => canPin().catch(() => false));
  const poolsOf = loadOnce(async () => (await load()).createPools());
  const egress = guardedFetch(async (hop, signal, { limits }) => {
    if (!hop.isPrivate && !await isPinned()) throw cannotPin();
    const [{ sendPinned }, { checkedLookup, requirePublicLiteral }, pools] = await Promise.all([
      load(),
      loadLookup(),
      poolsOf(),
    ]);
    if (!hop.isPrivate) requirePublicLiteral(hop.url, isPublicAddress);
    const pool = limits === 'caller' ? pools?.(hop) : undefined; // others may act, and must not be sent twice
    const terms = { signal, pool, lookup: checkedLookup(resolve, hop.isPrivate ? () => true : isPublicAddress) };
    return await withinTrace(hop.headers.get('traceparent'), () => sendPinned(hop, terms));
  }, options);
  return { ...egress, isReady: isPinned };
}

const probe = async (): Promise<boolean> => await (await load()).probePinning();
const bySystem: Resolve = async (hostname) => await (await load()).resolveBySystem(hostname);

function cannotPin(): PinnaceError {
  return unreachable('egress_unpinned', 'this platform cannot check the address that a socket uses; Deno 2.7.14 can');
}
