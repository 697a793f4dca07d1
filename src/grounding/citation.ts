/** What an answer is recorded by: ids and versions, contents as hashes. */

import type { CitedSource } from '../tools/tool.ts';
import type { GroundingHit } from './request.ts';
import { sha256 } from '../base/hash.ts';

/** One hit, identified so that a change of it can be detected. */
export type Citation = CitedSource;

/** Returns the citations of hits, in their order, with the probability that the sources answer the query. */
export function citationsOf(hits: readonly GroundingHit[], answered?: number): Promise<Citation[]> {
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
      ...(answered !== undefined && { answered }),
      contentHash: await sha256(content),
    })),
  );
}
