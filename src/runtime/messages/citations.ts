/** The sources that a run's answer may cite. Their numbers continue those of the chat; the stream shows them. */

import type { UIMessage, UIMessageChunk } from '../../contracts/ai-types.ts';
import { asRecord } from '../../base/is-record.ts';
import type { CitedSource, ToolContext } from '../../tools/tool.ts';

/** One numbered source of `data-sources`. */
export interface NumberedSource extends CitedSource {
  /** What `[n]` in the answer refers to. */
  readonly n: number;
}

/** Returns the function by which one call cites. */
export type CiteOf = (toolCallId: string) => NonNullable<ToolContext['cite']>;

/**
 * Counts the sources of a run. One that was cited before in the run, and has not changed, keeps its number. The client's messages
 * say where to go on: all that a forged one could do is leave numbers out.
 */
export function createCitations(
  messages: readonly UIMessage[],
  push: (chunk: UIMessageChunk) => void,
): CiteOf {
  const numbers = new Map<string, number>();
  let last = lastCitation(messages);
  return (toolCallId) => (cited) => {
    const sources = cited.map((source): NumberedSource => {
      const key = JSON.stringify([source.dataSourceId, source.id, source.contentHash]);
      const n = numbers.get(key) ?? ++last;
      numbers.set(key, n);
      return { n, ...source };
    });
    if (sources.length > 0) push({ type: 'data-sources', id: toolCallId, data: { toolCallId, sources } });
    return sources.map(({ n }) => n);
  };
}

/** More than any chat holds; a larger one is none of ours. */
const greatest = 100_000;

/** The highest number that a source has in these messages, or had in those that were summarized; 0 without any. */
export function lastCitation(messages: readonly UIMessage[]): number {
  let last = 0;
  for (const { parts } of messages) for (const part of parts) for (const n of numbersIn(part)) last = Math.max(last, n);
  return last;
}

function numbersIn(part: UIMessage['parts'][number]): number[] {
  if (!('data' in part)) return [];
  if (part.type === 'data-compaction') return [asRecord(part.data)['citations']].filter(isNumberOfOurs);
  if (part.type !== 'data-sources') return [];
  const { sources } = (part.data ?? {}) as { readonly sources?: unknown }; // a client's: every step is looked at
  if (!Array.isArray(sources)) return [];
  return sources.map((source: { readonly n?: unknown } | null) => source?.n).filter(isNumberOfOurs);
}

function isNumberOfOurs(n: unknown): n is number {
  return Number.isSafeInteger(n) && (n as number) > 0 && (n as number) < greatest; // looked at before
}
