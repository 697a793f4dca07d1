/** The origins on private networks that a composition allows: a local model server, an internal control plane. */

import { PinnaceError } from './errors.ts';
import type { Secret, SecretOrigins } from './secret.ts';

/**
 * Origins, as `URL.origin` writes them, that may lead to a private address; `loopback` means every port of this machine. They
 * come from the composition, never from a record or a model.
 */
export type PrivateOrigins = readonly string[];

/** Stands for every port of this machine. */
const loopback = 'loopback';

/**
 * Checks that every entry is an origin of http or https, or `loopback`.
 *
 * @throws PinnaceError `invalid_argument` with the reason `invalid_private_origin`.
 */
export function checkPrivateOrigins(origins: PrivateOrigins): void {
  const wrong = origins.find((origin) => origin !== loopback && !isOrigin(origin));
  if (wrong === undefined) return;
  const advice = 'write an origin such as "http://127.0.0.1:11434", or "loopback" for every port of this machine';
  throw new PinnaceError('invalid_argument', `Cannot allow the private origin ${JSON.stringify(wrong)}: ${advice}`, {
    details: { reason: 'invalid_private_origin' },
  });
}

/** Whether the composition allows this URL's origin although it may lead to a private address. */
export function isPrivateOriginAllowed({ protocol, origin, hostname }: URL, allowed: PrivateOrigins): boolean {
  if (!/^https?:$/.test(protocol)) return false;
  return allowed.includes(origin) || (allowed.includes(loopback) && loopbackHosts.has(hostname));
}

/** Whether a text is the origin of an http or https URL, exactly as `URL.origin` writes it. */
function isOrigin(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && url.origin === text && /^https?:$/.test(url.protocol) && !url.hostname.includes('*');
}

const loopbackHosts = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * Origins that may be reached: each exactly as `URL.origin` writes it (`https://api.example.com`), or `https://*.example.com` for
 * every host below `example.com` at the port of https, without `example.com` itself. An empty list: none.
 */
export type EgressList = readonly string[];

/** What an entry must be, for the errors of all who take a list. */
export const egressForm =
  'must be an origin such as "https://api.example.com", or "https://*.example.com" for its subdomains';

/** Whether a text is an entry of a list. */
export function isEgressEntry(text: string): boolean {
  const parent = parentOf(text);
  if (parent === undefined) return isOrigin(text) && !text.endsWith('.');
  return /^(?:[a-z0-9-]+\.)+[a-z][a-z0-9-]*$/.test(parent) && !isSharedSuffix(parent);
}

/**
 * Checks a list that a composition writes.
 *
 * @throws PinnaceError `invalid_argument` with the reason `invalid_egress`.
 */
export function checkEgressList(list: unknown, what: string): asserts list is EgressList {
  const entries: readonly unknown[] = Array.isArray(list) ? list : [list];
  const at = entries.findIndex((entry) => typeof entry !== 'string' || !isEgressEntry(entry));
  if (at < 0 && entries === list) return;
  const why = entries === list ? `${JSON.stringify(entries[at])} ${egressForm}` : 'it must be a list of origins';
  throw new PinnaceError('invalid_argument', `Cannot use ${what}: ${why}`, { details: { reason: 'invalid_egress' } });
}

/** Whether the list has the origin of a URL. Without a list, everything is in it. */
export function isWithinEgress(url: URL, list: EgressList | undefined): boolean {
  return list === undefined || list.some((entry) => covers(entry, url.origin));
}

/** Returns what both lists allow; `undefined` allows everything. The first list itself where the second takes nothing from it. */
export function narrowEgress(one: EgressList | undefined, other: EgressList | undefined): EgressList | undefined {
  if (one === undefined || other === undefined || one === other) return one ?? other;
  if (one.every((entry) => other.some((wider) => covers(wider, entry)))) return one;
  const both = [
    ...one.filter((entry) => other.some((wider) => covers(wider, entry))),
    ...other.filter((entry) => one.some((wider) => covers(wider, entry))),
  ];
  return [...new Set(both)];
}

