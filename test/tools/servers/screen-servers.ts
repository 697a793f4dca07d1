/** The servers that some screens need. Each starts when the first screen asks for it. */

import { loadOnce } from '../../../src/base/load-once.ts';
import { startAppServer } from './app-server.ts';
import { startEverythingServer } from './everything-server.ts';
import { startModelServer } from './model-server.ts';
import { startOAuthServers } from './oauth-servers.ts';
import { startQuestionServer } from './question-server.ts';

/** Where each is. */
export interface ScreenServers {
  /** MCP servers: one with many tools, one with apps, and one whose tool asks. */
  readonly everything: () => Promise<string>;
  readonly apps: () => Promise<string>;
  readonly questions: () => Promise<string>;
  /** An MCP server that people sign in to, and where they do. */
  readonly signIn: () => Promise<{ readonly url: string; readonly issuer: string }>;
  /** A model server that asks each request to wait. */
  readonly busyModel: () => Promise<string>;
  readonly origins: () => readonly string[];
  readonly close: () => Promise<void>;
}

/** Returns them, none of them started. */
export function screenServers(): ScreenServers {
  const running = new Set<{ close(): unknown }>();
  const origins: string[] = [];
  const keep = (server: { close(): unknown }, url: string): string => {
    running.add(server);
    origins.push(new URL(url).origin);
    return url;
  };
  return {
    everything: loadOnce(async () => {
      const server = await startEverythingServer();
      return keep(server, `${server.url}/mcp`);
    }),
    apps: loadOnce(async () => {
      const server = await startAppServer();
      return keep(server, server.url);
    }),
    questions: loadOnce(async () => {
      const server = await startQuestionServer();
      return keep(server, server.url);
    }),
    signIn: loadOnce(async () => {
      const servers = await startOAuthServers();
      return { url: keep(servers, servers.mcpUrl), issuer: keep(servers, servers.issuer) };
    }),
    busyModel: loadOnce(async () => {
      const server = await startModelServer({ pauses: Array.from({ length: 20 }, () => 50) });
      return keep(server, `${server.origin}/v1`);
    }),
    origins: () => origins,
    close: async () => void await Promise.all([...running].map((server) => server.close())),
  };
}
