/** The origins on private networks that a composition allows: a local model server, an internal control plane. */

import { PinnaceError } from './errors.ts';

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
export function isOrigin(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && url.origin === text && /^https?:$/.test(url.protocol) && !url.hostname.includes('*');
}

const loopbackHosts = new Set(['localhost', '127.0.0.1', '[::1]']);
