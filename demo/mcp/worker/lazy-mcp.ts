/** The way to MCP servers, fetched with its first use: most visits have none. */

import { browserEgress } from '../../../adapters/egress/browser.ts';
import type { McpAuthPin } from '../../../src/base/schema.ts';
import type { Egress } from '../../../src/contracts/egress.ts';
import type { McpConnector } from '../../../src/contracts/mcp/mcp-connector.ts';
import type { McpSignIn } from '../../../src/contracts/mcp/sign-in.ts';

interface LazyMcpOptions {
  readonly egress: Egress;
  /** Whether the page itself comes from this machine: then servers of this machine are in reach, each by its address. */
  readonly isLocal: boolean;
}

/** Creates a connector whose code is fetched when something connects. */
export function lazyMcp({ egress, isLocal }: LazyMcpOptions): McpConnector {
  return {
    async connect(server, options) {
      const { mcpConnector } = await import('../../../adapters/mcp/client.ts');
      const loopback = isLocal ? loopbackOrigins([server.url]) : [];
      const way = loopback.length > 0 ? browserEgress({ loopback }) : egress;
      return await mcpConnector({ egress: way }).connect(server, options);
    },
  };
}

interface LazySignInOptions {
  readonly egress: Egress;
  /** Whether the page itself comes from this machine: then servers of this machine are in reach, each by its address. */
  readonly isLocal: boolean;
  /** The page that authorization servers send people back to. */
  readonly redirectUri: string;
}

/** Creates the sign-ins. A page is a public client: it registers itself, or has a client id that a person wrote down. */
export function lazySignIn({ egress, isLocal, redirectUri }: LazySignInOptions): McpSignIn {
  const at = async (...urls: readonly (string | undefined)[]): Promise<McpSignIn> => {
    const { mcpSignIn } = await import('../../../adapters/mcp/sign-in.ts');
    const loopback = isLocal ? loopbackOrigins(urls) : [];
    const way = loopback.length > 0 ? browserEgress({ loopback }) : egress;
    return mcpSignIn({ egress: way, redirectUris: [redirectUri], loopback });
  };
  const of = ({ issuer, tokenEndpoint, registrationEndpoint, revocationEndpoint }: McpAuthPin): Promise<McpSignIn> =>
    at(issuer, tokenEndpoint, registrationEndpoint, revocationEndpoint);
  return {
    redirectUris: [redirectUri],
    discover: async (server, terms) => await (await at(server.url, server.issuer)).discover(server, terms),
    register: async (auth, ...given) => await (await of(auth)).register(auth, ...given),
    start: async (auth, ...given) => await (await of(auth)).start(auth, ...given),
    finish: async (auth, ...given) => await (await of(auth)).finish(auth, ...given),
    refresh: async (auth, ...given) => await (await of(auth)).refresh(auth, ...given),
    revoke: async (auth, ...given) => await (await of(auth)).revoke(auth, ...given),
  };
}

/** Returns the origins of addresses on this machine. */
function loopbackOrigins(urls: readonly (string | undefined)[]): readonly string[] {
  const origins = urls.map((url) => url === undefined ? '' : URL.parse(url)?.origin ?? '');
  return [...new Set(origins.filter((origin) => /^https?:\/\/(?:127\.0\.0\.1|\[::1\])(?::\d+)?$/.test(origin)))];
}
