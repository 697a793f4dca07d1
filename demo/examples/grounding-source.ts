/** A custom grounding source: answers from a table of questions and answers. `groundingContract` tests it. */

import type { GroundingRequest, SourceHit } from 'pinnace/ports';
import { type GroundingSource, PinnaceError } from 'pinnace';

/** One question with its answer. */
export interface Faq {
  readonly id: string;
  readonly question: string;
  readonly answer: string;
}

const wordsOf = (text: string): Set<string> => new Set(text.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu) ?? []);

/** Returns the source. `faqs` must return only what the tenant may see; the tenant is not a filter. */
export function faqSource(id: string, faqs: (tenant: string) => readonly Faq[]): GroundingSource {
  return {
    id,
    kind: 'search',
    capabilities: { query: true, embedding: false, filters: [], records: false },
    async retrieve(request, signal) {
      if (signal.aborted) throw new PinnaceError('cancelled', 'Cannot search: the request was canceled');
      const queried = wordsOf(requireQuery(request)); // rejects unsupported requests
      return faqs(request.tenant)
        .map((faq) => toHit(faq, queried))
        .filter(({ score }) => score > 0)
        .toSorted((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1))
        .slice(0, request.topK);
    },
    stats: async (tenant) => ({ version: String(faqs(tenant).length), items: faqs(tenant).length }),
  };
}

/** Rejects unsupported requests. */
function requireQuery(request: GroundingRequest): string {
  const { query, embedding, filters, sort, aggregate } = request;
  const isCount = Number.isInteger(request.topK) && request.topK >= 1 && request.topK <= 200;
  const isPlain = isCount && !embedding && filters.length === 0 && !sort && !aggregate;
  if (isPlain && query?.trim()) return query;
  throw new PinnaceError('invalid_argument', 'Cannot search: this source supports only a text query');
}

function toHit({ id, question, answer }: Faq, queried: ReadonlySet<string>): SourceHit {
  const own = wordsOf(`${question} ${answer}`);
  const score = [...queried].filter((word) => own.has(word)).length / Math.max(queried.size, 1);
  return {
    id,
    title: question,
    content: answer,
    source: { uri: `faq/${id}`, version: '1' },
    score,
    scoreKind: 'bm25',
    confidence: score * 0.8, // the probability that the hit helps: measure it, see fitCalibration
    matched: [],
    metadata: {},
  };
}
