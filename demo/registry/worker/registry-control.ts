/** What the page can do with the registry of its worker. */

import type { Agent, Collection, RecordKind, Registration } from '../../../src/registry/index.ts';
import { loadOnce } from '../../../src/base/load-once.ts';
import { localPrincipal, type Manifest, PinnaceError, type Principal, type Registry } from '../../../src/index.ts';
import { readRecord } from '../../../src/registry/record-kinds.ts';
import type { Variants } from '../../builder/worker/variants.ts';
import { answer } from './answer.ts';
import type { Answer, AnyRecord, RegistryControl, SignInControl } from './control.ts';
import type { RegistryHostOptions } from './host.ts';
import type { ToolSwitches } from './tool-switches.ts';

interface RegistryControlOptions extends Pick<RegistryHostOptions, 'runtime' | 'vault' | 'trials'> {
  readonly registry: Registry;
  readonly switches: ToolSwitches;
  readonly variants: Variants;
  /** The ids of the tools that are given as code. */
  readonly givenTools: ReadonlySet<string>;
  readonly ready: () => Promise<unknown>;
}

/** Creates the control. It acts as the local principal. */
export function createRegistryControl(
  { registry, switches, givenTools, ready, runtime, vault, trials, variants }: RegistryControlOptions,
): RegistryControl {
  const principal = localPrincipal();
  const answering = <T>(work: () => T | Promise<T>): Promise<Answer<T>> =>
    answer(async () => {
      await ready();
      return await work();
    });
  const isGiven = (kind: RecordKind, id: string): boolean => kind === 'tool' && givenTools.has(id);
  return {
    list: (kind, query) => answering(() => collectionOf(registry, kind).list(query)),
    get: (kind, id) =>
      answering(async () => {
        const { availableTools: _, ...record } = await collectionOf(registry, kind).get(id) as Found; // an agent has them
        const tools = kind === 'agent' ? await toolsFor(id, runtime()) : undefined;
        const agents = await agentsNaming(registry, kind, id);
        return { record, isGiven: isGiven(kind, id), agents, ...(tools && { tools }) };
      }),
    create: (kind, record) =>
      answering(() => collectionOf(registry, kind).register(record as Registration<RecordKind>, { principal })), // it is parsed there
    replace: (kind, record, version) =>
      answering(() => collectionOf(registry, kind).replace(record.id, unbound(record), { version, principal })),
    setState: (kind, id, state) =>
      answering(async () => {
        if (!isGiven(kind, id)) {
          await collectionOf(registry, kind)[state === 'active' ? 'enable' : 'disable'](id, { principal });
          return;
        }
        await switches.set(id, state);
        await runtime().invalidate(['tools']);
      }),
    remove: (kind, id) => answering(() => collectionOf(registry, kind).remove(id, { principal })),
    history: (kind, id, pageToken) =>
      answering(() =>
        isGiven(kind, id) ? { items: [] } : collectionOf(registry, kind).history(id, { limit: 20, pageToken })
      ),
    validate: (serverId, request) => answering(() => runtime().validateMcpServer(serverId, request, principal)),
    ...signInsOf({ registry, runtime, answering, principal }),
    exportAll: () => answering(() => registry.export()),
    importAll: (data, dryRun) => answering(() => registry.import(data, { dryRun, principal })),
    ...vault,
    previewTool: async (...of) => await (await trials()).previewTool(...of),
    varyAgent: (agentId, variation) =>
      answering(async () => {
        const agent = variants.find(agentId) ?? await registry.agents.get(agentId);
        const { availableTools: _, ...record } = agent as Agent & { readonly availableTools?: unknown }; // an agent has them
        return variants.add(record, variation);
      }),
    draftAgent: (record) =>
      answering(() => variants.add(readRecord.agent({ ...record, id: 'preview' }, 'the agent'), {})),
    reviewDocument: async (data) => await (await trials()).reviewDocument(data),
    callTool: async (...of) => await (await trials()).callTool(...of),
  };
}

function signInsOf(
  { registry, runtime, answering, principal }: Pick<RegistryControlOptions, 'registry' | 'runtime'> & {
    readonly answering: <T>(work: () => T | Promise<T>) => Promise<Answer<T>>;
    readonly principal: Principal;
  },
): SignInControl {
  return {
    signIns: () =>
      answering(async () => {
        const { items } = await registry.mcpServers.list({ limit: 200 });
        return items.length === 0 ? [] : await (await loadSignInRows()).signInRows(items, runtime());
      }),
    grant: (serverId) => answering(() => runtime().mcpSignIns.grant(serverId, principal)),
    startSignIn: (serverId, redirectUri) =>
      answering(() => runtime().mcpSignIns.start(serverId, { redirectUri }, principal)),
    finishSignIn: (callback) => answering(() => runtime().mcpSignIns.finish(callback, principal)),
    signOut: (serverId) => answering(() => runtime().mcpSignIns.revoke(serverId, principal)),
  };
}

const loadSignInRows = /* @__PURE__ */ loadOnce(() => import('../../mcp/worker/sign-in-rows.ts'));

type Found = AnyRecord & { readonly availableTools?: unknown };

/** Returns the collection of a kind, typed for all kinds. */
function collectionOf(registry: Registry, kind: RecordKind): Collection<RecordKind> {
  const collections: { readonly [Kind in RecordKind]: Collection<Kind> } = {
    agent: registry.agents,
    tool: registry.tools,
    mcpServer: registry.mcpServers,
    provider: registry.providers,
    dataSource: registry.dataSources,
  };
  return collections[kind]; // what is written is parsed as the kind's
}

/** The agents of a tool are stored with the agents and stay unchanged. */
function unbound(record: object): Registration<RecordKind> {
  const { boundAgents: _, ...rest } = record as { readonly boundAgents?: unknown };
  return rest as Registration<RecordKind>; // what is written is parsed as the kind's
}

async function agentsNaming(registry: Registry, kind: RecordKind, id: string): Promise<readonly string[]> {
  if (kind === 'agent') return [];
  if (kind === 'tool') return (await registry.tools.get(id)).boundAgents ?? [];
  const found: string[] = [];
  let pageToken: string | undefined;
  do {
    const page = await registry.agents.list({ limit: 200, ...(pageToken !== undefined && { pageToken }) });
    found.push(...page.items.filter((agent) => names(agent, kind, id)).map((agent) => agent.id));
    pageToken = page.nextPageToken;
  } while (pageToken !== undefined);
  return found;
}

function names({ providerId, mcp, dataSources }: Agent, kind: RecordKind, id: string): boolean {
  if (kind === 'provider') return providerId === id;
  return kind === 'mcpServer' ? Object.hasOwn(mcp, id) : dataSources.includes(id);
}

async function toolsFor(
  agentId: string,
  runtime: ReturnType<RegistryHostOptions['runtime']>,
): Promise<Manifest['tools'] | undefined> {
  try {
    return (await runtime.manifest(agentId, localPrincipal())).tools;
  } catch (error) {
    if (error instanceof PinnaceError && error.code === 'forbidden') return undefined; // it is disabled
    throw error;
  }
}
