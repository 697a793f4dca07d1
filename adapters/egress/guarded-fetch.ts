/** The guarded fetch without its platform: checks every hop, follows redirects by hand, bounds time, size and kind. */

import { checkEgressList, checkPrivateOrigins, type EgressList, type PrivateOrigins } from '../../src/base/origins.ts';
import { PinnaceError } from '../../src/base/errors.ts';
import type { Egress, EgressOptions } from '../../src/contracts/egress.ts';
import { parseTraceparent } from '../../src/events/trace-ids.ts';
import { guardAnswer } from './answer.ts';
import { type CircuitOptions, createCircuits, type HeldAnswer, pathKind } from './circuits.ts';
import { createDeadline, type Deadline } from './deadline.ts';
import { storeCookies, withCookies } from './headers.ts';
import { firstHop, type Hop, nextHop, type Reach } from './hop.ts';
import { notSent, refused } from './refusals.ts';
import { checkSecrets, withSecrets } from './secrets.ts';

/** Sends one hop and follows no redirect. Errors other than a `PinnaceError` become `unavailable`. */
export type Send = (hop: Hop, signal: AbortSignal, terms: Pick<EgressOptions, 'origins'>) => Promise<Response>;

/** What the platforms' adapters have in common. */
export interface GuardedFetchOptions {
  /** Names without a colon; `['https']` by default. */
  readonly schemes?: readonly ('http' | 'https')[];
  readonly circuit?: CircuitOptions;
  /** The only origins that any request of this egress may reach, redirects included; what each request allows when absent. */
  readonly origins?: EgressList;
  /**
   * Origins on private networks, or over plain http, that may be reached where a request lists them: `http://10.1.2.3:8080`,
   * `https://stock.internal`. `loopback` means every port of this machine. None when absent.
   */
  readonly privateOrigins?: PrivateOrigins;
  /** Origins on this machine, by address, that may be reached where a request lists them. `privateOrigins` does the same. */
  readonly loopback?: readonly string[];
}

/** Creates the guarded fetch over a platform's sender. */
export function guardedFetch(send: Send, settings: GuardedFetchOptions = {}): Egress {
  const { schemes = ['https'], circuit = {}, loopback = [], origins: within } = settings;
  const allowed = [...loopback, ...settings.privateOrigins ?? []];
  if (within !== undefined) checkEgressList(within, 'the "origins" of an egress');
  checkLoopback(loopback);
  checkPrivateOrigins(allowed);
  const throughCircuit = createCircuits(circuit);
  return {
    privateOrigins: allowed,
    async fetch(request, options) {
      const { origins, signal, traceparent, limits, privateOrigins = [] } = options;
      checkPrivateOrigins(privateOrigins);
      const reach = { schemes, origins, within, privateOrigins: [...allowed, ...privateOrigins] };
      const first = await firstHop(request, reach);
      checkSecrets(first.url, options);
      if (parseTraceparent(traceparent)) first.headers.set('traceparent', traceparent ?? '');
      const { timeoutMs = limits === 'caller' ? Infinity : 10_000 } = options;
      const deadline = createDeadline({ signal, timeoutMs, keepsReason: limits === 'caller' });
      const follow = (): Promise<HeldAnswer> => exchange(first, { send, reach, options, deadline });
      try {
        if (limits === 'caller') return (await follow()).answer;
        const kind = options.circuit ?? pathKind(first.url);
        return await throughCircuit({ origin: first.url.origin, kind }, follow);
      } catch (error) {
        deadline.release();
        throw error;
      }
    },
  };
}

/**
 * Checks that every origin is one of this machine, by address: a name could lead anywhere.
 *
 * @throws PinnaceError `invalid_argument` otherwise.
 */
function checkLoopback(origins: readonly string[]): void {
  const wrong = origins.find((origin) => {
    const url = URL.parse(origin);
    return url === null || url.origin !== origin || !loopbackHosts.has(url.hostname) || !/^https?:$/.test(url.protocol);
  });
  if (wrong === undefined) return;
  const advice = 'it must be an origin of this machine by address, such as "http://127.0.0.1:3001"';
  throw new PinnaceError('invalid_argument', `Cannot allow the loopback origin ${JSON.stringify(wrong)}: ${advice}`);
}

const loopbackHosts = new Set(['127.0.0.1', '[::1]']);

interface Exchange {
  readonly send: Send;
  readonly reach: Reach;
  readonly options: EgressOptions;
  readonly deadline: Deadline;
}

const maxRedirects = 5;

async function exchange(first: Hop, { send, reach, options, deadline }: Exchange): Promise<HeldAnswer> {
  let hop = first;
  const allowed = options.redirects === 'refuse' ? 0 : maxRedirects;
  for (let redirects = 0; redirects <= allowed; redirects++) {
    const answer = await sendHop(withSecrets(hop, options), { send, options, deadline });
    const next = await nextOrCancel(hop, answer, reach);
    if (next === undefined) return await holdAnswer(answer, options, deadline);
    if (allowed === 0) throw unfollowed(hop.url, next.url);
    hop = next;
  }
  throw refused('redirect_refused', `it was redirected more than ${allowed} times`);
}

/** The error names the path alone, and only at the same origin: a caller can write that address into its configuration. */
function unfollowed(from: URL, { origin, pathname }: URL): PinnaceError {
  const location = origin === from.origin && /^[\w./~%-]{1,200}$/.test(pathname) ? pathname : undefined;
  if (location === undefined) return refused('redirect_refused', 'the answer is a redirect to another address');
  const why = `the answer redirects it to "${location}" at the same origin; use that address`;
  return refused('redirect_refused', why, { location });
}

async function sendHop(
  hop: Hop,
  { send, options, deadline }: Pick<Exchange, 'send' | 'options' | 'deadline'>,
): Promise<Response> {
  deadline.signal.throwIfAborted();
  try {
    const jar = hop.home ? options.cookies : undefined;
    const answer = await deadline.race(
      send({ ...hop, headers: withCookies(hop.headers, jar) }, deadline.signal, options),
    );
    if (jar) storeCookies(jar, answer.headers, hop.url);
    return answer;
  } catch (error) {
    deadline.signal.throwIfAborted();
    throw notSent(error, hop.url, options, 'did not answer');
  }
}

/** A redirect's body is not read, and must not keep its socket. */
async function nextOrCancel(hop: Hop, answer: Response, reach: Reach): Promise<Hop | undefined> {
  const giveUp = async (): Promise<void> => await answer.body?.cancel().catch(() => {});
  try {
    const next = nextHop(hop, answer, reach);
    if (next !== undefined) await giveUp();
    return next;
  } catch (error) {
    await giveUp();
    throw error;
  }
}

async function holdAnswer(
  answer: Response,
  { maxBytes, limits, accept }: EgressOptions,
  deadline: Deadline,
): Promise<HeldAnswer> {
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  const onEnd = (): void => {
    deadline.release();
    resolve();
  };
  const callerLimits = limits === 'caller';
  return { answer: await guardAnswer(answer, { maxBytes, deadline, onEnd, callerLimits, accept }), ended };
}
