/** What an app may reach and wants of the browser: its resource's `_meta.ui`. */

import { asRecord } from '../../base/is-record.ts';
import type { McpAppCsp } from '../../base/schema.ts';
import { error, type Remark } from '../checks/finding.ts';

/** The part of `_meta.ui` that is pinned. */
export interface AppMetadata {
  readonly csp: McpAppCsp;
  readonly permissions: readonly string[];
}

const maxOrigins = 20;
const known = new Set(['camera', 'microphone', 'geolocation', 'clipboardWrite']);

/**
 * Reads it. Returns a remark for an origin that cannot be allowed: one with a path, an address of a private network, or a wildcard
 * over a top-level domain. Addresses of this machine are for servers of this machine.
 */
export function readMetadata(meta: unknown, { isLocal }: { readonly isLocal: boolean }): AppMetadata | Remark {
  const { csp, permissions } = asRecord(asRecord(meta)['ui']);
  const { connectDomains, resourceDomains } = asRecord(csp);
  const connect = readOrigins(connectDomains, { schemes: ['https', 'wss'], isLocal });
  const resource = readOrigins(resourceDomains, { schemes: ['https'], isLocal });
  if (!connect) return unusable('connectDomains');
  if (!resource) return unusable('resourceDomains');
  return {
    csp: { connect, resource },
    permissions: Object.keys(asRecord(permissions)).filter((one) => known.has(one)),
  };
}

function unusable(field: string): Remark {
  return error(
    'app_origin',
    `lists an origin that cannot be allowed: use up to ${maxOrigins} of "https://api.example.com", "https://*.example.com"`,
    `/_meta/ui/csp/${field}`,
  );
}

function readOrigins(
  given: unknown,
  { schemes, isLocal }: { readonly schemes: readonly string[]; readonly isLocal: boolean },
): string[] | undefined {
  if (given === undefined) return [];
  if (!Array.isArray(given) || given.length > maxOrigins) return undefined;
  const origins = given.map((one) => typeof one === 'string' ? one.toLowerCase().replace(/\/$/, '') : '');
  const isFine = (one: string): boolean => isPublic(one, schemes) || (isLocal && loopback.test(one));
  return origins.every(isFine) ? [...new Set(origins)] : undefined;
}

const loopback = /^(?:http|ws)s?:\/\/(?:localhost|127\.0\.0\.1)(?::\d{1,5})?$/;
const origin =
  /^([a-z]+):\/\/(?:\*\.)?((?:[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?\.)+[a-z][a-z\d-]{0,61}[a-z\d])(?::\d{1,5})?$/;

/** Nothing else gets into a policy: no quotes, no spaces, no directives. */
function isPublic(text: string, schemes: readonly string[]): boolean {
  const [, scheme = '', host = ''] = origin.exec(text) ?? [];
  return text.length <= 255 && schemes.includes(scheme) && !/\.(?:local|internal|localhost)$/.test(host);
}

/** Whether a server is one of this machine: its apps may reach others of this machine, for development. */
export function isLocalServer(url: string): boolean {
  return /^(?:localhost|127\.0\.0\.1|\[::1\])$/.test(new URL(url).hostname);
}
