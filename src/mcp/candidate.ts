/** What an approval would pin: the offer of a server beside what is pinned now. */

import * as v from 'valibot';
import { PinnaceError } from '../base/errors.ts';
import { sha256 as hashOf } from '../base/hash.ts';
import { asRecord } from '../base/is-record.ts';
import { canonicalJson, checkData } from '../base/json.ts';
import {
  type McpAuthPin,
  type McpFinding,
  McpPin,
  type McpServer,
  type PinnedApp,
  type PinnedContent,
  type PinnedTool,
} from '../base/schema.ts';
import type { McpConnection, McpContentKind } from '../contracts/mcp/mcp-connector.ts';
import type {
  McpContentOffer,
  McpValidationRequest,
  OfferedApp,
  OfferedContent,
  OfferedTool,
} from '../contracts/mcp/mcp-validation.ts';
import { inspect, inspectContent, type InspectContext, type InspectedContent, type InspectedTool } from './inspect.ts';
import { error, exposedNames, type Remark, toolUi, warning } from './pinned-tools.ts';
import {
  changedFields,
  contentKinds,
  contentLabel,
  fingerprintOf,
  type OfferedLists,
  pinnedContent,
  pinnedId,
} from './pins.ts';
import { isLocalServer, type LiveApp, readApp, readMetadata } from './read-apps.ts';
import { inListOrder } from './sign-in-records.ts';

export interface Candidate {
  readonly tools: readonly OfferedTool[];
  readonly removed: readonly string[];
  readonly content: McpContentOffer | undefined;
  readonly apps: readonly OfferedApp[];
  readonly instructions: string | undefined;
  /** Those of tools that are left out on demand are not among them. */
  readonly findings: readonly McpFinding[];
  /** `undefined` when an error prevents the offer. */
  readonly pin: McpPin | undefined;
  readonly digest: string;
}

type Wishes = Pick<McpValidationRequest, 'effects' | 'leaveOut'>;

/** Looks at what a server offers. */
export async function toCandidate(
  { server, offer, wishes, others }: {
    readonly server: McpServer;
    readonly offer: Pick<McpConnection, 'protocolVersion' | 'serverInfo' | 'instructions'> & {
      readonly tools: readonly unknown[];
      readonly lists: OfferedLists;
      readonly apps: OfferedApps;
      readonly auth?: McpAuthPin;
    };
    readonly wishes: Wishes;
    readonly others: InspectContext['others'];
  },
): Promise<Candidate> {
  const { protocolVersion, serverInfo, auth } = offer;
  const instructions = offer.instructions === '' ? undefined : offer.instructions;
  const { alias, url } = server;
  const inspection = inspect({ ...offer, instructions }, { alias, url, others, leaveOut: wishes.leaveOut });
  const exposed = exposedNames(
    alias,
    inspection.tools.filter((tool) => isIncluded(tool, wishes)).map(({ label }) => label),
  );
  const tools = await Promise.all(inspection.tools.map((tool) => toOffered(tool, exposed, { server, wishes })));
  const content = await toContentCandidate(offer.lists, { pinned: server.pinned, leaveOut: wishes.leaveOut, others });
  const apps = toAppsCandidate(offer, { server, leaveOut: wishes.leaveOut });
  const ofTools = inspection.findings.filter(({ tool }) => tool === undefined || !wishes.leaveOut.includes(tool));
  const findings = [...ofTools, ...content.findings, ...apps.findings];
  const included = tools.filter((tool) => tool.included);
  const pinnedApps = apps.pin.length > 0 && { apps: apps.pin };
  const pin = { protocolVersion, serverInfo, ...(instructions !== undefined && { instructions }), ...pinnedApps };
  const names = new Set(tools.map(({ name }) => name));
  // Of all that is offered, whatever is left out: what was looked at stays the same while a person chooses.
  // In an order of its own: some servers list the same definitions in another order each time.
  const offered = [
    instructions ?? null,
    inOrder(tools.map(({ name, fingerprint = null }) => [name, fingerprint])),
    ...(auth ? [inListOrder(auth)] : []),
    ...content.fingerprints.map(([kind, ...items]) => [kind, ...inOrder(items)]),
    ...(apps.hashes.length > 0 ? [['apps', ...inOrder(apps.hashes)]] : []),
  ];
  return {
    tools,
    findings,
    content: content.offer,
    apps: apps.offered,
    instructions,
    removed: (server.pinned?.tools ?? []).map(({ definition }) => definition.name).filter((name) => !names.has(name)),
    digest: await hashOf(`mcp-offer/v1\n${canonicalJson(offered)}`),
    pin: findings.some(({ severity }) => severity === 'error')
      ? undefined
      : v.parse(McpPin, { ...pin, ...content.pin, tools: included.map(toPinned), ...(auth && { auth }) }), // what had no error in it fits
  };
}