/** The refusal of a call whose request would go to an origin outside a list. It names the origin, and never the path. */
export function egressDenied(attempt: string, origin: string, whose: string): PinnaceError {
  const message = `${attempt}: ${whose} does not allow requests to ${JSON.stringify(origin)}`;
  return new PinnaceError('forbidden', message, { details: { reason: 'egress_denied', origin } });
}

/** Whether one entry allows all that another does: an origin is an entry too. */
function covers(wide: string, narrow: string): boolean {
  if (wide === narrow) return true;
  const parent = parentOf(wide);
  return parent !== undefined && narrow.startsWith('https://') && narrow.endsWith(`.${parent}`);
}

function parentOf(entry: string): string | undefined {
  return entry.startsWith(wildcard) ? entry.slice(wildcard.length) : undefined;
}

const wildcard = 'https://*.';

/**
 * Whether strangers can have names below it: a top-level domain, the second level under a country, or a host that gives every customer
 * a name. A hint that catches slips; it is no list of all public suffixes.
 */
function isSharedSuffix(host: string): boolean {
  const [second = '', top = '', ...more] = host.split('.');
  const isOfCountry = top.length === 2 && more.length === 0;
  return sharedHosts.has(host) ||
    (isOfCountry && /^(?:ac|co|com|edu|go|gob|gov|gv|ne|net|nom|or|org)$/.test(second));
}

const sharedHosts: ReadonlySet<string> = new Set(
  ('amazonaws.com appspot.com azurewebsites.net blogspot.com cloudfront.net deno.dev firebaseapp.com fly.dev github.io ' +
    'gitlab.io herokuapp.com netlify.app ngrok.io onrender.com pages.dev run.app s3.amazonaws.com vercel.app web.app workers.dev')
    .split(' '),
);

/** Stands among origins for functions of the composition. */
const codeDestination = 'code';

/** What a source says of secrets whose definition declares no origins. */
export interface UnboundSecrets {
  /** `allow`: they go to any origin of a record. Absent: they are refused everywhere. */
  readonly unboundSecrets?: 'allow' | undefined;
}

/**
 * Returns the destinations of a secret for {@link Secret}: those that its definition declares, and without any what the source says of
 * unbound secrets.
 *
 * @throws PinnaceError `invalid_argument` with the reason `invalid_secret_origin`.
 */
export function secretOrigins(
  id: string,
  declared: readonly string[] | undefined,
  { unboundSecrets }: UnboundSecrets = {},
): SecretOrigins {
  if (declared === undefined) return unboundSecrets === 'allow' ? 'any' : [];
  const wrong = Array.isArray(declared) ? declared.find((origin) => !isDestination(origin)) : declared;
  if (wrong === undefined) return declared;
  const advice =
    'write a list of origins such as ["https://crm.example.com"], or ["code"] for functions of the composition';
  throw new PinnaceError(
    'invalid_argument',
    `Cannot bind secret "${id}" to ${JSON.stringify(wrong)}: ${advice}`,
    { details: { reason: 'invalid_secret_origin', secret: id } },
  );
}

/** Whether a text is a valid origin of a secret. */
export function isDestination(text: string): boolean {
  return text === codeDestination || isOrigin(text);
}

/**
 * Returns the secret if this origin may receive it; without an origin, if functions of the composition may.
 *
 * @throws PinnaceError `forbidden` with the reason `secret_origin_mismatch`.
 */
export function requireDestination(secret: Secret, origin: string | undefined): Secret {
  const { id, origins } = secret;
  if (origins === 'any' || origins.includes(origin ?? codeDestination)) return secret;
  const destination = origin === undefined ? 'code of the composition' : JSON.stringify(origin);
  const why = origins.length === 0
    ? 'it declares no origins; define it with them, as { value, origins: ["https://api.example.com"] }'
    : `it may go to ${origins.map((one) => JSON.stringify(one)).join(', ')} only`;
  throw new PinnaceError('forbidden', `Cannot give secret "${id}" to ${destination}: ${why}`, {
    details: { reason: 'secret_origin_mismatch', secret: id, origin: origin ?? codeDestination },
  });
}

/** The origin of a URL that would receive a secret; `undefined` for what is no URL. */
export function originOf(url: string): string | undefined {
  return URL.parse(url)?.origin;
}
