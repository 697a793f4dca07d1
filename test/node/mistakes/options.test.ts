/** Every public function refuses options that it does not know. The list of functions is that of the entries in package.json. */

import { readFileSync } from 'node:fs';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { staticCatalog } from '../../../adapters/catalog/static.ts';
import { createGrounding, localPrincipal, PinnaceError } from '../../../src/index.ts';
import { says, scriptedModel } from '../../fixtures/model.ts';
import { testRuntime } from '../../fixtures/runtime.ts';

const packageText = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8');
const entries = Object.entries((JSON.parse(packageText) as { exports: Record<string, string> }).exports);
/** All functions of all entries, by their names. */
const functions = new Map<string, (...given: unknown[]) => unknown>();
for (const [entry, path] of entries) {
  if (entry === './testing') continue; // the contracts of ports: for the author of a port, with a fixed shape each
  const module = await import(/* @vite-ignore */ `../../../${path.slice('./dist/'.length).replace(/\.js$/, '.ts')}`);
  for (const [name, value] of Object.entries(module as Record<string, unknown>)) {
    if (typeof value === 'function' && !/^class\b/.test(String(value))) functions.set(name, value as never);
  }
}

const storage = memoryStorage();
const catalog = staticCatalog({ agents: [], providers: [] });
const grounding = createGrounding({ sources: [] });
const runtime = testRuntime({ model: scriptedModel(says('Hi')).model });
const principal = localPrincipal();
const { port1: port } = new MessageChannel();
const nothing = (): undefined => undefined;
const text = 'x'.repeat(16);
const records = { catalog, models: { model: nothing }, storage };
const stream = new ReadableStream({ start: (controller) => controller.close() });
const file = new Uint8Array(1);
const tool = { id: 'a', description: 'd', input: { type: 'object' }, execute: nothing };
const agent = { id: 'a', name: 'A', providerId: 'p' };

