/** From the answer of `resources/read` to an app. */

import { sha256 } from '../base/hash.ts';
import { asRecord } from '../base/is-record.ts';
import { canonicalJson } from '../base/json.ts';
import type { McpAppCsp } from '../base/schema.ts';
import { fromBase64 } from '../base/base64.ts';
import { error, type Remark } from './pinned-tools.ts';

export interface LiveApp extends AppMetadata {
  readonly html: string;
  readonly bytes: number;
  readonly sha256: string;
}

const maxAppBytes = 524_288;

/**
 * Reads an app. `fallback` is the metadata for an answer that has none: that of the list, or of the pin. Returns a remark for what is
 * no app.
 */
export async function readApp(
  uri: string,
  answer: Readonly<Record<string, unknown>>,
  { isLocal, fallback }: { readonly isLocal: boolean; readonly fallback: AppMetadata | undefined },
): Promise<LiveApp | Remark> {
  const { contents } = answer;
  const part = (Array.isArray(contents) ? contents : []).map(asRecord).find((one) => one['uri'] === uri);
  if (!part) return error('app_missing', 'is not what its server answers');
  if (!isAppType(part['mimeType'])) return error('app_type', 'is not of the type text/html;profile=mcp-app');
  const html = htmlOf(part);
  if (html === undefined) return error('app_text', 'has no HTML that can be read');
  const bytes = new TextEncoder().encode(html).length;
  if (bytes > maxAppBytes) return error('app_too_large', `is longer than ${maxAppBytes} bytes`);
  const own = asRecord(part['_meta'])['ui'] === undefined ? undefined : readMetadata(part['_meta'], { isLocal });
  const metadata = own ?? fallback ?? readMetadata({}, { isLocal });
  if ('rule' in metadata) return metadata;
  const { csp, permissions } = metadata;
  return { html, bytes, csp, permissions, sha256: await appHash({ html, csp, permissions }) };
}

/** The hash of an app: of all that a person has approved. */
async function appHash(app: AppMetadata & { readonly html: string }): Promise<string> {
  return await sha256(`mcp-app/v1\n${canonicalJson(app)}`);
}

function isAppType(mimeType: unknown): boolean {
  if (typeof mimeType !== 'string') return false;
  const [type, ...parameters] = mimeType.toLowerCase().replace(/[\s"]/g, '').split(';');
  return type === 'text/html' && parameters.includes('profile=mcp-app');
}

function htmlOf({ text, blob }: Readonly<Record<string, unknown>>): string | undefined {
  if (typeof text === 'string') return text;
  const bytes = typeof blob === 'string' && blob.length < maxAppBytes * 2 ? fromBase64(blob) : undefined;
  try {
    return bytes && new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** The part of `_meta.ui` that is pinned. */
interface AppMetadata {
  readonly csp: McpAppCsp;
  readonly permissions: readonly string[];
}

const maxOrigins = 20;
const permissionNames = new Set(['camera', 'microphone', 'geolocation', 'clipboardWrite']);

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
    permissions: Object.keys(asRecord(permissions)).filter((one) => permissionNames.has(one)),
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
  if (given === undefined || given === null) return [];
  if (!Array.isArray(given) || given.length > maxOrigins) return undefined;
  const origins = given.map((one) => typeof one === 'string' ? one.toLowerCase().replace(/\/$/, '') : '');
  const isFine = (one: string): boolean => isPublic(one, schemes) || (isLocal && loopback.test(one));
  return origins.every(isFine) ? [...new Set(origins)] : undefined;
}

const loopback = /^(?:http|ws)s?:\/\/(?:localhost|127\.0\.0\.1)(?::\d{1,5})?$/;
const publicOrigin =
  /^([a-z]+):\/\/(?:\*\.)?((?:[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?\.)+[a-z][a-z\d-]{0,61}[a-z\d])(?::\d{1,5})?$/;

/** Nothing else gets into a policy: no quotes, no spaces, no directives. */
function isPublic(text: string, schemes: readonly string[]): boolean {
  const [, scheme = '', host = ''] = publicOrigin.exec(text) ?? [];
  return text.length <= 255 && schemes.includes(scheme) && !/\.(?:local|internal|localhost)$/.test(host);
}

/** Whether a server is one of this machine: its apps may reach others of this machine, for development. */
export function isLocalServer(url: string): boolean {
  return /^(?:localhost|127\.0\.0\.1|\[::1\])$/.test(new URL(url).hostname);
}
