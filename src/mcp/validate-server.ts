/** Looks at what an MCP server offers, and pins it when a person approves. */

import { PinnaceError, toData } from '../base/errors.ts';
import type { McpAuthPin, McpServer } from '../base/schema.ts';
import type { Secret } from '../base/secret.ts';
import type { Catalog } from '../contracts/catalog.ts';
import type { McpAuthorization, McpConnection, McpConnector, McpContentKind } from '../contracts/mcp/mcp-connector.ts';
import type { McpValidating, McpValidation, McpValidationRequest } from '../contracts/mcp/mcp-validation.ts';
import type { Emit } from '../events/events.ts';
import { summaryOf } from '../events/payload-summary.ts';
import { createTraceId } from '../events/trace-ids.ts';
import { type Candidate, readApps, toCandidate } from './candidate.ts';
import type { McpPeople } from './people.ts';
import type { PinWatch } from './pin-watch.ts';
import {
  catalogOf,
  compareWithPin,
  contentKinds,
  type OfferedLists,
  pinnedContent,
  requireWriter,
  withDrifted,
} from './pins.ts';
import { noSignIn } from './sign-in-failures.ts';
import type { Offered } from './sign-in-grants.ts';
import { sharedRecord } from '../permission/ownership.ts';

interface ValidateOptions {
  readonly catalog: Catalog;
  readonly connector: McpConnector | undefined;
  readonly watch: PinWatch;
  /** Signs people in. Absent where the composition has no sign-ins. */
  readonly people: (() => Promise<McpPeople>) | undefined;
  readonly emit: Emit;
  readonly now: () => number;
}

/** The tenant whose servers the caller checks; `undefined`: the shared ones. */
export function ownerOf({ tenant, deployment }: Pick<McpValidating, 'tenant' | 'deployment'>): string | undefined {
  return deployment ? undefined : tenant;
}

/**
 * @throws PinnaceError `not_found` for an unknown server, `invalid_argument` for effects of a tool that is not offered and for an
 * approval without the digest of what was looked at, `conflict`
 * when the offer is not the one that was looked at or the record was changed meanwhile, `unavailable` without a connector, or when
 * an approval cannot be written; whatever the connector throws.
 */
export async function validateServer(
  serverId: string,
  validation: McpValidating,
  options: ValidateOptions,
): Promise<McpValidation> {
  const startedAt = options.now();
  const { request, subject, tenant } = validation;
  const facts = {
    traceId: createTraceId(),
    tenant,
    actor: { type: 'user', id: subject },
    action: request.approve ? 'mcp.approve' : 'mcp.look',
    target: { type: 'mcp-server', id: serverId },
  } as const;
  try {
    const answer = await validate(serverId, validation, options);
    const { tools, findings } = answer;
    const payloadSummary = summaryOf({ tools: tools.length, findings: findings.length });
    const isRefused = request.approve && !answer.approved;
    const latency = options.now() - startedAt;
    options.emit({ ...facts, status: isRefused ? 'denied' : 'ok', latency, error: null, payloadSummary });
    return answer;
  } catch (error) {
    const latency = options.now() - startedAt;
    options.emit({ ...facts, status: 'error', latency, error: toData(error), payloadSummary: '' });
    throw error;
  }
}

async function validate(
  serverId: string,
  validation: McpValidating,
  { catalog, connector, watch, people, now }: ValidateOptions,
): Promise<McpValidation> {
  const { request, signal, toolNames } = validation;
  const writer = request.approve ? requireWriter(catalog) : undefined;
  const server = await findServer(serverId, validation, catalog);
  if (request.approve) requireDigest(request);
  if (!connector) throw noConnector(serverId);
  const others = new Set([...await toolNames(server), ...await namesElsewhere(server, catalog, signal)]);
  const offer = await lookAt(server, validation, { connector, people });
  const candidate = await toCandidate({ server, offer, wishes: request, others });
  requireKnownEffects(request, candidate);
  if (!writer) {
    if (offer.isCurrent) await observe(server, offer, watch);
    return toAnswer(server, { offer, candidate, approved: false });
  }
  requireSameOffer(request, candidate);
  const record = await toRecord(server, { candidate, offer, now: now() });
  const written = await writer.put('mcpServer', record, { ifRevision: server.revision });
  return toAnswer(written, { offer, candidate, approved: candidate.pin !== undefined });
}

