import type { LanguageModelV4 } from '@ai-sdk/provider';
import { describe, expect, it } from 'vitest';
import { adaptModel } from '../../../../src/runtime/provider-model.ts';

describe('adaptModel', () => {
  it('returns a model of v4 as it is', () => {
    const model = { specificationVersion: 'v4' } as LanguageModelV4;
    expect(adaptModel(model)).toBe(model);
  });

  it.each(['gpt-5', undefined, { specificationVersion: 'v1' }])('refuses %j', (model) => {
    expect(() => adaptModel(model as never)).toThrow(
      expect.objectContaining({ code: 'invalid_argument', details: { reason: 'model_version' } }),
    );
  });
});
