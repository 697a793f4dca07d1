/** Connects to MCP servers of all protocol revisions. */

import { checkNames, optional } from '../../src/base/check-options.ts';
import { PinnaceError } from '../../src/base/errors.ts';
import { loadOnce } from '../../src/base/load-once.ts';
import type { McpConnector } from '../../src/contracts/mcp/mcp-connector.ts';
import { connectorOver, type McpConnectorOptions } from './connection.ts';
import type { McpSession, OpenOptions } from './session.ts';

export type { McpConnectorOptions } from './connection.ts';
export type { McpConnector } from '../../src/contracts/mcp/mcp-connector.ts';

/**
 * Creates a connector for servers with Streamable HTTP. It tries 2026-07-28, without sessions, and falls back to older revisions; that
 * costs one more request for each connection to such a server. It uses `@modelcontextprotocol/client`. Where only
 * `@modelcontextprotocol/sdk` is installed, it supports revisions up to 2025-11-25, without sign-ins, questions and apps.
 *
 * @example
 * const connector = mcpConnector({ egress: denoEgress() });
 */
export function mcpConnector(options: McpConnectorOptions): McpConnector {
  checkNames(
    'create the connector',
    options,
    optional('egress', 'maxBytes', 'connectTimeoutMs', 'listTimeoutMs', 'logLevel'),
  );
  return connectorOver(openSession, options);
}

const loadModern = /* @__PURE__ */ loadOnce(() => import('./sdk-2026.ts'));
const loadLegacy = /* @__PURE__ */ loadOnce(() => import('./sdk.ts'));

/**
 * Opens a session. Closes what it has opened when it rejects.
 * @throws PinnaceError `unavailable`, reason `package_missing`, where neither library is installed; what the libraries throw.
 */
async function openSession(options: OpenOptions): Promise<McpSession> {
  const { openModern, mcpClientLibrary } = await loadModern();
  const modern = await mcpClientLibrary().catch(missingPackage);
  if (!(modern instanceof PinnaceError)) return await openModern(options);
  const { openLegacy, mcpSdk } = await loadLegacy();
  const legacy = await mcpSdk().catch(missingPackage);
  if (legacy instanceof PinnaceError) throw modern; // it names the library to install
  return await openLegacy(options);
}

function missingPackage(error: unknown): PinnaceError {
  if (error instanceof PinnaceError && error.details?.['reason'] === 'package_missing') return error;
  throw error;
}