/** Runs use this observation too. */
async function observe(server: McpServer, offer: Looked, watch: PinWatch): Promise<void> {
  const { tools: items, instructions } = offer;
  await watch.compare(server, 'tools', () => Promise.resolve({ items, instructions }));
  for (const kind of contentKinds) {
    const list = offer.lists[kind];
    if (list && pinnedContent(server.pinned, kind).length > 0) {
      await watch.compare(server, kind, () => Promise.resolve(list));
    }
  }
  for (const { uri, sha256 } of server.pinned?.apps ?? []) {
    const app = offer.apps.get(uri);
    if (app && ('rule' in app || app.sha256 !== sha256)) await watch.hideApp(server, uri);
  }
}

/** A tenant checks its own servers. What is shared it can read: that it may not check it is no secret. */
async function findServer(serverId: string, validation: McpValidating, catalog: Catalog): Promise<McpServer> {
  const { signal } = validation;
  const owner = ownerOf(validation);
  const own = await catalogOf(catalog, owner)?.mcpServer?.(serverId, signal);
  if (own) return own;
  if (owner === undefined || !await catalog.mcpServer?.(serverId, signal)) throw unknownServer();
  throw sharedRecord(`check MCP server "${serverId}"`);
}

interface Looked extends Offered {
  /** Whether the server has said it now. Otherwise the caller has not signed in, and it is what the pin says. */
  readonly isCurrent: boolean;
  readonly auth?: McpAuthPin;
}

async function lookAt(
  server: McpServer,
  { principal, signal, secret }: McpValidating,
  { connector, people }: { readonly connector: McpConnector; readonly people: ValidateOptions['people'] },
): Promise<Looked> {
  const questions = people !== undefined; // as runs declare: the list may depend on it
  if (!server.auth) {
    return {
      ...await readOffer(connector, { server, secret: await secret(server), questions, signal }),
      isCurrent: true,
    };
  }
  if (!people) throw noSignIn();
  const read = (authorization: McpAuthorization): Promise<Offered> =>
    readOffer(connector, { server, secret: undefined, authorization, questions, signal });
  const { auth, offer } = await (await people()).look({ server, principal, readOffer: read, signal });
  return offer ? { ...offer, auth, isCurrent: true } : { ...pinnedOffer(server), auth, isCurrent: false };
}

/** A refused offer takes nothing away that was approved before: only tools that are offered otherwise by now are hidden. */
async function toRecord(
  server: McpServer,
  { candidate: { pin, findings }, offer, now }: {
    readonly candidate: Candidate;
    readonly offer: Looked;
    readonly now: number;
  },
): Promise<McpServer> {
  const checked = { ...server, findings: [...findings], validatedAt: new Date(now).toISOString() };
  if (pin) return { ...checked, status: 'valid', pinned: pin };
  if (!server.pinned || server.status !== 'valid') return { ...checked, status: 'error' };
  const changes = await compareWithPin(server.pinned, 'tools', offer.tools);
  const changed = changes.filter(({ kind }) => kind === 'changed').map(({ id }) => id);
  return { ...withDrifted(server, 'tools', changed), findings: [...findings] };
}

function toAnswer(
  { id, status, revision, pinned }: McpServer,
  { offer, candidate, approved }: {
    readonly offer: Looked;
    readonly candidate: Candidate;
    readonly approved: boolean;
  },
): McpValidation {
  const { protocolVersion, serverInfo, auth, isCurrent } = offer;
  const { tools, removed, content, apps, findings, digest, instructions } = candidate;
  return {
    serverId: id,
    status,
    revision,
    approved,
    digest,
    protocolVersion,
    serverInfo,
    ...(instructions !== undefined && { instructions }),
    instructionsChanged: pinned !== undefined && (pinned.instructions ?? '') !== (instructions ?? ''),
    ...(auth && { auth, signedIn: isCurrent }),
    tools,
    removed,
    ...(content && { content }),
    ...(apps.length > 0 && { apps }),
    findings,
  };
}

function requireKnownEffects({ effects }: McpValidationRequest, { tools }: Candidate): void {
  const names = new Set(tools.map(({ name }) => name));
  if (Object.keys(effects).every((name) => names.has(name))) return;
  throw new PinnaceError(
    'invalid_argument',
    'Cannot approve the server: "effects" names a tool that it does not offer',
    { details: { reason: 'unknown_tool' } },
  );
}

