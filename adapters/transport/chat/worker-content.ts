/** The prompts, resources and apps of a worker's MCP servers, as its page calls them. */

import { PinnaceError } from '../../../src/base/errors.ts';
import type { Principal } from '../../../src/base/principal.ts';
import type { RuntimeApps, RuntimePrompts, RuntimeResources } from '../../../src/contracts/mcp/content.ts';
import type { RemoteApps, RemotePrompts, RemoteResources } from '../client/mcp-content.ts';

/** A call on its way to the worker: what is called, the agent, and the request. */
export type ContentCall = readonly [
  method: 'prompts' | 'prompt' | 'complete' | 'resources' | 'resource' | 'app' | 'appCall',
  agentId: string,
  request?: unknown,
];

/** What a worker serves of it. */
export interface ServedContent {
  readonly prompts?: RuntimePrompts;
  readonly resources?: RuntimeResources;
  readonly apps?: RuntimeApps;
}

/** Calls a method. The principal is that of the port, whatever the page passes. */
export async function callContent(
  { prompts, resources, apps }: ServedContent,
  principal: Principal,
  [method, agentId, request]: ContentCall,
): Promise<unknown> {
  if (!prompts || !resources || !apps) {
    throw new PinnaceError('unavailable', 'Cannot read from MCP servers: the runtime has none', { retryable: false });
  }
  if (method === 'prompts') return await prompts.list(agentId, principal);
  if (method === 'prompt') return await prompts.get(agentId, request, principal);
  if (method === 'complete') return await prompts.complete(agentId, request, principal);
  if (method === 'resources') return await resources.list(agentId, principal, request ?? {});
  if (method === 'app') return await apps.read(agentId, request, principal);
  if (method === 'appCall') return await apps.call(agentId, request, principal);
  return await resources.read(agentId, request, principal);
}

/** Returns the prompts, resources and apps of a worker. Signals stay on this side. */
export function workerContent(send: (call: ContentCall) => Promise<unknown>): {
  readonly prompts: RemotePrompts;
  readonly resources: RemoteResources;
  readonly apps: RemoteApps;
} {
  const call = async (...given: ContentCall): Promise<never> => await send(given) as never; // what the method of this name returns
  return {
    prompts: {
      list: (agentId) => call('prompts', agentId),
      get: (agentId, request) => call('prompt', agentId, request),
      complete: (agentId, request) => call('complete', agentId, request),
    },
    resources: {
      list: (agentId, { signal: _, ...query } = {}) => call('resources', agentId, query),
      read: (agentId, request) => call('resource', agentId, request),
    },
    apps: {
      read: (agentId, request) => call('app', agentId, request),
      call: (agentId, request) => call('appCall', agentId, request),
    },
  };
}
