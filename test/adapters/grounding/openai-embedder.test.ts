import { describe, expect, it } from 'vitest';
import { openAiEmbedder, type OpenAiEmbedderOptions } from '../../../adapters/grounding/openai-embedder.ts';
import { neverAborted } from '../../fixtures/grounding.ts';

interface Sent {
  readonly url: string;
  readonly key: string | null;
  readonly body: { readonly model: string; readonly input: readonly string[] };
}

/** An endpoint that answers as it is told, then with the length of each text as its vector, in reverse order. */
function endpoint(...first: readonly (() => Response)[]) {
  const [sent, waited]: [Sent[], number[]] = [[], []];
  const pending = [...first];
  const options: OpenAiEmbedderOptions = {
    baseUrl: 'http://127.0.0.1:9/v1/',
    apiKey: () => 'key-1',
    model: 'small',
    perRequest: 2,
    wait: (ms) => Promise.resolve(void waited.push(ms)),
    fetch: async (input, init) => {
      const request = new Request(input, init);
      const body = await request.json() as Sent['body']; // what the embedder has just written
      sent.push({ url: request.url, key: request.headers.get('authorization'), body });
      const next = pending.shift();
      const data = body.input.map((text, index) => ({ index, embedding: [text.length, 1] })).toReversed();
      return next ? next() : Response.json({ data });
    },
  };
  return { sent, waited, embedder: openAiEmbedder(options) };
}

describe('openAiEmbedder', () => {
  it('sends texts in batches and returns vectors in the order of the texts', async () => {
    const { sent, embedder } = endpoint();
    expect(await embedder.embed(['a', 'bb', 'ccc'], neverAborted())).toEqual([[1, 1], [2, 1], [3, 1]]);
    expect(sent.map(({ body }) => body.input)).toEqual([['a', 'bb'], ['ccc']]);
    expect(sent[0]).toMatchObject({
      url: 'http://127.0.0.1:9/v1/embeddings',
      key: 'Bearer key-1',
      body: { model: 'small' },
    });
  });

  it('repeats a request that was limited or failed, after the time that the endpoint names', async () => {
    const { sent, waited, embedder } = endpoint(
      () => new Response('', { status: 429, headers: { 'retry-after': '3' } }),
      () => new Response('', { status: 503 }),
    );
    expect(await embedder.embed(['a'], neverAborted())).toEqual([[1, 1]]);
    expect([sent.length, waited]).toEqual([3, [3_000, 1_000]]);
  });

  it('reports other answers as unavailable, without the texts and the key', async () => {
    const refused = endpoint(() => new Response('key-1 secret text', { status: 401 }));
    const error = await refused.embedder.embed(['secret text'], neverAborted()).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'unavailable', details: { reason: 'embedder_failed' } });
    expect(String(error)).not.toMatch(/secret|key-1/);
    expect(refused.sent).toHaveLength(1);
    const short = endpoint(() => Response.json({ data: [] }));
    await expect(short.embedder.embed(['a'], neverAborted())).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('stops with its signal', async () => {
    const { embedder } = endpoint();
    await expect(embedder.embed(['a'], AbortSignal.abort())).rejects.toMatchObject({
      code: 'cancelled',
    });
  });
});
