/** The models that a provider record can name. */

import type { LanguageModel } from '../../src/ai-types.ts';
import { PinnaceError } from '../../src/errors.ts';
import type { ModelSource } from '../../src/ports.ts';
import type { Provider } from '../../src/schema.ts';
import type { Secret } from '../../src/secret.ts';
import { openAiCompatible } from './openai-compatible.ts';
import { rehearsal, type RehearsalOptions } from './rehearsal.ts';

/** Makes the model of a provider of kind `custom`. */
export type CustomModel = (provider: Provider, secret: Secret | undefined) => LanguageModel;

/** What the kinds of providers need besides their records. */
export interface ModelSourceOptions {
  /** By provider id. */
  readonly custom?: Readonly<Record<string, CustomModel>>;
  readonly rehearsal?: RehearsalOptions;
  /** Carries the requests of `openai-compatible` models. */
  readonly fetch?: typeof fetch;
}

/** Gives a model source that chooses by the provider's `kind`. */
export function modelSource(options: ModelSourceOptions = {}): ModelSource {
  return {
    model(provider, secret) {
      switch (provider.kind) {
        case 'openai-compatible':
          return compatibleModel(provider, secret, options);
        case 'rehearsal':
          return rehearsal(options.rehearsal);
        case 'custom':
          return customModel(provider, secret, options);
        default:
          return unknownKind(provider.kind);
      }
    },
  };
}

function compatibleModel(
  { id, baseUrl, model }: Provider,
  secret: Secret | undefined,
  { fetch }: ModelSourceOptions,
): LanguageModel {
  if (baseUrl === undefined) throw refused(id, 'it has no "baseUrl", such as "https://api.example.com/v1"');
  if (model === undefined) throw refused(id, 'neither it nor the agent names a "model"');
  return openAiCompatible({
    baseUrl,
    model,
    ...(secret && { apiKey: () => secret.reveal() }),
    ...(fetch && { fetch }),
  });
}

function customModel(
  provider: Provider,
  secret: Secret | undefined,
  { custom = {} }: ModelSourceOptions,
): LanguageModel {
  const make = Object.hasOwn(custom, provider.id) ? custom[provider.id] : undefined;
  if (make) return make(provider, secret);
  const known = Object.keys(custom).map((id) => JSON.stringify(id)).join(', ');
  throw refused(provider.id, `no custom model is given under its id; given are ${known === '' ? 'none' : known}`);
}

function unknownKind(kind: never): never {
  throw new PinnaceError('invalid_argument', `Cannot serve a provider of kind ${JSON.stringify(kind)}`, {
    details: { reason: 'invalid_provider' },
  });
}

function refused(providerId: string, why: string): PinnaceError {
  return new PinnaceError('invalid_argument', `Cannot serve provider ${JSON.stringify(providerId)}: ${why}`, {
    details: { reason: 'invalid_provider' },
  });
}