/** The place of the options in the call, after these; options that are right; and one that is known. */
type Row = readonly [before: readonly unknown[], options: object, option: string];
const rows: Readonly<Record<string, Row>> = {
  checkUrl: [['https://a.example'], {}, 'origins'],
  createAudit: [[], { storage }, 'retentionMs'],
  createEventRing: [[], {}, 'capacity'],
  createGrounding: [[], { sources: [] }, 'weights'],
  createPlanner: [[], { storage, runAgent: () => ({ type: 'done', result: 1 }) }, 'authorize'],
  createRegistry: [[], { storage }, 'authorize'],
  createRules: [[[]], {}, 'otherwise'],
  createRuntime: [[], records, 'limits'],
  tryRules: [[[], []], {}, 'onProgress'],
  createToolIndex: [[[]], {}, 'thesaurus'],
  createTree: [[], { payloadTypes: {} }, 'historyLimit'],
  defineAgent: [[], agent, 'instructions'],
  defineTool: [[], tool, 'approval'],
  discoveryTools: [[{}], { active: new Set(), principal }, 'mostActive'],
  openTree: [[], { storage, treeId: 'a', payloadTypes: {} }, 'conflictScope'],
  readOutput: [[stream], {}, 'onPartial'],
  treeTools: [[{}], { agentId: 'a', role: 'reader' }, 'readOnly'],
  createContext: [[[]], {}, 'maxTokens'],
  forgetFile: [[grounding], { dataSourceId: 'a', storage, name: 'b' }, 'storage'],
  groundingTools: [[grounding], {}, 'dataSources'],
  ingest: [[grounding], { dataSourceId: 'a', storage, files: [] }, 'pieceLength'],
  parseCsv: [['a'], {}, 'separator'],
  perSubject: [[{}], {}, 'retentionMs'],
  modelAgent: [[{}], {}, 'agentId'],
  readPlanCall: [['finish', {}], {}, 'callId'],
  createEventBlocks: [[], { storage }, 'retentionMs'],
  createEventLog: [[], { storage }, 'retentionMs'],
  createHttpTool: [[{ id: 'a' }], { egress: {} }, 'random'],
  currentTimeTool: [[], {}, 'timeZone'],
  fetchUrlTool: [[], { egress: {}, any: true }, 'origins'],
  fromAiTool: [['a', { description: 'd', inputSchema: v.strictObject({}), execute: nothing }], {}, 'approval'],
  datasetOf: [[runtime], { runIds: [] }, 'runIds'],
  evaluate: [[], { cases: [], subject: nothing, checks: [] }, 'repeat'],
  runEvals: [[{ cases: '' }], { subject: nothing, checks: [] }, 'repeat'],
  recorded: [[{}], {}, 'models'],
  simulate: [[], { launch: nothing, drive: nothing, seeds: [] }, 'seeds'],
  virtualTime: [[], {}, 'start'],
  createBrowserRuntime: [[], { ...records, name: 'a', secrets: { resolve: nothing } }, 'format'],
  createNodeEndpoint: [
    [],
    { catalog, storage, authenticator: () => ({ authenticate: nothing }), exitOnStop: false },
    'databaseUrl',
  ],
  nodeEnvSecrets: [[], {}, 'prefix'],
  toNodeListener: [[nothing], {}, 'basePath'],
  consoleErrors: [[], {}, 'detail'],
  erasePerson: [[], { runtime }, 'grounding'],

  checkStored: [[storage], {}, 'onProgress'],
  upgradeStored: [[storage], {}, 'onProgress'],
  sweepOnRequest: [[{}], {}, 'report'],
  sweepDue: [[{ sweep: () => new Promise(nothing) }], {}, 'intervalMs'],
  sweepPlans: [[{ sweep: () => new Promise(nothing) }], {}, 'intervalMs'],
  httpCatalog: [[], { url: 'https://a.example' }, 'headers'],
  staticCatalog: [[], { agents: [], providers: [] }, 'mcpServers'],
  browserEgress: [[], {}, 'privateOrigins'],
  serverEgress: [[], {}, 'privateOrigins'],
  denoEgress: [[], {}, 'privateOrigins'],
  codeSource: [[], { id: 'a', tree: {} }, 'limits'],
  archiveTree: [[file], { repo: 'a' }, 'repo'],
  folderTree: [['.'], { repo: 'a' }, 'repo'],
  gitHubTree: [[], { owner: 'a', repo: 'b', ref: 'main', egress: {} }, 'origin'],
  handleTree: [[{ name: 'a' }], {}, 'repo'],
  createEmbedder: [[{ provider: 'p', modelId: 'm' }], {}, 'dimensions'],
  fileText: [[{ name: 'a.txt', bytes: file }], {}, 'onSkipped'],
  officeText: [[{ name: 'a.docx', bytes: file }], {}, 'onSkipped'],
  hashedEmbedder: [[], {}, 'dimensions'],
  openAiEmbedder: [[], { baseUrl: 'https://a.example/v1', model: 'm' }, 'dimensions'],
  recordSource: [[], { id: 'a', list: () => [] }, 'freshMs'],
  textSource: [[], { id: 'a' }, 'refreshMs'],
  vectorSource: [[], { id: 'a' }, 'embedder'],
  mcpConnector: [[], { egress: {} }, 'maxBytes'],
  mcpConnector2026: [[], { egress: {} }, 'maxBytes'],
  mcpResourceSource: [[], { id: 'a', server: 'b', catalog, connector: {} }, 'include'],
  mcpSignIn: [[], { egress: {}, redirectUris: ['https://a.example/callback'] }, 'clientName'],
  browserModelAvailability: [[], {}, 'languages'],
  prepareBrowserModel: [[], {}, 'onProgress'],
  serveBrowserModel: [[port], {}, 'languages'],
  guardedModelFetch: [[], { egress: {}, baseUrl: 'https://a.example/v1' }, 'privateOrigins'],
  openAiCompatible: [[], { baseUrl: 'https://a.example/v1', model: 'm' }, 'headers'],
  createCompatibleModel: [[], { baseUrl: 'https://a.example/v1', model: 'm' }, 'headers'],
  rehearsal: [[], {}, 'delayMs'],
  modelSource: [[], {}, 'privateOrigins'],
  denoSandbox: [[], {}, 'maxMemoryMb'],
  nodeSandbox: [[], {}, 'maxMemoryMb'],
  denoEnvSecrets: [[], {}, 'prefix'],
  httpSecrets: [[], { url: 'https://a.example' }, 'headers'],
  vaultSecrets: [[], { name: 'a' }, 'indexedDB'],
  skills: [[{ 'a/SKILL.md': '---\nname: a\ndescription: d\n---' }], {}, 'reads'],
  consoleSink: [[], {}, 'format'],
  eventStore: [[], { storage }, 'retentionMs'],
  httpSink: [[], { url: 'https://a.example' }, 'timeoutMs'],
  memorySink: [[], {}, 'capacity'],
  otelSink: [[], {}, 'tracerProvider'],
  otelMetrics: [[], {}, 'meterProvider'],
  queuedSink: [[nothing], {}, 'batchSize'],
  storageSink: [[], { storage }, 'retentionMs'],
  denoKvStorage: [[], {}, 'onError'],
  durableObjectStorage: [[], { storage: { sql: { exec: () => ({ toArray: () => [] }) } } }, 'table'],
  etcdStorage: [[], { endpoints: ['https://10.0.0.1:2379'] }, 'prefix'],
  indexedDbStorage: [[], { name: 'a' }, 'format'],
  memoryStorage: [[], {}, 'maxEntries'],
  postgresStorage: [[], { connect: () => ({}) }, 'pollMs'],
  createAuthenticator: [[], { issuers: [], audience: 'a', authorities: ['a'], storage }, 'subjectOf'],
  bearerAuthenticator: [[], { tokens: [] }, 'tokens'],
  developmentAuthenticator: [[], { token: text }, 'token'],
  jwtAuthenticator: [[], { issuer: 'a', audience: 'a', keys: { keys: [] }, principalOf: nothing }, 'requiredScopes'],
  sessionAuthenticator: [[], { lookup: nothing }, 'lookup'],
  createClient: [[], { url: 'https://a.example', credentials: { bearer: 'x' } }, 'agentId'],
  connectRuntime: [[port], {}, 'agentId'],
  createHandler: [[runtime], { authenticator: { authenticate: nothing } }, 'origins'],
  createIssuer: [[], { iss: 'a', audience: 'b' }, 'deployment'],
  templateResources: [[], { uriTemplate: 'a://{id}', name: 'A', read: nothing }, 'complete'],
  treeResources: [[], { tree: nothing }, 'nameOf'],
  createMcpEndpoint: [[{}], {}, 'keepAliveMs'],
  offerAgentTools: [[port], { context: {} }, 'confirm'],
  servePageTools: [[port], { context: {} }, 'context'],
  pageToolsConnector: [[], { url: 'page://tools' }, 'others'],
  serveAgentTools: [[port], { runtime, agentId: 'a', principal }, 'only'],
};

