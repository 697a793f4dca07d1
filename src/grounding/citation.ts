/** What an answer is recorded by: ids and versions, contents as hashes. */

import type { CitedSource } from '../tools/tool.ts';
import type { GroundingHit } from './request.ts';
import { sha256 } from '../base/hash.ts';

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
      contentHash: await sha256(content),
    })),
  );
}
