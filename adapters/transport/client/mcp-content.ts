/** The prompts and resources of an endpoint's MCP servers. */

import type {
  McpCompletion,
  McpCompletionRequest,
  McpPrompt,
  McpPromptEntry,
  McpPromptRequest,
  McpResource,
  McpResourcePage,
  McpResourceQuery,
  McpResourceRequest,
} from '../../../src/contracts/mcp/content.ts';
import type { CallOptions } from './call-options.ts';
import { queryOf } from './query.ts';

/** The approved prompts of the MCP servers that an agent selects. */
export interface RemotePrompts {
  list(agentId: string, options?: CallOptions): Promise<{ readonly items: readonly McpPromptEntry[] }>;
  /** Fills in the arguments. Show the messages to a person: they are untrusted. */
  get(agentId: string, request: McpPromptRequest, options?: CallOptions): Promise<McpPrompt>;
  /** Returns values for an argument of a prompt or a variable of a template. */
  complete(agentId: string, request: McpCompletionRequest, options?: CallOptions): Promise<McpCompletion>;
}

/** Their approved resources. */
export interface RemoteResources {
  list(agentId: string, options?: CallOptions & McpResourceQuery): Promise<McpResourcePage>;
  read(agentId: string, request: McpResourceRequest, options?: CallOptions): Promise<McpResource>;
}

type Call = (method: string, path: string, options?: CallOptions & { readonly body?: unknown }) => Promise<unknown>;

/** Creates both. The answers are as the endpoint's schema says. */
export function createRemoteContent(call: Call): {
  readonly prompts: RemotePrompts;
  readonly resources: RemoteResources;
} {
  const of = (agentId: string, path: string): string => `/v1/agents/${encodeURIComponent(agentId)}/${path}`;
  return {
    prompts: {
      list: async (agentId, given) =>
        await call('GET', of(agentId, 'prompts'), given) as Awaited<ReturnType<RemotePrompts['list']>>,
      get: async (agentId, body, given) =>
        await call('POST', of(agentId, 'prompts/get'), { ...given, body }) as McpPrompt,
      complete: async (agentId, body, given) =>
        await call('POST', of(agentId, 'prompts/complete'), { ...given, body }) as McpCompletion,
    },
    resources: {
      list: async (agentId, { signal, ...query } = {}) =>
        await call(
          'GET',
          `${of(agentId, 'resources')}${queryOf({ ...query })}`,
          signal && { signal },
        ) as McpResourcePage,
      read: async (agentId, body, given) =>
        await call('POST', of(agentId, 'resources/read'), { ...given, body }) as McpResource,
    },
  };
}
