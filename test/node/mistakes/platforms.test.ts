import { createBrowserRuntime } from '../../../adapters/browser.ts';
import { createDenoEndpoint } from '../../../adapters/deno.ts';
import { createNodeEndpoint, toNodeListener } from '../../../adapters/node.ts';
import { staticCatalog } from '../../../adapters/catalog/static.ts';
import { openAiCompatible } from '../../../adapters/models/openai-compatible.ts';
import { modelSource } from '../../../adapters/models/source.ts';
import { memorySecrets } from '../../../adapters/secrets/memory.ts';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { bearerAuthenticator } from '../../../adapters/transport/bearer-authenticator.ts';
import { defineAgent, defineTool } from '../../../src/index.ts';
import { fakeModel, readRun } from '../../contracts/index.ts';
import { expectMistakes, untyped } from './expect-mistakes.ts';

const agent = { id: 'helper', name: 'Helper', providerId: 'p' };
const rehearsal = { id: 'p', kind: 'rehearsal' } as const;
const catalogOf = (parts: object) => () =>
  staticCatalog(untyped({ agents: [agent], providers: [rehearsal], ...parts }));
const catalog = 'Cannot create the catalog';
const tool = () => defineTool({ id: 'a', description: 'd', input: { type: 'object' }, execute: () => 1 });

expectMistakes('staticCatalog', [
  [
    'no options',
    () => staticCatalog(untyped(undefined)),
    `${catalog}: the options are missing; pass { agents, providers }`,
  ],
  ['no providers', catalogOf({ providers: undefined }), `${catalog}: "providers" is missing; pass an array of records`],
  [
    'agents by name',
    catalogOf({ agents: { helper: agent } }),
    `${catalog}: "agents" is an object; pass an array of records`,
  ],
  [
    'an agent in code',
    catalogOf({ agents: [defineAgent(agent)] }),
    `${catalog}: "agents.0" is code; pass it to createRuntime({ agents })`,
  ],
  [
    'a tool in code',
    catalogOf({ tools: [tool()] }),
    `${catalog}: "tools.0" is code; pass it to createRuntime({ tools })`,
  ],
  [
    'an agent without its provider',
    catalogOf({ agents: [{ ...agent, providerId: 'main' }] }),
    `${catalog}: agent "helper" names the provider "main"; the providers are: p`,
  ],
  [
    'a fallback without its provider',
    catalogOf({ agents: [{ ...agent, fallbacks: [{ providerId: 'other' }] }] }),
    `${catalog}: agent "helper" names the provider "other"; the providers are: p`,
  ],
  [
    'a server without an address',
    catalogOf({ providers: [{ id: 'p', kind: 'openai-compatible', model: 'm' }] }),
    `${catalog}: provider "p" has no "baseUrl"; pass one, such as "https://api.example.com/v1"`,
  ],
  [
    'apiKey',
    catalogOf({ providers: [{ ...rehearsal, apiKey: 'k' }] }),
    'Cannot read provider 0: "apiKey" is not known here; use "secret", the name of a secret',
  ],
  [
    'baseURL',
    catalogOf({ providers: [{ ...rehearsal, baseURL: 'x' }] }),
    'Cannot read provider 0: "baseURL" is not known here; use "baseUrl"',
  ],
  [
    'the value of a secret',
    catalogOf({ providers: [{ ...rehearsal, secret: 'sk-1' }] }),
    'Cannot read provider 0: "secret" must be { id }, the name of a secret',
  ],
]);

const source = 'Cannot create the model source';
const example = 'modelSource({ custom: { main: () => model } })';

expectMistakes('models', [
  [
    'a model alone',
    () => modelSource(untyped(fakeModel().model)),
    `${source}: a model needs the id of its provider; pass ${example}`,
  ],
  [
    'a key',
    () => modelSource(untyped({ apiKey: 'k' })),
    `${source}: "apiKey" is not known here; there are custom, rehearsal, egress, privateOrigins`,
  ],
  [
    'a model that is no function',
    () => modelSource(untyped({ custom: { p: fakeModel().model } })),
    `${source}: "custom.p" must be a function, as ${example}`,
  ],
  [
    'one private origin',
    () => modelSource(untyped({ privateOrigins: 'loopback' })),
    `${source}: "privateOrigins" is a string; pass an array of origins, such as ["http://127.0.0.1:11434"]`,
  ],
  [
    'baseURL',
    () => openAiCompatible(untyped({ baseURL: 'https://api.example.com/v1', model: 'm' })),
    'Cannot create the model: "baseUrl" is missing, but "baseURL" is given; rename it to "baseUrl"',
  ],
  [
    'no model',
    () => openAiCompatible(untyped({ baseUrl: 'https://api.example.com/v1' })),
    'Cannot create the model: "model" is missing; pass the name of the model',
  ],
]);

const custom = { id: 'main', kind: 'custom', version: '1', state: 'active', revision: 1 } as const;

