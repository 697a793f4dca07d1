/** The parts of version 1 of the MCP SDK that serve a connection. Deno finds the types by the paths in the comments. */

export { Server } from '@modelcontextprotocol/sdk/server';
// @ts-types="@modelcontextprotocol/sdk/types"
export { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
// @ts-types="@modelcontextprotocol/sdk/types"
export type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
// @ts-types="@modelcontextprotocol/sdk/shared/transport"
export type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
