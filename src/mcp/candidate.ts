/** What an approval would pin: the offer of a server beside what is pinned now. */

import * as v from 'valibot';
import { canonicalJson, checkData } from '../base/json.ts';
import type {
  McpContentOffer,
  McpValidationRequest,
  OfferedApp,
  OfferedTool,
} from '../contracts/mcp/mcp-validation.ts';
import type { McpConnection } from '../contracts/mcp/mcp-connector.ts';
import { type McpAuthPin, type McpFinding, McpPin, type McpServer, type PinnedTool } from '../base/schema.ts';
import { asRecord } from '../base/is-record.ts';
import { type OfferedApps, toAppsCandidate } from './apps/candidate-apps.ts';
import { toContentCandidate } from './content/candidate-content.ts';
import type { OfferedLists } from './content/kinds.ts';
import { changedFields } from './drift.ts';
import { inListOrder } from './sign-in/records.ts';
import { digestOf, fingerprintOf } from './fingerprint.ts';
import { inspect, type InspectContext, type InspectedTool } from './inspect.ts';
import { exposedNames } from './pinned-tools.ts';

/** An offer that was looked at. */
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
  return {
    tools,
    findings,
    content: content.offer,
    apps: apps.offered,
    instructions,
    removed: (server.pinned?.tools ?? []).map(({ definition }) => definition.name).filter((name) => !names.has(name)),
    // Of all that is offered, whatever is left out: what was looked at stays the same while a person chooses.
    // In an order of its own: some servers list the same definitions in another order each time.
    digest: await digestOf([
      instructions ?? null,
      inOrder(tools.map(({ name, fingerprint = null }) => [name, fingerprint])),
      ...(auth ? [inListOrder(auth)] : []),
      ...content.fingerprints.map(([kind, ...items]) => [kind, ...inOrder(items)]),
      ...(apps.hashes.length > 0 ? [['apps', ...inOrder(apps.hashes)]] : []),
    ]),
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
  const isReadable = isData(definition);
  const fingerprint = isReadable ? await fingerprintOf(definition) : undefined;
  const isSame = before !== undefined && before.fingerprint === fingerprint;
  const effect = wishes.effects[name] ?? (isSame ? before.effect : undefined);
  const isWanted = isIncluded(tool, wishes);
  const exposed = isWanted ? names.get(name) : tool.canOffer ? exposedNames(alias, [name]).get(name) : undefined;
  return {
    name,
    ...(exposed !== undefined && { exposedAs: exposed }),
    ...(fingerprint !== undefined && { fingerprint }),
    change: isSame ? 'same' : before ? 'changed' : 'added',
    changedFields: before && !isSame ? changedFields(before.definition, definition) : [],
    included: isWanted && exposed !== undefined,
    ...(effect !== undefined && { effect }),
    definition: isReadable ? definition : null,
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
