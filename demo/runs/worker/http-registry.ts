/** The registry of an endpoint as the registry's pages take one: over signed requests. */

import type { Client } from '../../../adapters/transport/client.ts';
import type { RemoteCollection } from '../../../adapters/transport/client/rooms.ts';
import { type Manifest, PinnaceError } from '../../../src/index.ts';
import type { RecordKind, Registration } from '../../../src/registry/index.ts';
import { answer } from '../../control/answer.ts';
import type { AnyRecord, FoundRecord, RegistryControl } from '../../control/registry-control.ts';
import type { Answer } from '../../control/answer.ts';

/** Returns the registry. The endpoint's secrets stay where it has them, and tools are tried in the page's own registry. */
export function httpRegistry(client: Client): RegistryControl {
  const of = (kind: RecordKind): RemoteCollection<RecordKind> => collectionOf(client, kind);
  return {
    list: (kind, query) => answer(() => of(kind).list(query)),
    get: (kind, id) => answer(() => find(client, kind, id)),
    create: (kind, record) => answer(() => of(kind).register(record as Registration<RecordKind>)), // the endpoint parses it
    replace: (kind, { boundAgents: _, availableTools: __, shared: ___, ...record }: Found, version) =>
      answer(() => of(kind).replace(record.id, record as Registration<RecordKind>, { version })),
    setState: (kind, id, state) =>
      answer(async () => void await of(kind)[state === 'active' ? 'enable' : 'disable'](id)),
    remove: (kind, id) => answer(() => of(kind).remove(id)),
    history: (kind, id, pageToken) =>
      answer(async () => {
        try {
          return await of(kind).history(id, { limit: 20, ...(pageToken !== undefined && { pageToken }) });
        } catch (error) {
          if (hasNoHistory(error)) return { items: [] };
          throw error;
        }
      }),
    validate: (serverId, request) => answer(() => client.validateMcpServer(serverId, request)),
    signIns: () => answer(() => []),
    grant: (serverId) => answer(() => client.mcpSignIns.grant(serverId)),
    startSignIn: (serverId, redirectUri) => answer(() => client.mcpSignIns.start(serverId, { redirectUri })),
    finishSignIn: (callback) => answer(() => client.mcpSignIns.finish(callback)),
    signOut: (serverId) => answer(() => client.mcpSignIns.revoke(serverId)),
    exportAll: () => answer(() => client.registry.export()),
    importAll: (data, dryRun) => answer(() => client.registry.import(data, { dryRun })),
    vault: () => notHere('its secrets are stored at the endpoint'),
    unlockVault: () => notHere('its secrets are stored at the endpoint'),
    lockVault: () => notHere('its secrets are stored at the endpoint'),
    setSecret: () => notHere('its secrets are stored at the endpoint'),
    bindSecret: () => notHere('its secrets are stored at the endpoint'),
    removeSecret: () => notHere('its secrets are stored at the endpoint'),
    previewTool: () => notHere('try the tool in the page’s own registry'),
    callTool: () => notHere('try the tool in the page’s own registry'),
    draftAgent: () => notHere('try agents in the page’s own registry'),
    reviewDocument: () => notHere('look at it in the page’s own registry'),
  };
}

/** A tool that is given as code has none; that of a shared record is for the deployment. */
function hasNoHistory(error: unknown): boolean {
  if (!(error instanceof PinnaceError)) return false;
  return error.code === 'not_found' || error.details?.['reason'] === 'shared_record';
}

type Found = {
  readonly id: string;
  readonly boundAgents?: unknown;
  readonly availableTools?: unknown;
  readonly shared?: unknown;
};

function collectionOf({ registry }: Client, kind: RecordKind): RemoteCollection<RecordKind> {
  const collections: { readonly [Kind in RecordKind]: RemoteCollection<Kind> } = {
    agent: registry.agents,
    tool: registry.tools,
    mcpServer: registry.mcpServers,
    provider: registry.providers,
    dataSource: registry.dataSources,
  };
  return collections[kind]; // what is sent is parsed as the kind's
}

async function find(client: Client, kind: RecordKind, id: string): Promise<FoundRecord> {
  const { availableTools: _, shared: __, boundAgents, ...record } = await collectionOf(client, kind).get(id) as
    & AnyRecord
    & Found;
  const agents = Array.isArray(boundAgents) ? boundAgents.filter((agent) => typeof agent === 'string') : [];
  const tools = kind === 'agent' ? await toolsOf(client, id) : undefined;
  return {
    record,
    isGiven: 'type' in record && record.type === 'function',
    agents,
    ...(tools && { tools }),
  };
}

/** Absent for an agent that is disabled, or internal: it does not run for callers over HTTP. */
async function toolsOf(client: Client, agentId: string): Promise<Manifest['tools'] | undefined> {
  try {
    const path = `/v1/agents/${encodeURIComponent(agentId)}/manifest?limit=1000`;
    return (await client.call('GET', path) as Manifest).tools; // the endpoint's schema says so
  } catch (error) {
    if (error instanceof PinnaceError && ['forbidden', 'not_found'].includes(error.code)) return undefined;
    throw error;
  }
}

function notHere(why: string): Promise<Answer<never>> {
  return answer(() => {
    throw new PinnaceError('invalid_argument', `Cannot do this at an endpoint: ${why}`);
  });
}