function inOrder<T>(items: readonly T[]): readonly T[] {
  const keyed = items.map((item) => ({ item, key: canonicalJson(item) }));
  return keyed.toSorted((a, b) => a.key < b.key ? -1 : a.key > b.key ? 1 : 0).map(({ item }) => item);
}

function isIncluded({ label, canOffer }: InspectedTool, { leaveOut }: Wishes): boolean {
  return canOffer && !leaveOut.includes(label);
}

async function toOffered(
  tool: InspectedTool,
  names: ReadonlyMap<string, string>,
  { server: { alias, pinned }, wishes }: { readonly server: McpServer; readonly wishes: Wishes },
): Promise<OfferedTool> {
  const { label: name, definition } = tool;
  const before = pinned?.tools.find(({ definition: { name: other } }) => other === name);
  const isJson = isData(definition);
  const fingerprint = isJson ? await fingerprintOf(definition) : undefined;
  const isSame = before !== undefined && before.fingerprint === fingerprint;
  const effect = wishes.effects[name] ?? (isSame ? before.effect : undefined);
  const isWanted = isIncluded(tool, wishes);
  const exposed = isWanted ? names.get(name) : tool.canOffer ? exposedNames(alias, [name]).get(name) : undefined;
  return {
    name,
    ...(exposed !== undefined && { exposedAs: exposed }),
    ...(fingerprint !== undefined && { fingerprint }),
    change: isSame ? 'same' : before ? 'changed' : 'added',
    changedFields: before && !isSame ? changedFields(before.definition, definition, 'tools') : [],
    included: isWanted && exposed !== undefined,
    ...(effect !== undefined && { effect }),
    definition: isJson ? definition : null,
  };
}

function isData(definition: unknown): boolean {
  try {
    checkData(definition);
    return true;
  } catch {
    return false;
  }
}

function toPinned({ definition, fingerprint, effect }: OfferedTool): unknown {
  const status: PinnedTool['status'] = 'valid';
  return { definition: asRecord(definition), fingerprint, status, ...(effect !== undefined && { effect }) };
}

interface ContentCandidate {
  /** `undefined` where there is nothing, now or in the pin. */
  readonly offer: McpContentOffer | undefined;
  readonly findings: readonly McpFinding[];
  readonly pin: Pick<McpPin, 'prompts' | 'resources' | 'templates'>;
  /** Of all that is listed, for the digest of the offer. */
  readonly fingerprints:
    readonly (readonly [kind: McpContentKind, ...(readonly [id: string, fingerprint: string])[]])[];
}

const maxShown = 2000;

async function toContentCandidate(
  lists: OfferedLists,
  { pinned, leaveOut, others }: {
    readonly pinned: McpPin | undefined;
    readonly leaveOut: readonly string[];
    readonly others: ReadonlySet<string>;
  },
): Promise<ContentCandidate> {
  const kinds = await Promise.all(contentKinds.map(async (kind) => {
    const list = lists[kind];
    if (list === undefined) return unreadable(kind);
    const before = pinnedContent(pinned, kind);
    const { items, findings } = inspectContent(kind, list, others);
    const known = new Map(before.map((one) => [one.fingerprint, one]));
    const byId = new Map(before.map((one) => [pinnedId(kind, one), one]));
    const offered = await Promise.all(items.map((item) => toOfferedContent(item, { kind, known, byId, leaveOut })));
    const ids = new Set(offered.map(({ id }) => id));
    return {
      kind,
      offered,
      findings,
      removed: [...byId.keys()].filter((id) => !ids.has(id)).map((id) => contentLabel(kind, id)),
    };
  }));
  const shownOf = (wanted: McpContentKind) =>
    kinds.find(({ kind }) => kind === wanted)?.offered.slice(0, maxShown) ?? [];
  const removed = kinds.flatMap((one) => one.removed);
  const isEmpty = removed.length === 0 && kinds.every(({ offered }) => offered.length === 0);
  const total = kinds.reduce((sum, { offered }) => sum + offered.length, 0);
  return {
    offer: isEmpty ? undefined : {
      prompts: shownOf('prompts'),
      resources: shownOf('resources'),
      templates: shownOf('templates'),
      removed,
      total,
    },
    findings: kinds.flatMap(({ findings }) => findings),
    pin: Object.fromEntries(
      kinds.filter(({ offered }) => offered.some(({ included }) => included)).map(({ kind, offered }) => [
        kind,
        offered.filter(({ included }) => included).map(toPinnedContent),
      ]),
    ),
    fingerprints: kinds.flatMap(({ kind, offered }) =>
      offered.length === 0
        ? []
        : [[kind, ...offered.map(({ id, fingerprint = '' }) => [id, fingerprint] as const)] as const]
    ),
  };
}

