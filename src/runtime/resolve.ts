/** From the agent's id to everything that its run needs: agent, provider, secret, model. */

import type { LanguageModel } from '../ai-types.ts';
import { PinnaceError } from '../errors.ts';
import type { Catalog, ModelSource, SecretSource } from '../ports.ts';
import type { Agent, Provider } from '../schema.ts';
import type { Secret } from '../secret.ts';
import type { Principal } from './principal.ts';

/** Where things are looked up. */
export interface ResolveOptions {
  readonly catalog: Catalog;
  readonly models: ModelSource;
  readonly secrets: SecretSource | undefined;
  readonly principal: Principal;
  readonly signal: AbortSignal;
}

/** An agent that may run, with its model. */
export interface Resolved {
  readonly agent: Agent;
  readonly model: LanguageModel;
}

/**
 * Resolves an agent.
 *
 * @throws PinnaceError `not_found` for an unknown agent or provider, `forbidden` for a disabled agent, whatever the secret source
 * and the model source throw.
 */
export async function resolve(agentId: string, options: ResolveOptions): Promise<Resolved> {
  const agent = await resolveAgent(agentId, options);
  const provider = await resolveProvider(agent, options);
  const secret = await resolveSecret(agent, provider, options);
  return { agent, model: options.models.model(provider, secret) };
}

/** Resolves the agent alone, as its manifest needs it. */
export async function resolveAgent(
  agentId: string,
  { catalog, signal }: Pick<ResolveOptions, 'catalog' | 'signal'>,
): Promise<Agent> {
  const agent = await catalog.agent(agentId, signal);
  if (!agent) {
    throw new PinnaceError('not_found', 'Cannot run the agent: no agent has this id', {
      details: { reason: 'agent_not_found' },
    });
  }
  if (agent.state === 'disabled' || agent.visibility === 'disabled') {
    throw new PinnaceError('forbidden', `Cannot run agent "${agent.id}": it is disabled`, {
      details: { reason: 'agent_disabled' },
    });
  }
  return agent;
}

async function resolveProvider(agent: Agent, { catalog, signal }: ResolveOptions): Promise<Provider> {
  const provider = await catalog.provider(agent.providerId, signal);
  if (!provider) {
    throw new PinnaceError(
      'not_found',
      `Cannot run agent "${agent.id}": its provider "${agent.providerId}" is not in the catalog`,
      { details: { reason: 'provider_not_found' } },
    );
  }
  return agent.model === undefined ? provider : { ...provider, model: agent.model };
}

async function resolveSecret(
  agent: Agent,
  { id, secret: ref }: Provider,
  { secrets, principal, signal }: ResolveOptions,
): Promise<Secret | undefined> {
  if (!ref) return undefined;
  if (!secrets) {
    throw new PinnaceError(
      'unavailable',
      `Cannot run agent "${agent.id}": provider "${id}" needs a secret and the runtime has no secret source`,
      { retryable: false, details: { reason: 'no_secret_source' } },
    );
  }
  return await secrets.resolve(ref, { scope: { tenant: principal.tenant, agentId: agent.id }, signal });
}
