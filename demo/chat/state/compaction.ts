/** Summaries that the runtime has made of a chat's earlier messages. */

import * as v from 'valibot';

const count = v.pipe(v.number(), v.minValue(0));

/** `data-compaction`: what earlier messages were summarized to. */
export const CompactionData = v.object({
  throughMessageId: v.string(),
  summary: v.string(),
  tokensBefore: v.optional(count, 0),
  tokensAfter: v.optional(count, 0),
  citations: v.optional(count),
});

/** A summary, where the answer has it. */
export interface CompactionPart extends v.InferOutput<typeof CompactionData> {
  readonly type: 'compaction';
  readonly id: string;
}
