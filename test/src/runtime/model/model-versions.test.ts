import type {
  LanguageModelV2,
  LanguageModelV2StreamPart,
  LanguageModelV3,
  LanguageModelV3StreamPart,
  LanguageModelV4,
} from '@ai-sdk/provider';
import { describe, expect, expectTypeOf, it } from 'vitest';
import type { CustomModel } from '../../../../adapters/models/source.ts';
import type { CreateRuntimeOptions, ModelSource } from '../../../../src/index.ts';
import type { AnyLanguageModel } from '../../../../src/contracts/index.ts';
import { localPrincipal } from '../../../../src/index.ts';
import { says, scriptedModel, streamOf } from '../../../fixtures/model.ts';
import { lastData, readAll, runRequest, testRuntime, textOf } from '../../../fixtures/runtime.ts';

const facts = {
  provider: 'test',
  modelId: 'm',
  supportedUrls: {},
  doGenerate: () => Promise.reject(new Error('not used')),
};

const v2Script: LanguageModelV2StreamPart[] = [
  { type: 'stream-start', warnings: [] },
  { type: 'text-start', id: 't' },
  { type: 'text-delta', id: 't', delta: 'Hello' },
  { type: 'text-end', id: 't' },
  { type: 'finish', finishReason: 'stop', usage: { inputTokens: 10, outputTokens: 5, totalTokens: 15 } },
];

const v3Script: LanguageModelV3StreamPart[] = [
  { type: 'stream-start', warnings: [] },
  { type: 'text-start', id: 't' },
  { type: 'text-delta', id: 't', delta: 'Hello' },
  { type: 'text-end', id: 't' },
  {
    type: 'finish',
    finishReason: { unified: 'stop', raw: 'stop' },
    usage: {
      inputTokens: { total: 10, noCache: 10, cacheRead: undefined, cacheWrite: undefined },
      outputTokens: { total: 5, text: 5, reasoning: undefined },
    },
  },
];

const v2: LanguageModelV2 = {
  ...facts,
  specificationVersion: 'v2',
  doStream: () => Promise.resolve({ stream: streamOf(v2Script) }),
};

const v3: LanguageModelV3 = {
  ...facts,
  specificationVersion: 'v3',
  doStream: () => Promise.resolve({ stream: streamOf(v3Script) }),
};

const v4: LanguageModelV4 = scriptedModel(says('Hello')).model;

describe('a model source', () => {
  it.each<[string, AnyLanguageModel]>([['v2', v2], ['v3', v3], ['v4', v4]])(
    'may return a model of specification %s',
    async (_version, model) => {
      const chunks = await readAll(await testRuntime({ model }).run(runRequest(), localPrincipal()));
      expect(textOf(chunks)).toBe('Hello');
      expect(lastData(chunks, 'data-run')).toMatchObject({ state: 'completed' });
      expect(lastData(chunks, 'data-usage')).toMatchObject({ inputTokens: 10, outputTokens: 5 });
    },
  );

  it('is typed to return these models, and no name of a model', () => {
    expectTypeOf<CreateRuntimeOptions['models']>().toEqualTypeOf<ModelSource>();
    expectTypeOf<() => LanguageModelV2>().toExtend<ModelSource['model']>();
    expectTypeOf<() => LanguageModelV3>().toExtend<ModelSource['model']>();
    expectTypeOf<() => LanguageModelV4>().toExtend<ModelSource['model']>();
    expectTypeOf<() => string>().not.toExtend<ModelSource['model']>();
    expectTypeOf<ReturnType<ModelSource['model']>>().toEqualTypeOf<AnyLanguageModel>();
    expectTypeOf<() => AnyLanguageModel>().toExtend<CustomModel>();
  });

  it.each(['gpt-5', { specificationVersion: 'v1' }])('is refused before the run when it returns %j', async (model) => {
    const runtime = testRuntime({ model: model as never });
    await expect(runtime.run(runRequest(), localPrincipal())).rejects.toMatchObject({
      code: 'invalid_argument',
      details: { reason: 'model_version' },
    });
  });
});
