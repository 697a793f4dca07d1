import { describe, expect, it } from 'vitest';
import { localPrincipal, type UIMessage, type UIMessageChunk } from '../../../../src/index.ts';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import { staticCatalog } from '../../../../adapters/catalog/static.ts';
import { says, scriptedModel } from '../../../fixtures/model.ts';
import { lastData, readAll, runRequest, testRuntime, userMessage } from '../../../fixtures/runtime.ts';
import { dataUrl, fileMessage, fileRuntime, filesIn, png } from '../attachments/fixtures.ts';

const me = localPrincipal();
const withImage = fileMessage([dataUrl(png())]);

function errorOf(chunks: readonly UIMessageChunk[]) {
  return lastData(chunks, 'data-run')['error'];
}

async function send(messages: readonly UIMessage[], inputs: readonly ('image' | 'pdf' | 'audio')[]) {
  const { runtime, calls } = fileRuntime({ provider: { inputs: [...inputs] } });
  const chunks = await readAll(await runtime.run(runRequest({ chat: { id: 'c', messages } }), me));
  return { chunks, calls };
}

describe('a model that does not take a file', () => {
  it('is not called for the message with it', async () => {
    const { chunks, calls } = await send([withImage], ['pdf']);
    expect(calls).toHaveLength(0);
    expect(errorOf(chunks)).toMatchObject({
      code: 'invalid_argument',
      message: expect.stringContaining('takes only texts and pdf'),
      details: { reason: 'attachment_unsupported', mediaTypes: ['image/png'] },
    });
  });

  it('reads in an older message that there was one', async () => {
    const { calls } = await send([
      withImage,
      { id: 'a', role: 'assistant', parts: [{ type: 'text', text: 'A cat' }] },
      userMessage('And?', 'm2'),
    ], []);
    expect(filesIn(calls[0]?.prompt)).toEqual([expect.stringContaining('does not take such files')]);
  });

  it('gets texts as text all the same', async () => {
    const text = fileMessage([dataUrl('a,b', 'text/csv')], { mediaType: 'text/csv' });
    expect((await send([text], [])).calls).toHaveLength(1);
  });
});

describe('a provider that refuses a request with files', () => {
  it.each<[string, object, object]>([
    ['by its status', { name: 'AI_APICallError', statusCode: 400 }, { reason: 'attachment_refused', status: 400 }],
    ['in its code', { name: 'AI_UnsupportedFunctionalityError' }, { reason: 'attachment_unsupported' }],
  ])('fails the run with the types of the files: %s', async (_name, thrown, details) => {
    const model = {
      ...scriptedModel(says('x')).model,
      doStream: () => Promise.reject(Object.assign(new Error('no'), thrown)),
    };
    const catalog = staticCatalog({
      agents: [{ id: 'helper', name: 'Helper', providerId: 'default' }],
      providers: [{ id: 'default', kind: 'custom' }],
    });
    const runtime = testRuntime({ model, catalog, storage: memoryStorage() });
    const errorFor = async (messages: UIMessage[]) =>
      errorOf(await readAll(await runtime.run(runRequest({ chat: { id: 'c', messages } }), me)));
    expect(await errorFor([withImage])).toMatchObject({
      code: 'invalid_argument',
      details: { ...details, mediaTypes: ['image/png'] },
    });
    expect(await errorFor([userMessage('Hi')])).not.toMatchObject({ details });
  });
});
