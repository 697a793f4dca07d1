/** From an agent's choice of a model to the model: its provider's record, the provider's secret, and the model source. */

import type { LanguageModel } from '../../contracts/ai-types.ts';
import { PinnaceError } from '../../base/errors.ts';
import type { Agent, Fallback, Provider } from '../../base/schema.ts';
import type { Secret } from '../../base/secret.ts';
import type { ModelSource } from '../../contracts/model-source.ts';
import type { SpanContext } from '../../events/span.ts';
import { defaultContextTokens } from '../context/context-options.ts';
import { adaptModel } from '../model/adapt-model.ts';
import { withProviderRules } from '../model/provider-model.ts';
import type { CatalogCaches } from './catalog-caches.ts';
import type { SecretLookup } from './secret-lookup.ts';

/** A model, ready to be called. */
export interface ResolvedModel {
  readonly model: LanguageModel;
  /** The provider's record, with the name of this model. */
  readonly provider: Provider;
  /** The provider's secret, which the model sends. */
  readonly secret: Secret | undefined;
  /** How many tokens it takes. */
  readonly contextTokens: number;
}

/** A model that may take over. */
export interface FallbackModel extends Fallback {
  /** @throws PinnaceError as `Resolver.resolve` does for the first model. */
  readonly resolve: (spanContext?: SpanContext) => Promise<ResolvedModel>;
}

/** What a model is resolved for. */
export interface ModelOwner {
  readonly agent: Agent;
  /** The caller's: its secrets are used. */
  readonly tenant: string;
}

/** Resolves a choice of a model where the agent is from. */
export type ResolveModel = (choice: Fallback, owner: ModelOwner, spanContext?: SpanContext) => Promise<ResolvedModel>;

/** Creates the function that resolves models. */
export function createModelResolver(
  { caches, secrets, models }: {
    readonly caches: Pick<CatalogCaches, 'providers'>;
    readonly secrets: Pick<SecretLookup, 'ofProvider'>;
    readonly models: ModelSource;
  },
): ResolveModel {
  return async (choice, { agent, tenant }, spanContext) => {
    const found = requireProvider(agent, choice, await caches.providers.get(choice.providerId, agent.tenant));
    const provider = choice.model === undefined ? found : { ...found, model: choice.model };
    const secret = await secrets.ofProvider(provider, { agent, tenant, spanContext });
    const model = withProviderRules(adaptModel(models.model(provider, secret)), provider);
    return { model, provider, secret, contextTokens: leastContext(agent, provider) };
  };
}

/** What an agent says is meant for its first model; that of another provider may take less. */
function leastContext(agent: Agent, provider: Provider): number {
  const given = [agent.contextTokens, provider.contextTokens].filter((tokens) => tokens !== undefined);
  return given.length === 0 ? defaultContextTokens : Math.min(...given);
}

function requireProvider({ id }: Agent, { providerId }: Fallback, provider: Provider | undefined): Provider {
  if (!provider) {
    throw new PinnaceError(
      'not_found',
      `Cannot run agent "${id}": its provider "${providerId}" is not in the catalog`,
      { details: { reason: 'provider_not_found' } },
    );
  }
  if (provider.state === 'disabled') {
    throw new PinnaceError('forbidden', `Cannot run agent "${id}": its provider "${provider.id}" is disabled`, {
      details: { reason: 'provider_disabled' },
    });
  }
  return provider;
}
