/** What answers of chat completion servers have besides words and calls, which the AI SDK's parser does not look for. */

import type { MetadataExtractor } from '@ai-sdk/openai-compatible';
import type { LanguageModel } from '../../src/contracts/ai-types.ts';
import { asArray, asRecord, isRecord } from '../../src/base/is-record.ts';

type JsonObject = Readonly<Record<string, unknown>>;
type Answer = Awaited<ReturnType<LanguageModel['doStream']>>;
type Part = Answer['stream'] extends ReadableStream<infer P> ? P : never;
type Extra = Extract<Part, { type: 'file' | 'source' }>;

/** The name under which what was found travels to the end of the stream, inside this process. */
const carried = 'pinnaceExtras';

/** Reads each chunk of an answer for images and sources. */
export const extrasExtractor: MetadataExtractor = {
  extractMetadata: () => Promise.resolve(undefined),
  createStreamExtractor() {
    const found = new Map<string, Extra>();
    return {
      processChunk: (chunk) => extrasOf(asRecord(chunk)).forEach(([key, extra]) => found.set(key, extra)),
      // safe: nothing but `withExtras` reads it
      buildMetadata: () => found.size === 0 ? undefined : { [carried]: { extras: [...found.values()] as never } },
    };
  },
};

/** Returns the answer with its images and sources before its end. */
export function withExtras(answer: Answer): Answer {
  const stream = answer.stream.pipeThrough(
    new TransformStream<Part, Part>({
      transform(part, controller) {
        if (part.type !== 'finish' || !part.providerMetadata?.[carried]) return controller.enqueue(part);
        const { [carried]: found, ...providerMetadata } = part.providerMetadata;
        const extras = found['extras'] as unknown as readonly Extra[]; // put there above
        for (const extra of extras) controller.enqueue(extra);
        controller.enqueue({ ...part, providerMetadata });
      },
    }),
  );
  return { ...answer, stream };
}

/** By what they are: some servers repeat them in each chunk, or in a last one. */
function extrasOf({ choices, citations, search_results: results, web_search: searched }: JsonObject) {
  const [choice] = asArray(choices);
  const { images, content, annotations } = asRecord(asRecord(choice)['delta']);
  const pictures = [...asArray(images), ...asArray(content)].flatMap(imageOf);
  const cited = asArray(annotations).map((one) => asRecord(one)['url_citation'] ?? one);
  return [...pictures, ...[cited, citations, results, searched].flatMap(asArray).flatMap(sourceOf)];
}

const dataUrl = /^data:(image\/[a-z0-9.+-]+);base64,([a-z0-9+/=]+)$/i;

/** An image at an address elsewhere is a source: showing it would call a server that the model has chosen. */
function imageOf(value: unknown): readonly (readonly [string, Extra])[] {
  const { image_url: given, url = given } = asRecord(value);
  const address = isRecord(url) ? url['url'] : url;
  if (typeof address !== 'string') return [];
  const [, mediaType, data] = dataUrl.exec(address) ?? [];
  if (mediaType === undefined || data === undefined) return sourceOf(address);
  return [[address, { type: 'file', mediaType, data: { type: 'data', data } }]];
}

function sourceOf(value: unknown): readonly (readonly [string, Extra])[] {
  const { link, url = link, title } = isRecord(value) ? value : { url: value };
  if (typeof url !== 'string' || !/^https?:$/.test(URL.parse(url)?.protocol ?? '')) return [];
  const named = typeof title === 'string' && title !== '' ? { title } : {};
  return [[url, { type: 'source', sourceType: 'url', id: url, url, ...named }]];
}
