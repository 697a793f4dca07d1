/** From the answer of `resources/read` to an app. */

import { sha256 } from '../../base/hash.ts';
import { asRecord } from '../../base/is-record.ts';
import { canonicalJson } from '../../base/json.ts';
import { fromBase64 } from '../../base/base64.ts';
import { error, type Remark } from '../checks/finding.ts';
import { type AppMetadata, readMetadata } from './app-metadata.ts';

/** An app as its server has it now. */
export interface LiveApp extends AppMetadata {
  readonly html: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** The longest HTML of an app, in bytes. */
export const maxAppBytes = 524_288;

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
