import type { LanguageModelV2, LanguageModelV3, LanguageModelV4 } from '@ai-sdk/provider';
import { describe, expectTypeOf, it } from 'vitest';
import type { CustomModel } from '../../../../adapters/models/source.ts';
import type { CreateRuntimeOptions, ModelSource } from '../../../../src/index.ts';
import type { AnyLanguageModel } from '../../../../src/contracts/index.ts';

describe('a model source', () => {
  it('is typed to return these models, and no name of a model', () => {
    expectTypeOf<CreateRuntimeOptions['models']>().toEqualTypeOf<ModelSource>();
    expectTypeOf<() => LanguageModelV2>().toExtend<ModelSource['model']>();
    expectTypeOf<() => LanguageModelV3>().toExtend<ModelSource['model']>();
    expectTypeOf<() => LanguageModelV4>().toExtend<ModelSource['model']>();
    expectTypeOf<() => string>().not.toExtend<ModelSource['model']>();
    expectTypeOf<ReturnType<ModelSource['model']>>().toEqualTypeOf<AnyLanguageModel>();
    expectTypeOf<() => AnyLanguageModel>().toExtend<CustomModel>();
  });
});
