/** The door of `@modelcontextprotocol/client`, all protocol revisions. It names what is used, so that bundles contain no more. */

export { Client, type StandardSchemaV1, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
