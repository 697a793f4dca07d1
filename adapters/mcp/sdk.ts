/**
 * The door of `@modelcontextprotocol/sdk`, protocol revisions up to 2025-11-25. Deno finds no types behind paths that end in `.js`.
 * Under a Content-Security-Policy without `unsafe-eval`, set `globalThis.__zod_globalConfig = { jitless: true }` before this module
 * is loaded: otherwise its schemas test whether they may compile code, which the browser reports.
 */

export { Client } from '@modelcontextprotocol/sdk/client';
// @ts-types="@modelcontextprotocol/sdk/client/streamableHttp"
export { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
// @ts-types="@modelcontextprotocol/sdk/types"
export { ResultSchema } from '@modelcontextprotocol/sdk/types.js';
