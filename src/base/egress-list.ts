/** Where requests may go: a list of exact origins and of hosts with all their subdomains. */

import { PinnaceError } from './errors.ts';
import { isOrigin } from './private-origins.ts';

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
