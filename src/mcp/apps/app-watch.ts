/** What this instance knows of apps that are no longer as they were approved. Each is hidden alone, and its tools keep working. */

import { BoundedMap } from '../../base/bounded-map.ts';
import type { McpServer, PinnedApp } from '../../base/schema.ts';
import { toolUi } from './tool-ui.ts';

/** Watches the apps of servers. */
export interface AppWatch {
  /** Hides an app until a person looks again, whatever the server answers by then. */
  hide(server: McpServer, uri: string): Promise<void>;
  isHidden(server: McpServer, app: PinnedApp): boolean;
  /** Returns the pinned app of a tool, while it may be shown. */
  appOf(server: McpServer, definition: unknown): PinnedApp | undefined;
}

const maxServers = 1000;

/** Creates a watch without state. A server that is approved again starts over. `onDrift` must not reject. */
export function createAppWatch(onDrift: (server: McpServer, uri: string) => Promise<void>): AppWatch {
  const all = new BoundedMap<string, Set<string>>(maxServers);
  const changedOf = ({ tenant, id, url, validatedAt }: McpServer): Set<string> =>
    all.getOrCreate(JSON.stringify([tenant ?? null, id, url, validatedAt]), () => new Set());
  const isHidden: AppWatch['isHidden'] = (server, { uri, status }) =>
    status === 'drifted' || changedOf(server).has(uri);
  return {
    isHidden,
    async hide(server, uri) {
      const changed = changedOf(server);
      if (changed.has(uri)) return;
      changed.add(uri);
      await onDrift(server, uri);
    },
    appOf(server, definition) {
      const { pinned, apps } = server;
      if (!apps || !pinned?.apps) return undefined;
      const { uri } = toolUi(definition);
      const app = pinned.apps.find((one) => one.uri === uri);
      return app && !isHidden(server, app) ? app : undefined;
    },
  };
}
