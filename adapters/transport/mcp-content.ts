/** `pinnace/transport/mcp-content`: resources and prompts for the clients of an MCP server. */

export { groundingResources } from './mcp-server/content/grounding-resources.ts';
export {
  type ListedResource,
  listedResources,
  type TemplateResources,
  templateResources,
  type TemplateValues,
} from './mcp-server/content/listed-resources.ts';
export type { McpPrompt, McpPromptArgument, McpPromptMessage, McpPrompts } from './mcp-server/content/prompt.ts';
export type { McpPage, McpPageOptions, McpReader } from './mcp-server/content/reader.ts';
export type {
  McpCompletion,
  McpResource,
  McpResourceContent,
  McpResources,
  McpResourceTemplate,
} from './mcp-server/content/resource.ts';
export { treeResources, type TreeResourcesOptions } from './mcp-server/content/tree-resources.ts';
