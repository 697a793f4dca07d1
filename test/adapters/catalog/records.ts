/** Records of catalogs for tests. */

import type { AgentInput, McpServerInput, ProviderInput } from '../../../src/schema.ts';

/** An agent as its author writes it. */
export function agent(overrides: Partial<AgentInput> = {}): AgentInput {
  return { id: 'helper', name: 'Helper', providerId: 'main', ...overrides };
}

/** A provider as its author writes it. */
export function provider(overrides: Partial<ProviderInput> = {}): ProviderInput {
  return { id: 'main', kind: 'rehearsal', ...overrides };
}

/** A tool as its author writes it. */
export function tool(overrides: Readonly<Record<string, unknown>> = {}): Readonly<Record<string, unknown>> {
  return {
    id: 'add',
    name: 'add',
    type: 'function',
    description: 'Adds',
    paramsSchema: { type: 'object' },
    ...overrides,
  };
}

/** So many tools, in the order of their ids. */
export function tools(count: number): Readonly<Record<string, unknown>>[] {
  return Array.from({ length: count }, (_, at) => tool({ id: `tool_${String(at).padStart(4, '0')}` }));
}

/** An MCP server that nobody has looked at. */
export function mcpServer(overrides: Partial<McpServerInput> = {}): McpServerInput {
  return { id: 'files', alias: 'files', url: 'https://mcp.example/mcp', ...overrides };
}