/** Without the digest, it is unknown which offer was approved. */
function requireDigest({ digest }: McpValidationRequest): void {
  if (digest !== undefined) return;
  throw new PinnaceError(
    'invalid_argument',
    'Cannot approve the server without "digest": look at its offer first, and send the digest of that answer',
    { details: { reason: 'digest_required' } },
  );
}

function requireSameOffer({ digest }: McpValidationRequest, candidate: Candidate): void {
  if (digest === candidate.digest) return;
  throw new PinnaceError('conflict', 'Cannot approve the server: it offers something else by now; look again', {
    retryable: false,
    details: { reason: 'mcp_changed_since_look' },
  });
}

function unknownServer(): PinnaceError {
  return new PinnaceError('not_found', 'Cannot check the MCP server: no server has this id', {
    details: { reason: 'mcp_server_not_found' },
  });
}

function noConnector(serverId: string): PinnaceError {
  return new PinnaceError(
    'unavailable',
    `Cannot check MCP server "${serverId}": this runtime has no way to MCP servers`,
    { retryable: false, details: { reason: 'no_mcp_connector' } },
  );
}

/** What was approved before: an approval without a sign-in changes where people sign in, and nothing else. */
function pinnedOffer({ pinned }: McpServer): Offered {
  const { protocolVersion = '', serverInfo = { name: '', version: '' }, instructions, tools = [] } = pinned ?? {};
  const listOf = (kind: McpContentKind) => ({
    items: pinnedContent(pinned, kind).map(({ definition }) => definition),
    isCut: false,
  });
  const lists = { prompts: listOf('prompts'), resources: listOf('resources'), templates: listOf('templates') };
  return {
    protocolVersion,
    serverInfo,
    instructions,
    tools: tools.map(({ definition }) => definition),
    lists,
    apps: new Map(),
  };
}

async function readOffer(
  connector: McpConnector,
  { server, ...options }: {
    readonly server: McpServer;
    readonly secret: Secret | undefined;
    readonly authorization?: McpAuthorization;
    readonly questions: boolean;
    readonly signal: AbortSignal;
  },
): Promise<Offered> {
  const connection = await connector.connect(server, options);
  try {
    const { protocolVersion, serverInfo, instructions } = connection;
    const tools = await connection.listTools(options);
    const lists = await readLists(connection, options);
    const resources = lists.resources?.items ?? [];
    const apps = await readApps(connection, { server, tools, resources, signal: options.signal });
    return { protocolVersion, serverInfo, instructions, tools, lists, apps };
  } finally {
    await connection.close();
  }
}

/** A server whose prompts or resources cannot be listed may still have tools. */
async function readLists(
  connection: McpConnection,
  { signal }: { readonly signal: AbortSignal },
): Promise<OfferedLists> {
  const listOf = async (kind: McpContentKind) =>
    await connection.listContent(kind, { signal }).catch((error: unknown) => {
      if (error instanceof PinnaceError && error.details?.['reason'] === 'mcp_error') return undefined;
      throw error;
    });
  return {
    prompts: await listOf('prompts'),
    resources: await listOf('resources'),
    templates: await listOf('templates'),
  };
}

/** The tools of other servers that agents may use together with this one, where the catalog can list them. */
async function namesElsewhere(
  server: McpServer,
  catalog: Catalog,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const own = server.tenant === undefined ? undefined : catalogOf(catalog, server.tenant);
  const catalogs = own ? [catalog, own] : [catalog];
  const names = await Promise.all(catalogs.map((from) => namesIn(from, server, signal)));
  return names.flat();
}

async function namesIn(catalog: Catalog, { id }: McpServer, signal: AbortSignal): Promise<readonly string[]> {
  const names: string[] = [];
  let after: string | undefined;
  do {
    const query = { limit: pageSize, ...(after !== undefined && { after }) };
    const page: readonly McpServer[] = await catalog.listMcpServers?.(query, signal) ?? [];
    names.push(...page.filter((server) => server.id !== id).flatMap(pinnedNames));
    after = page.length === pageSize ? page.at(-1)?.id : undefined;
  } while (after !== undefined);
  return names;
}

/** Records are large. */
const pageSize = 50;

function pinnedNames({ alias, pinned }: McpServer): readonly string[] {
  return (pinned?.tools ?? []).flatMap(({ definition: { name } }) => [name, `${alias}__${name}`]);
}
