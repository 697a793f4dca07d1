/** The models that a provider record can name. */

import { loadOnce } from '../../src/base/load-once.ts';
import type { AnyLanguageModel, LanguageModel } from '../../src/contracts/ai-types.ts';
import { checkOptions, wrongArgument } from '../../src/base/check-options.ts';
import { PinnaceError } from '../../src/base/errors.ts';
import { BoundedMap } from '../../src/base/bounded-map.ts';
import { checkUrl } from '../../src/base/check-url.ts';
import type { Egress } from '../../src/contracts/egress.ts';
import type { ModelSource } from '../../src/contracts/model-source.ts';
import { checkPrivateOrigins, isPrivateOriginAllowed, type PrivateOrigins } from '../../src/base/origins.ts';
import type { Provider } from '../../src/base/schema.ts';
import type { Secret } from '../../src/base/secret.ts';
import { guardedModelFetch } from './guarded-model-fetch.ts';
import { createCompatibleModel } from './openai-compatible.ts';
import type { RehearsalOptions } from './rehearsal.ts';

export type { ModelSource } from '../../src/contracts/model-source.ts';

/** Creates the model of a provider of kind `custom`: any language model of the AI SDK, specification v2, v3 or v4. */
export type CustomModel = (provider: Provider, secret: Secret | undefined) => AnyLanguageModel;

/** What the kinds of providers need besides their records. */
export interface ModelSourceOptions {
  /** By provider id. */
  readonly custom?: Readonly<Record<string, CustomModel>>;
  /** The options of the scripted model, for providers of kind `rehearsal`. */
  readonly rehearsal?: RehearsalOptions;
  /** Carries the requests of `openai-compatible` models; without it, providers of that kind are `unavailable`. */
  readonly egress?: Egress;
  /**
   * Model servers on private networks that providers may name: `['http://127.0.0.1:11434']` for Ollama, `['loopback']` for every
   * port of this machine. A record alone reaches none of them.
   */
  readonly privateOrigins?: PrivateOrigins;
}

/**
 * Creates a model source that chooses by the provider's `kind`. Requests of `openai-compatible` models go through the egress, to the
 * origin of the provider's `baseUrl` and nowhere else: no redirect is followed, and no private address is reached that
 * `privateOrigins` does not list (`forbidden`, reason `provider_origin_refused`).
 *
 * @throws PinnaceError `invalid_argument` with the reason `invalid_private_origin`.
 * @example
 * const models = modelSource({ egress: denoEgress(), privateOrigins: ['http://127.0.0.1:11434'] });
 */
export function modelSource(options: ModelSourceOptions = {}): ModelSource {
  checkSource(options);
  checkPrivateOrigins(options.privateOrigins ?? []);
  const refusedBy = createRefusals();
  const compatible = new BoundedMap<string, { readonly model: LanguageModel; readonly secret: Secret | undefined }>(
    256,
  );
  return {
    model(provider, secret) {
      switch (provider.kind) {
        case 'openai-compatible': {
          // One for many runs: each has schemas of its own, which take longer to make than an answer to read.
          const { id, baseUrl, model, jsonSchema, unsupportedParameters } = provider;
          const name = JSON.stringify([id, baseUrl, model, jsonSchema, unsupportedParameters]);
          const known = compatible.use(name);
          if (known && known.secret === secret) return known.model;
          const made = compatibleModel(provider, secret, { ...options, refusedBy });
          compatible.set(name, { model: made, secret });
          return made;
        }
        case 'rehearsal':
          return rehearsalOnUse(options.rehearsal);
        case 'custom':
          return customModel(provider, secret, options);
        default:
          return unknownKind(provider.kind);
      }
    },
  };
}

const action = 'create the model source';
const optionNames = ['custom', 'rehearsal', 'egress', 'privateOrigins'];

