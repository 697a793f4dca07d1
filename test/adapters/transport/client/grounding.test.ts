import { describe, expect, it } from 'vitest';
import { textSource } from '../../../../adapters/grounding/text.ts';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import type { Client } from '../../../../adapters/transport/client.ts';
import { createGrounding } from '../../../../src/index.ts';
import type { IngestProgress, IngestReport } from '../../../../src/grounding/index.ts';
import { scriptedModel } from '../../../fixtures/model.ts';
import { testRuntime } from '../../../fixtures/runtime.ts';
import { signedEndpoint } from '../../../fixtures/signed-endpoint.ts';
import { linesOfPdf, pdfOf } from '../../../fixtures/pdf.ts';

const files = ['anchor', 'sail', 'rope'].map((name) => ({
  name: `${name}.md`,
  text: `# ${name}\n\nThe ${name} is checked in May.`,
}));

/** Clients of an endpoint with one source; `through` stands between. */
async function openEndpoint(through = (_attempt: number, response: Response): Response => response) {
  const storage = memoryStorage();
  const grounding = createGrounding({ sources: [textSource({ id: 'handbook', storage })] });
  const runtime = testRuntime({ model: scriptedModel().model, storage });
  const endpoint = await signedEndpoint(runtime, { storage, grounding: { grounding, storage } });
  let attempts = 0;
  return async (tenant = 't1'): Promise<Client> =>
    await endpoint.client({ tenant, scopes: ['grounding:read', 'registry:write'] }, {
      fetch: async (request) => through(++attempts, await endpoint.serve(request)),
      wait: (ms, signal) =>
        ms < 45_000 ? Promise.resolve() : new Promise((_, reject) => signal.addEventListener('abort', reject)),
    });
}

async function ingested(client: Client): Promise<{ readonly told: IngestProgress[]; readonly report: IngestReport }> {
  const told: IngestProgress[] = [];
  const progress = client.grounding.ingest('handbook', files);
  for (;;) {
    const { done, value } = await progress.next();
    if (done) return { told, report: value };
    told.push(value);
  }
}

/** Ends the body behind the n-th event. */
function cutAfter(events: number, response: Response): Response {
  let seen = 0;
  const cut = new TransformStream<string, string>({
    transform(text, controller) {
      for (const event of text.split(/(?<=\n\n)/)) {
        if (++seen > events) return controller.terminate();
        controller.enqueue(event);
      }
    },
  });
  const body = response.body!.pipeThrough(new TextDecoderStream()).pipeThrough(cut).pipeThrough(
    new TextEncoderStream(),
  );
  return new Response(body, response);
}

describe('client.grounding', () => {
  it('continues an ingestion whose connection was cut, and writes nothing twice', async () => {
    const client = await (await openEndpoint((attempt, response) => attempt < 3 ? cutAfter(4, response) : response))();
    const { told, report } = await ingested(client);
    expect(told.some(({ state }) => state === 'unchanged')).toBe(true);
    expect(report.files.map(({ file }) => file)).toEqual(files.map(({ name }) => name));
    const { hits } = await client.grounding.retrieve('handbook', { query: 'checked in May' });
    expect(hits).toHaveLength(3);
  });

  it('sends the bytes of files that the endpoint reads, and says of each what is wrong with it', async () => {
    const client = await (await openEndpoint())();
    const sent = [
      { name: 'tides.pdf', bytes: pdfOf(linesOfPdf('Spring tides on Friday')) },
      { name: 'logbook.csv', bytes: Uint8Array.from('schiff;tief\nM\u00f6we;3,20', (sign) => sign.charCodeAt(0)) },
      { name: 'locked.pdf', bytes: pdfOf('', { trailer: '/Encrypt 5 0 R' }) },
    ];
    const progress = client.grounding.ingest('handbook', sent);
    let next = await progress.next();
    while (!next.done) next = await progress.next();
    expect(next.value.files.map(({ state, error }) => [state, error?.details?.['reason']])).toEqual([
      ['done', undefined],
      ['done', undefined],
      ['failed', 'unsupported_type'],
    ]);
    const { hits } = await client.grounding.retrieve('handbook', { query: 'spring tides', topK: 1 });
    expect(hits).toMatchObject([{ title: 'Page 1', content: expect.stringContaining('Friday') }]);
    const filters = [{ field: 'schiff', op: 'eq' as const, value: 'Möwe' }];
    expect((await client.grounding.retrieve('handbook', { filters })).hits).toHaveLength(1);
  });

  it('gives up when no more data arrives', async () => {
    const client = await (await openEndpoint((_, response) => cutAfter(0, response)))();
    await expect(ingested(client)).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('sees what belongs to its own tenant', async () => {
    const open = await openEndpoint();
    await ingested(await open('t1'));
    expect(await (await open('t2')).grounding.retrieve('handbook', { query: 'anchor' })).toMatchObject({ hits: [] });
  });
});
