import type { LanguageModelV2, LanguageModelV3, LanguageModelV4 } from '@ai-sdk/provider';
import { describe, expect, it } from 'vitest';
import { adaptModel } from '../../../../src/runtime/provider-model.ts';

const usage = { inputTokens: 3, outputTokens: 2, totalTokens: 5 };

function older(specificationVersion: 'v2' | 'v3', parts: readonly unknown[]) {
  const prompts: unknown[] = [];
  const model = {
    specificationVersion,
    provider: 'p',
    modelId: 'm',
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error('not called')),
    doStream({ prompt }: { prompt: unknown }) {
      prompts.push(prompt);
      return Promise.resolve({
        stream: new ReadableStream({
          start(controller) {
            for (const part of parts) controller.enqueue(part);
            controller.close();
          },
        }),
      });
    },
  };
  return { model: model as unknown as LanguageModelV2 | LanguageModelV3, prompts };
}

async function partsOf(model: LanguageModelV4, prompt: Parameters<LanguageModelV4['doStream']>[0]['prompt'] = []) {
  const { stream } = await model.doStream({ prompt });
  return await Array.fromAsync(stream as unknown as AsyncIterable<unknown>);
}

describe('adaptModel', () => {
  it('returns a model of v4 as it is', () => {
    const model = { specificationVersion: 'v4' } as LanguageModelV4;
    expect(adaptModel(model)).toBe(model);
  });

  it('reads finish reasons and usage of v2', async () => {
    const { model } = older('v2', [{ type: 'finish', finishReason: 'unknown', usage }]);
    expect(await partsOf(adaptModel(model))).toMatchObject([{
      finishReason: { unified: 'other', raw: 'unknown' },
      usage: { inputTokens: { total: 3 }, outputTokens: { total: 2 } },
    }]);
  });

  it.each(['gpt-5', undefined, { specificationVersion: 'v1' }])('refuses %j', (model) => {
    expect(() => adaptModel(model as never)).toThrow(
      expect.objectContaining({ code: 'invalid_argument', details: { reason: 'model_version' } }),
    );
  });
});
