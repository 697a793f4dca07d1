/** Reads approved apps from their servers, and hides one that has changed. */

import { PinnaceError } from '../../base/errors.ts';
import type { PinnedApp } from '../../base/schema.ts';
import type { McpApp } from '../../contracts/mcp/apps.ts';
import type { ContentTarget } from '../../contracts/mcp/content-reader.ts';
import type { McpConnection } from '../../contracts/mcp/mcp-connector.ts';
import { isMasked, isUsable } from '../content/entries.ts';
import { isLocalServer } from './app-metadata.ts';
import type { AppWatch } from './app-watch.ts';
import { appLabel } from './candidate-apps.ts';
import { readApp } from './read-app.ts';

/** What is read, and by which way. */
export interface AppReading {
  readonly wanted: { readonly uri: string; readonly sha256: string };
  readonly target: ContentTarget;
  readonly watch: AppWatch;
  readonly connect: () => Promise<McpConnection>;
  readonly timeoutMs: number;
}

/** Reads the app again. It is returned only while it is, to the last character, what was approved. */
export async function readPinnedApp({ wanted, target, watch, connect, timeoutMs }: AppReading): Promise<McpApp> {
  const { server, signal, redact } = target;
  const { id, alias, url } = server;
  const { uri, csp, permissions, sha256 } = requirePinnedApp(wanted, target, watch);
  const connection = await connect();
  const answer = await connection.read({ method: 'resources/read', params: { uri }, signal, timeoutMs });
  const live = await readApp(uri, answer, { isLocal: isLocalServer(url), fallback: { csp, permissions } });
  if ('rule' in live || live.sha256 !== sha256) {
    await watch.hide(server, uri);
    throw changed();
  }
  const { host } = new URL(url);
  return { server: id, alias, host, uri, sha256, untrusted: true, html: redact(live.html), csp };
}

/** Returns the app of this hash, where the agent may use it. */
export function requirePinnedApp(
  { uri, sha256 }: AppReading['wanted'],
  { server, selection }: Pick<ContentTarget, 'server' | 'selection'>,
  watch: Pick<AppWatch, 'isHidden'>,
): PinnedApp {
  const app = isUsable(server) && server.apps && !isMasked(selection, appLabel(uri))
    ? server.pinned?.apps?.find((one) => one.uri === uri)
    : undefined;
  if (!app) throw unknownApp();
  if (app.sha256 !== sha256 || watch.isHidden(server, app)) throw changed();
  return app;
}

function unknownApp(): PinnaceError {
  return new PinnaceError('not_found', 'Cannot show the app: no app of this address is approved for this agent', {
    details: { reason: 'mcp_app_not_found' },
  });
}

function changed(): PinnaceError {
  return new PinnaceError(
    'forbidden',
    'Cannot show the app: it is not the one that was approved; a person must look at its server again',
    { details: { reason: 'mcp_drifted' } },
  );
}