function unreadable(kind: McpContentKind) {
  const finding = warning('unreadable_list', `The list of ${kind} could not be read: none can be approved`);
  return { kind, offered: [], findings: [finding], removed: [] };
}

async function toOfferedContent(
  { id, label, definition, canOffer }: InspectedContent,
  { kind, known, byId, leaveOut }: {
    readonly kind: McpContentKind;
    readonly known: ReadonlyMap<string, PinnedContent>;
    readonly byId: ReadonlyMap<string, PinnedContent>;
    readonly leaveOut: readonly string[];
  },
): Promise<OfferedContent> {
  const fingerprint = isReadable(definition) ? await fingerprintOf(definition, kind) : undefined;
  const before = byId.get(id);
  const isSame = fingerprint !== undefined && known.has(fingerprint);
  return {
    id,
    ...(kind === 'resources' && { uri: id }),
    label,
    ...(fingerprint !== undefined && { fingerprint }),
    change: isSame ? 'same' : before ? 'changed' : 'added',
    changedFields: before && !isSame ? changedFields(before.definition, definition, kind) : [],
    included: canOffer && fingerprint !== undefined && !leaveOut.includes(label),
    definition: fingerprint === undefined ? null : definition,
  };
}

function isReadable(definition: unknown): boolean {
  try {
    canonicalJson(definition);
    return true;
  } catch {
    return false;
  }
}

function toPinnedContent({ definition, fingerprint = '' }: OfferedContent): PinnedContent {
  return { definition: asRecord(definition), fingerprint, status: 'valid' };
}

/** The apps of an offer, by their addresses: as they are, or why they cannot be used. */
export type OfferedApps = ReadonlyMap<string, LiveApp | Remark>;

const maxApps = 32;
const timeoutMs = 30_000;

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

interface AppsCandidate {
  readonly offered: readonly OfferedApp[];
  readonly findings: readonly McpFinding[];
  readonly pin: readonly PinnedApp[];
  /** For the digest of the offer. */
  readonly hashes: readonly (readonly [uri: string, sha256: string])[];
}

/** Compares the apps with the pin. */
function toAppsCandidate(
  { apps, tools }: { readonly apps: OfferedApps; readonly tools: readonly unknown[] },
  { server: { pinned }, leaveOut }: { readonly server: McpServer; readonly leaveOut: readonly string[] },
): AppsCandidate {
  const before = new Map((pinned?.apps ?? []).map((app) => [app.uri, app.sha256]));
  const usable = [...apps].flatMap(([uri, app]) => 'rule' in app ? [] : [{ uri, app }]);
  const isAppIncluded = (uri: string): boolean => !leaveOut.includes(appLabel(uri));
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
      included: isAppIncluded(uri),
    })),
    findings: [...apps].flatMap(([uri, app]) => {
      const item = appLabel(uri).slice(0, 300);
      if ('rule' in app) return [{ ...app, severity: 'warning', message: `${app.message}: it is left out`, item }];
      return app.permissions.length === 0
        ? []
        : [{ ...warning('app_permission', `wants ${app.permissions.join(', ')}, which no app gets`), item }];
    }),
    pin: usable.filter(({ uri }) => isAppIncluded(uri)).map(({ uri, app: { sha256, bytes, csp, permissions } }) => ({
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