/** Those without options that a person writes, and why. */
const others: Readonly<Record<string, readonly string[]>> = {
  'take no options': [
    'contentOutput',
    'useInbox',
    'localPrincipal',
    'fromData',
    'guardRules',
    'toData',
    'createThesaurus',
    'fitCalibration',
    'parsePartialJson',
    'calculatorTool',
    'loadExtension',
    'narrowEgress',
    'needsApproval',
    'requireDestination',
    'compare',
    'expectPass',
    'fromJsonLines',
    'storageTape',
    'textTape',
    'toJsonLines',
    'toTable',
    'wilson',
    'expectNoFailures',
    'faulty',
    'toText',
    'reportTo',
    'hashedVector',
    'browserModel',
    'workerSandbox',
    'eventIds',
    'gaugeSink',
    'digestOfToken',
    'withStoredFiles',
    'generateRootKey',
    'groundingResources',
    'listedResources',
    'messagePortTransport',
    'modelContext',
    'exposeRuntime',
    'createRedactor',
    'memorySecrets',
    'readSkills',
    'reviewSkills',
  ],
  "take a record, whose names are the caller's or its schema's": [
    'createPrincipal',
    'toIndexedTool',
    'authenticateByScheme',
  ],
  'take what the runtime itself passes with each call': ['invokeTool', 'prepareCall', 'toProblem', 'serveMcp'],
  'run elsewhere': ['createDenoEndpoint'],
};

/** What a call throws or rejects with; `undefined` where it accepts its options. */
async function refusalOf(name: string, options: object): Promise<unknown> {
  try {
    const result = functions.get(name)?.(...(rows[name]?.[0] ?? []), options);
    (result as Partial<Disposable> | undefined)?.[Symbol.dispose]?.(); // time that is virtual
    if (name === 'offerAgentTools' && options === rows[name]?.[1]) return undefined; // waits for the other side of its port
    const made = await result;
    if (name === 'createNodeEndpoint') await (made as { readonly close: () => Promise<void> }).close();
    return undefined;
  } catch (thrown) {
    return thrown;
  }
}

describe('an option that is not known', () => {
  it('is refused by every public function: each has its place in this file', () => {
    const named = [...Object.keys(rows), ...Object.values(others).flat()];
    expect(new Set(named)).toEqual(new Set(functions.keys()));
    expect(new Set(named).size).toBe(named.length);
  });

  it.each(Object.entries(rows))('is refused by %s with the nearest name', async (name, [, options, option]) => {
    const misspelt = `${option.slice(0, -1)}_`;
    const thrown = await refusalOf(name, { ...options, [misspelt]: 1 });
    expect(thrown).toBeInstanceOf(PinnaceError);
    expect(thrown).toMatchObject({ code: 'invalid_argument' });
    expect((thrown as PinnaceError).message).toContain(misspelt);
    expect((thrown as PinnaceError).message).toContain(option);
  });

  it.each(Object.entries(rows))('is the only thing that %s refuses', async (name, [, options]) => {
    const thrown = await refusalOf(name, options);
    expect(thrown instanceof PinnaceError ? thrown.details?.['reason'] : undefined).not.toBe('wrong_argument');
  });
});
