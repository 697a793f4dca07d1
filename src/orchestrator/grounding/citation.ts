/** What an answer is recorded by: ids and versions, contents as hashes. */

import type { CitedSource } from '../../tools/tool.ts';
import type { GroundingHit } from './request.ts';

/** One hit, so that it can be found again and told whether it has changed. */
export type Citation = CitedSource;

/** Gives the citations of hits, in their order. */
export function citationsOf(hits: readonly GroundingHit[]): Promise<Citation[]> {
  return Promise.all(
    hits.map(async ({ id, dataSourceId, title, source: { uri, path, version, lines }, confidence, content }) => ({
      id,
      dataSourceId,
      ...(title !== undefined && { title }),
      uri,
      ...(path !== undefined && { path }),
      version,
      ...(lines && { lines }),
      confidence,
      contentHash: await sha256Hex(content),
    })),
  );
}

/** SHA-256 of a text as UTF-8, hexadecimal. */
export async function sha256Hex(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
