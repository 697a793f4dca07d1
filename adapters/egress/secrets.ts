/** Inserts secrets into header values and named fields of a body, nowhere else. */

import type { EgressOptions, SecretText } from '../../src/contracts/egress.ts';
import { requireDestination } from '../../src/base/origins.ts';
import { checkHeaderValue, isRequestHeaderAllowed } from './headers.ts';
import type { Hop } from './hop.ts';
import { malformed } from './refusals.ts';

type Secrets = Pick<EgressOptions, 'secretHeaders' | 'secretFields' | 'origins'>;

/** Checks, before any value is resolved, that secrets go to listed origins that may receive them, in headers that a tool may set. */
export function checkSecrets({ origin }: URL, { secretHeaders = {}, secretFields = {}, origins }: Secrets): void {
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
export function withSecrets(hop: Hop, { secretHeaders = {}, secretFields = {} }: Secrets): Hop {
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
