/** The prompts, resources and apps of an endpoint's MCP servers. */

import type {
  McpApp,
  McpAppCallRequest,
  McpAppCallResult,
  McpAppRequest,
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

/** Their approved apps (MCP Apps). */
export interface RemoteApps {
  /** Returns the app if it is still the one that was approved. Show it in a sandboxed frame only. */
  read(agentId: string, request: McpAppRequest, options?: CallOptions): Promise<McpApp>;
  /** Makes a call of the app. A result with `question` needs a person: repeat the request with `approved`. */
  call(agentId: string, request: McpAppCallRequest, options?: CallOptions): Promise<McpAppCallResult>;
}

type Call = (method: string, path: string, options?: CallOptions & { readonly body?: unknown }) => Promise<unknown>;

/** Creates them. The answers are as the endpoint's schema says. */
export function createRemoteContent(call: Call): {
  readonly prompts: RemotePrompts;
  readonly resources: RemoteResources;
  readonly apps: RemoteApps;
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
    apps: {
      read: async (agentId, body, given) => await call('POST', of(agentId, 'apps/read'), { ...given, body }) as McpApp,
      call: async (agentId, body, given) =>
        await call('POST', of(agentId, 'apps/call'), { ...given, body }) as McpAppCallResult,
    },
  };
}