function checkSource(options: ModelSourceOptions): void {
  const example = 'modelSource({ custom: { main: () => model } })';
  if ('doStream' in options) {
    throw wrongArgument(action, 'options', `a model needs the id of its provider; pass ${example}`);
  }
  checkOptions(action, options, {
    custom: ['object?', `functions by provider id, as ${example}`],
    egress: ['.fetch?', 'an egress, such as denoEgress()'],
    privateOrigins: ['array?', 'an array of origins, such as ["http://127.0.0.1:11434"]'],
  });
  const { custom = {} } = options;
  const other = Object.keys(options).find((name) => !optionNames.includes(name));
  if (other !== undefined) {
    throw wrongArgument(action, other, `"${other}" is not known here; there are ${optionNames.join(', ')}`);
  }
  const wrong = Object.keys(custom).find((id) => typeof custom[id] !== 'function');
  if (wrong !== undefined) {
    throw wrongArgument(action, `custom.${wrong}`, `"custom.${wrong}" must be a function, as ${example}`);
  }
}

function compatibleModel(
  { id, baseUrl, model, jsonSchema = false, unsupportedParameters = [] }: Provider,
  secret: Secret | undefined,
  { egress, privateOrigins = [], refusedBy }: ModelSourceOptions & {
    readonly refusedBy: ReturnType<typeof createRefusals>;
  },
): LanguageModel {
  if (baseUrl === undefined) throw refused(id, 'it has no "baseUrl", such as "https://api.example.com/v1"');
  if (model === undefined) throw refused(id, 'neither it nor the agent names a "model"');
  requireReachable(id, baseUrl, privateOrigins);
  if (!egress) throw noEgress(id);
  const fetch = guardedModelFetch({ egress, baseUrl, privateOrigins, secret });
  const options = { baseUrl, model, jsonSchema, unsupportedParameters, fetch };
  return createCompatibleModel(options, refusedBy(`${baseUrl} ${model}`));
}

/** The most models whose refusals are remembered; then the oldest is forgotten, and learned again. */
const mostRemembered = 256;

function createRefusals(): (model: string) => Set<string> {
  const known = new Map<string, Set<string>>();
  return (model) => {
    const omitted = known.get(model) ?? new Set();
    const oldest = known.size >= mostRemembered && !known.has(model) ? known.keys().next().value : undefined;
    if (oldest !== undefined) known.delete(oldest);
    known.set(model, omitted);
    return omitted;
  };
}

/** By its text alone: the egress checks the addresses behind a name when a request is sent. */
function requireReachable(id: string, baseUrl: string, privateOrigins: PrivateOrigins): void {
  const url = URL.parse(baseUrl);
  if (url === null || isPrivateOriginAllowed(url, privateOrigins)) return; // what is no URL, the model refuses
  const check = checkUrl(url.origin, { origins: [url.origin] });
  if (check.ok) return;
  const advice = 'use a public https origin, or let the composition list it in "privateOrigins"';
  throw new PinnaceError(
    'forbidden',
    `Cannot serve provider "${id}": its "baseUrl" leads to ${
      JSON.stringify(url.origin)
    }, which is not public; ${advice}`,
    { details: { reason: 'provider_origin_refused', provider: id, origin: url.origin, rule: check.reason } },
  );
}

function noEgress(id: string): PinnaceError {
  const advice = 'compose it as modelSource({ egress })';
  return new PinnaceError('unavailable', `Cannot serve provider "${id}": the model source has no egress; ${advice}`, {
    retryable: false,
    details: { reason: 'no_egress' },
  });
}

function customModel(
  provider: Provider,
  secret: Secret | undefined,
  { custom = {} }: ModelSourceOptions,
): AnyLanguageModel {
  const make = Object.hasOwn(custom, provider.id) ? custom[provider.id] : undefined;
  if (make) return make(provider, secret);
  const known = Object.keys(custom).map((id) => JSON.stringify(id)).join(', ');
  const example = `modelSource({ custom: { ${JSON.stringify(provider.id)}: () => model } })`;
  throw refused(provider.id, `"custom" has no model for it; pass ${example}${known === '' ? '' : `; it has ${known}`}`);
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

/** Its code loads with the first call: most endpoints never make one. */
const loadRehearsal = /* @__PURE__ */ loadOnce(() => import('./rehearsal.ts'));

function rehearsalOnUse(options?: RehearsalOptions): LanguageModel {
  const model = loadOnce(async () => (await loadRehearsal()).rehearsal(options));
  return {
    specificationVersion: 'v4',
    provider: 'rehearsal',
    modelId: 'rehearsal',
    supportedUrls: {},
    doStream: async (call) => await (await model()).doStream(call),
    doGenerate: async (call) => await (await model()).doGenerate(call),
  };
}
