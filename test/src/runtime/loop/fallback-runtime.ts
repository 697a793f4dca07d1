/** A runtime whose agent has a model and fallbacks, each at a provider of its own. */

import type { LanguageModelV4CallOptions, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { staticCatalog } from '../../../../adapters/catalog/static.ts';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import {
  type AgentInput,
  createRuntime,
  type CreateRuntimeOptions,
  type LanguageModel,
  type PlanningRuntime,
  type ProviderInput,
} from '../../../../src/index.ts';
import { streamOf } from '../../../fixtures/model.ts';

type Part = LanguageModelV4StreamPart;
/** What a call does: answers with parts, or fails with what is thrown. */
export type Script = readonly Part[] | ((options: LanguageModelV4CallOptions) => ReadableStream<Part> | Promise<never>);

/** A model by the id of its provider, with its calls. */
export interface NamedModel {
  readonly model: LanguageModel;
  readonly calls: LanguageModelV4CallOptions[];
}

/** A model whose n-th call follows the n-th script, and the last one from then on. */
export function namedModel(modelId: string, ...scripts: readonly Script[]): NamedModel {
  const calls: LanguageModelV4CallOptions[] = [];
  const model: LanguageModel = {
    specificationVersion: 'v4',
    provider: 'test',
    modelId,
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error('not used')),
    async doStream(options) {
      const script = scripts[Math.min(calls.push(options), scripts.length) - 1] ?? [];
      return { stream: typeof script === 'function' ? await script(options) : streamOf(script) };
    },
  };
  return { model, calls };
}

/** An error as the providers of the AI SDK throw it. Retries of it wait for no time. */
export function apiError(statusCode: number): Error {
  const isRetryable = statusCode === 408 || statusCode === 429 || statusCode >= 500;
  const facts = { name: 'AI_APICallError', statusCode, isRetryable, responseHeaders: { 'retry-after-ms': '0' } };
  return Object.assign(new Error('secret text of the provider'), facts);
}

/** Gives a runtime whose agent `helper` has the first model, and the others as its fallbacks in their order. */
export function fallbackRuntime(
  models: Readonly<Record<string, NamedModel>>,
  { agent, providers = {}, ...options }: Partial<CreateRuntimeOptions> & {
    readonly agent?: Partial<AgentInput>;
    readonly providers?: Readonly<Record<string, Partial<ProviderInput>>>;
  } = {},
): PlanningRuntime {
  const [providerId = '', ...others] = Object.keys(models);
  const fallbacks = others.map((id) => ({ providerId: id }));
  const catalog = staticCatalog({
    agents: [{ id: 'helper', name: 'Helper', providerId, entryTools: ['*'], fallbacks, ...agent }],
    providers: Object.keys(models).map((id) => ({ id, kind: 'custom' as const, ...providers[id] })),
  });
  const source = { model: ({ id }: { readonly id: string }) => models[id]!.model }; // of the catalog above
  return createRuntime({ catalog, models: source, storage: memoryStorage(), ...options });
}
