/** The guarded fetch without its platform: checks every hop, follows redirects by hand, bounds time, size and kind. */

import { PinnaceError } from '../../src/base/errors.ts';
import { loadOnce } from '../../src/base/load-once.ts';
import {
  checkEgressList,
  checkPrivateOrigins,
  type EgressList,
  type PrivateOrigins,
  requireDestination,
} from '../../src/base/origins.ts';
import type { Egress, EgressOptions, SecretText } from '../../src/contracts/egress.ts';
import { parseTraceparent } from '../../src/events/trace-ids.ts';
import { guardAnswer } from './answer.ts';
import type { CircuitOptions, HeldAnswer } from './circuits.ts';
import { createDeadline, type Deadline } from './deadline.ts';
import { checkHeaderValue, isRequestHeaderAllowed, storeCookies, withCookies } from './headers.ts';
import { firstHop, type Hop, nextHop, type Reach } from './hop.ts';
import { malformed, notSent, refused } from './refusals.ts';

/** Sends one hop and follows no redirect. Errors other than a `PinnaceError` become `unavailable`. */
export type Send = (
  hop: Hop,
  signal: AbortSignal,
  terms: Pick<EgressOptions, 'origins' | 'limits'>,
) => Promise<Response>;

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

export function guardedFetch(send: Send, settings: GuardedFetchOptions = {}): Egress {
  const { schemes = ['https'], circuit = {}, loopback = [], origins: within } = settings;
  const allowed = [...loopback, ...settings.privateOrigins ?? []];
  if (within !== undefined) checkEgressList(within, 'the "origins" of an egress');
  checkLoopback(loopback);
  checkPrivateOrigins(allowed);
  const circuits = loadOnce(async () => (await import('./circuits.ts')).createCircuits(circuit)); // 30 modules that a start need not wait for
  return {
    privateOrigins: allowed,
    async fetch(request, options) {
      const { origins, signal, traceparent, limits, privateOrigins = [] } = options;
      checkPrivateOrigins(privateOrigins);
      const reach = { schemes, origins, within, privateOrigins: [...allowed, ...privateOrigins] };
      const first = await firstHop(request, reach);
      checkSecrets(first.url, options);
      if (parseTraceparent(traceparent)) first.headers.set('traceparent', traceparent ?? '');
      const { timeoutMs = limits === 'caller' ? Infinity : 10_000, tenant } = options;
      const deadline = createDeadline({ signal, timeoutMs, keepsReason: limits === 'caller' });
      const follow = (): Promise<HeldAnswer> => exchange(first, { send, reach, options, deadline });
      try {
        if (limits === 'caller') return (await follow()).answer;
        const kind = options.circuit ?? pathKind(first.url);
        const throughCircuit = await circuits();
        return await throughCircuit({ origin: first.url.origin, kind, tenant }, follow);
      } catch (error) {
        deadline.release();
        throw error;
      }
    },
  };
}

/** The kind of a path for callers that name none: paths that differ only in ids are of one kind. */
export function pathKind({ pathname }: URL): string {
  return pathname.split('/').map((part) => /^(?:\d+|[0-9a-f-]{8,}|.{40,})$/i.test(part) ? '*' : part).join('/');
}

/**
 * Checks that every origin is one of this machine, by address: a name could lead anywhere.
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

type Secrets = Pick<EgressOptions, 'secretHeaders' | 'secretFields' | 'origins'>;

/** Checks, before any value is resolved, that secrets go to listed origins that may receive them, in headers that a tool may set. */
function checkSecrets({ origin }: URL, { secretHeaders = {}, secretFields = {}, origins }: Secrets): void {
  const names = Object.keys(secretHeaders);
  if (origins === 'any' && names.length + Object.keys(secretFields).length > 0) {
    throw malformed('secrets_need_origins', 'it carries secrets, so its origins must be listed');
  }
  const wrong = names.find((name) => !isRequestHeaderAllowed(name));
  if (wrong !== undefined) throw malformed('header_not_allowed', `a tool may not set the header "${wrong}"`);
  for (const part of [...Object.values(secretHeaders), ...Object.values(secretFields)].flat()) {
    if (typeof part !== 'string') requireDestination(part, origin);
  }
}

/** Returns the hop with its secrets: the last step before the socket. A hop to another origin gets none. */
function withSecrets(hop: Hop, { secretHeaders = {}, secretFields = {} }: Secrets): Hop {
  if (!hop.home) return hop;
  const headers = new Headers(hop.headers);
  for (const [name, text] of Object.entries(secretHeaders)) {
    const value = reveal(text);
    checkHeaderValue(name, value);
    headers.set(name, value);
  }
  const fields = Object.entries(secretFields);
  const hasBody = hop.method !== 'GET' && hop.method !== 'HEAD'; // a redirect may have removed it
  if (fields.length === 0 || !hasBody) return { ...hop, headers };
  return { ...hop, headers, body: new TextEncoder().encode(fill(hop, fields)) };
}

function reveal(text: SecretText): string {
  return text.map((part) => (typeof part === 'string' ? part : part.reveal())).join('');
}

function fill({ headers, body }: Hop, fields: readonly (readonly [string, SecretText])[]): string {
  const text = new TextDecoder().decode(body);
  const values = fields.map(([name, value]) => [name, reveal(value)] as const);
  if (headers.get('content-type')?.startsWith('application/x-www-form-urlencoded')) {
    const form = new URLSearchParams(text);
    for (const [name, value] of values) form.set(name, value);
    return form.toString();
  }
  return JSON.stringify({ ...parseObject(text), ...Object.fromEntries(values) });
}

function parseObject(text: string): object {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  } catch {
    // reported below, without the text
  }
  throw malformed('body_not_fields', 'a secret belongs into its body, which must be a JSON object or form data');
}
