/** Looks at what an MCP server offers, and pins it when a person approves. */

import type { Emit } from '../events/events.ts';
import { createTraceId } from '../events/trace-ids.ts';
import { PinnaceError, toData } from '../base/errors.ts';
import type { McpValidation, McpValidationRequest } from '../contracts/mcp/mcp-validation.ts';
import { summaryOf } from '../events/payload-summary.ts';
import type { Catalog } from '../contracts/catalog.ts';
import type { McpAuthorization, McpConnector } from '../contracts/mcp/mcp-connector.ts';
import type { Principal } from '../base/principal.ts';
import type { McpAuthPin, McpServer } from '../base/schema.ts';
import type { Secret } from '../base/secret.ts';
import { sharedRecord } from '../contracts/shared-record.ts';
import { type Candidate, toCandidate } from './candidate.ts';
import { compareWithPin } from './drift.ts';
import type { ContentWatch } from './content/content-watch.ts';
import type { AppWatch } from './apps/app-watch.ts';
import { contentKinds, pinnedContent } from './content/kinds.ts';
import type { DriftWatch } from './drift-watch.ts';
import { namesElsewhere } from './other-tools.ts';
import type { McpPeople } from './people.ts';
import { pinnedOffer, readOffer } from './read-offer.ts';
import type { Offered } from './sign-in/look.ts';
import { noSignIn } from './sign-in/sign-in-failures.ts';
import { catalogOf, requireWriter, withDrifted } from './records.ts';

/** What a check works with. */
export interface ValidateOptions {
  readonly catalog: Catalog;
  readonly connector: McpConnector | undefined;
  readonly drift: DriftWatch;
  readonly contentWatch: ContentWatch;
  readonly appWatch: AppWatch;
  /** Signs people in. Absent where the composition has no sign-ins. */
  readonly people: (() => Promise<McpPeople>) | undefined;
  readonly emit: Emit;
  readonly now: () => number;
}

/** The caller, and the state of the runtime. */
export interface Validation {
  readonly request: McpValidationRequest;
  /** The approver and its tenant. */
  readonly principal: Principal;
  readonly subject: string;
  readonly tenant: string;
  /** Whether the caller speaks for the deployment, and so checks the shared servers. */
  readonly deployment: boolean;
  readonly signal: AbortSignal;
  /** The server's secret. */
  readonly secret: (server: McpServer) => Promise<Secret | undefined>;
  /** The names of the tools that are known besides. */
  readonly toolNames: (server: McpServer) => Promise<readonly string[]>;
}

/** The tenant whose servers the caller checks; `undefined`: the shared ones. */
export function ownerOf({ tenant, deployment }: Pick<Validation, 'tenant' | 'deployment'>): string | undefined {
  return deployment ? undefined : tenant;
}

/**
 * Checks a server.
 *
 * @throws PinnaceError `not_found` for an unknown server, `invalid_argument` for effects of a tool that is not offered and for an
 * approval without the digest of what was looked at, `conflict`
 * when the offer is not the one that was looked at or the record was changed meanwhile, `unavailable` without a connector, or when
 * an approval cannot be written; whatever the connector throws.
 */
export async function validateServer(
  serverId: string,
  validation: Validation,
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
  validation: Validation,
  { catalog, connector, drift, contentWatch, appWatch, people, now }: ValidateOptions,
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
    if (offer.isCurrent) await observe(server, offer, { drift, contentWatch, appWatch });
    return toAnswer(server, { offer, candidate, approved: false });
  }
  requireSameOffer(request, candidate);
  const record = await toRecord(server, { candidate, offer, now: now() });
  const written = await writer.put('mcpServer', record, { ifRevision: server.revision });
  return toAnswer(written, { offer, candidate, approved: candidate.pin !== undefined });
}

/** Runs use this observation too. */
async function observe(
  server: McpServer,
  offer: Looked,
  { drift, contentWatch, appWatch }: Pick<ValidateOptions, 'drift' | 'contentWatch' | 'appWatch'>,
): Promise<void> {
  await drift.compare(server, () => Promise.resolve(offer));
  for (const kind of contentKinds) {
    const list = offer.lists[kind];
    if (list && pinnedContent(server.pinned, kind).length > 0) {
      await contentWatch.compare(server, kind, () => Promise.resolve(list.items));
    }
  }
  for (const { uri, sha256 } of server.pinned?.apps ?? []) {
    const app = offer.apps.get(uri);
    if (app && ('rule' in app || app.sha256 !== sha256)) await appWatch.hide(server, uri);
  }
}

/** A tenant checks its own servers. What is shared it can read: that it may not check it is no secret. */
async function findServer(serverId: string, validation: Validation, catalog: Catalog): Promise<McpServer> {
  const { signal } = validation;
  const owner = ownerOf(validation);
  const own = await catalogOf(catalog, owner)?.mcpServer?.(serverId, signal);
  if (own) return own;
  if (owner === undefined || !await catalog.mcpServer?.(serverId, signal)) throw unknownServer();
  throw sharedRecord(`check MCP server "${serverId}"`);
}

/** What was seen of a server. */
interface Looked extends Offered {
  /** Whether the server has said it now. Otherwise the caller has not signed in, and it is what the pin says. */
  readonly isCurrent: boolean;
  readonly auth?: McpAuthPin;
}

async function lookAt(
  server: McpServer,
  { principal, signal, secret }: Validation,
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
  const { tools } = await compareWithPin(server.pinned, offer);
  const changed = tools.filter(({ kind }) => kind === 'changed').map(({ name }) => name);
  return { ...withDrifted(server, changed), findings: [...findings] };
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
