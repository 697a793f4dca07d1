/** What an approval would pin of the apps that a server's tools name. An app with a finding is left out; its tools work without. */

import type { McpFinding, McpServer, PinnedApp } from '../../base/schema.ts';
import { asRecord } from '../../base/is-record.ts';
import type { McpConnection } from '../../contracts/mcp/mcp-connector.ts';
import type { OfferedApp } from '../../contracts/mcp/mcp-validation.ts';
import { PinnaceError } from '../../base/errors.ts';
import { error, type Remark, warning } from '../checks/finding.ts';
import { isLocalServer, readMetadata } from './app-metadata.ts';
import { type LiveApp, readApp } from './read-app.ts';
import { toolUi } from './tool-ui.ts';

/** The apps of an offer, by their addresses: as they are, or why they cannot be used. */
export type OfferedApps = ReadonlyMap<string, LiveApp | Remark>;

/** The most apps of a server. */
const maxApps = 32;
const timeoutMs = 30_000;

/** Reads the apps that the tools name, where the record of the server wants apps. */
export async function readApps(
  connection: McpConnection,
  { server, tools, resources, signal }: {
    readonly server: McpServer;
    readonly tools: readonly unknown[];
    /** As the server lists them: they may have the metadata of an app. */
    readonly resources: readonly unknown[];
    readonly signal: AbortSignal;
  },
): Promise<OfferedApps> {
  if (!server.apps) return new Map();
  const uris = [...new Set(tools.flatMap((tool) => toolUi(tool).uri ?? []))];
  const listed = new Map(resources.map(asRecord).map((one) => [one['uri'], one['_meta']]));
  const isLocal = isLocalServer(server.url);
  const apps = new Map<string, LiveApp | Remark>();
  for (const [i, uri] of uris.entries()) {
    if (i < maxApps) apps.set(uri, await readOne(uri, { connection, isLocal, meta: listed.get(uri), signal }));
    else apps.set(uri, error('too_many', `is beyond the first ${maxApps} apps of its server`));
  }
  return apps;
}

async function readOne(
  uri: string,
  { connection, isLocal, meta, signal }: {
    readonly connection: McpConnection;
    readonly isLocal: boolean;
    readonly meta: unknown;
    readonly signal: AbortSignal;
  },
): Promise<LiveApp | Remark> {
  const fallback = meta === undefined ? undefined : readMetadata(meta, { isLocal });
  if (fallback && 'rule' in fallback) return fallback;
  try {
    const answer = await connection.read({ method: 'resources/read', params: { uri }, signal, timeoutMs });
    return await readApp(uri, answer, { isLocal, fallback });
  } catch (thrown) {
    signal.throwIfAborted();
    if (thrown instanceof PinnaceError) return error('app_unreadable', 'cannot be read from its server');
    throw thrown;
  }
}

/** Apps that were looked at. */
export interface AppsCandidate {
  readonly offered: readonly OfferedApp[];
  readonly findings: readonly McpFinding[];
  readonly pin: readonly PinnedApp[];
  /** For the digest of the offer. */
  readonly hashes: readonly (readonly [uri: string, sha256: string])[];
}

/** Compares the apps with the pin. */
export function toAppsCandidate(
  { apps, tools }: { readonly apps: OfferedApps; readonly tools: readonly unknown[] },
  { server: { pinned }, leaveOut }: { readonly server: McpServer; readonly leaveOut: readonly string[] },
): AppsCandidate {
  const before = new Map((pinned?.apps ?? []).map((app) => [app.uri, app.sha256]));
  const usable = [...apps].flatMap(([uri, app]) => 'rule' in app ? [] : [{ uri, app }]);
  const isIncluded = (uri: string): boolean => !leaveOut.includes(appLabel(uri));
  return {
    offered: usable.map(({ uri, app: { sha256, bytes, csp, permissions } }) => ({
      uri,
      label: appLabel(uri),
      sha256,
      bytes,
      csp,
      permissions,
      tools: tools.filter((tool) => toolUi(tool).uri === uri).map((tool) => String(asRecord(tool)['name'])),
      change: before.get(uri) === sha256 ? 'same' : before.has(uri) ? 'changed' : 'added',
      included: isIncluded(uri),
    })),
    findings: [...apps].flatMap(([uri, app]) => {
      const item = appLabel(uri).slice(0, 300);
      if ('rule' in app) return [{ ...app, severity: 'warning', message: `${app.message}: it is left out`, item }];
      return app.permissions.length === 0
        ? []
        : [{ ...warning('app_permission', `wants ${app.permissions.join(', ')}, which no app gets`), item }];
    }),
    pin: usable.filter(({ uri }) => isIncluded(uri)).map(({ uri, app: { sha256, bytes, csp, permissions } }) => ({
      uri,
      sha256,
      bytes,
      csp,
      permissions: [...permissions],
      status: 'valid',
    })),
    hashes: usable.map(({ uri, app }) => [uri, app.sha256]),
  };
}

/** How findings, masks and `leaveOut` name an app. */
export function appLabel(uri: string): string {
  return `app:${uri}`;
}