expectMistakes('a provider of kind "custom"', [
  [
    'no model',
    () => modelSource().model(custom, undefined),
    'Cannot serve provider "main": "custom" has no model for it; pass modelSource({ custom: { "main": () => model } })',
  ],
  [
    'a model under another id',
    () => modelSource({ custom: { other: () => fakeModel().model } }).model(custom, undefined),
    'Cannot serve provider "main": "custom" has no model for it; pass modelSource({ custom: { "main": () => model } }); ' +
    'it has "other"',
  ],
]);

const authenticator = () => bearerAuthenticator({ tokens: [] });
const nodeWith = (parts: object) => () =>
  createNodeEndpoint(untyped({
    catalog: catalogOf({})(),
    authenticator,
    storage: memoryStorage(),
    exitOnStop: false,
    ...parts,
  }));
const endpoint = 'Cannot create the endpoint';
const returned = `${endpoint} with what "authenticator" and "tools" return`;
const anAuthenticator = 'pass an authenticator, such as bearerAuthenticator({ tokens })';
const aFunction = 'pass a function, such as () => bearerAuthenticator({ tokens })';
const aCatalog = 'pass a catalog, such as staticCatalog({ agents, providers }), or a function (storage) => registry';

expectMistakes('createNodeEndpoint', [
  [
    'no options',
    () => createNodeEndpoint(untyped(undefined)),
    `${endpoint}: the options are missing; pass { catalog, authenticator }`,
  ],
  [
    'tools alone',
    () => createNodeEndpoint(untyped({ tools: () => [] })),
    `${endpoint}: "catalog" is missing; ${aCatalog}`,
  ],
  ['no authenticator', nodeWith({ authenticator: undefined }), `${endpoint}: "authenticator" is missing; ${aFunction}`],
  [
    'an authenticator that is no function',
    nodeWith({ authenticator: authenticator() }),
    `${endpoint}: "authenticator" is an object; ${aFunction}`,
  ],
  [
    'a function without a result',
    nodeWith({ authenticator: () => undefined }),
    `${returned}: "authenticator" is missing; ${anAuthenticator}`,
  ],
  [
    'an asynchronous authenticator',
    nodeWith({ authenticator: async () => authenticator() }),
    `${returned}: "authenticator" is a promise, so await it; ${anAuthenticator}`,
  ],
  [
    'asynchronous tools',
    nodeWith({ tools: async () => [] }),
    `${returned}: "tools" is a promise, so await it; pass an array of tools`,
  ],
  [
    'an option of another spelling',
    nodeWith({ authorise: () => 'deny' }),
    `${endpoint}: "authorize" is missing, but "authorise" is given; rename it to "authorize"`,
  ],
  [
    'a misspelled option of the handler',
    nodeWith({ origin: [] }),
    `${endpoint}: "origin" is not known here; use "origins"`,
  ],
  ['an option of nothing', nodeWith({ colour: 'red' }), `${endpoint}: "colour" is not known here`],
  [
    'a listener without a handler',
    () => toNodeListener(untyped(undefined)),
    'Cannot create the listener: "handler" is missing; pass the handler of an endpoint',
  ],
  [
    'a listener below a path without its slash',
    () => toNodeListener(untyped(() => undefined), { basePath: 'agents' }),
    'Cannot create the listener: "basePath" must start with "/", as "/agents"',
  ],
  [
    'a private origin outside a list',
    nodeWith({ privateOrigins: 'http://127.0.0.1:1' }),
    `${endpoint}: "privateOrigins" is a string; pass an array of origins, such as ["http://127.0.0.1:11434"]`,
  ],
]);

const page = 'Cannot create the runtime of the page';
const pageWith = (parts: object) => () =>
  createBrowserRuntime(untyped({ name: 'x', catalog: catalogOf({})(), secrets: memorySecrets(), ...parts }));

expectMistakes('createBrowserRuntime', [
  [
    'no options',
    () => createBrowserRuntime(untyped(undefined)),
    `${page}: the options are missing; pass { name, catalog }`,
  ],
  ['no name', pageWith({ name: undefined }), `${page}: "name" is missing; pass a name for the database`],
  [
    'no catalog',
    pageWith({ catalog: undefined }),
    `${page}: "catalog" is missing; pass a catalog, such as staticCatalog({ agents, providers })`,
  ],
  [
    'tools by name',
    pageWith({ tools: {} }),
    `${page}: "tools" is an object; pass an array of tools, or a function (storage) => [add]`,
  ],
  ['a misspelled option', pageWith({ budget: [] }), `${page}: "budget" is not known here; use "budgets"`],
]);

expectMistakes('createDenoEndpoint', [
  [
    'a call on Node',
    () => createDenoEndpoint({ catalog: catalogOf({})(), authenticator }),
    `${endpoint}: this is not Deno; on Node, use createNodeEndpoint of "pinnace/node"`,
  ],
], 'unavailable');

expectMistakes('pinnace/testing', [
  [
    'answers as an array',
    () => fakeModel(untyped(['first', 'second'])),
    'Cannot create the fake model: an answer is an array; pass the answers one by one, as fakeModel("first", "second")',
  ],
  [
    'a promised stream',
    () => readRun(untyped(Promise.resolve())),
    'Cannot read the run: "stream" is a promise, so await it; pass the stream, such as await runtime.run( … )',
  ],
]);
