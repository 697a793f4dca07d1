import { tool } from 'ai';
import * as v from 'valibot';
import { fakeModel } from '../../contracts/index.ts';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { modelSource } from '../../../adapters/models/source.ts';
import { textSource } from '../../../adapters/grounding/text.ts';
import { staticCatalog } from '../../../adapters/catalog/static.ts';
import {
  createAudit,
  createGrounding,
  createPlanner,
  createRedactor,
  createRegistry,
  createRules,
  createRuntime,
  defineAgent,
  defineTool,
  localPrincipal,
  readOutput,
} from '../../../src/index.ts';
import { expectMistakes, untyped } from './expect-mistakes.ts';

const input = v.strictObject({ a: v.string() });
const aiTool = tool({ description: 'd', inputSchema: input, execute: () => 1 });
const toolWith = (options: object) => () => defineTool(untyped({ id: 'a', description: 'd', ...options }));
const made = (parts: object) => toolWith({ input, execute: () => 1, ...parts });

const definition = 'Cannot read the definition of tool "a"';
const schemas =
  'Cannot define tool "a": its input must be a schema of Zod 4.2 or later, Valibot, ArkType, or a JSON Schema';

expectMistakes('defineTool', [
  [
    'no options',
    () => defineTool(untyped(undefined)),
    'Cannot define a tool: the options are missing; pass { id, input, execute }',
  ],
  [
    'the function first',
    () => defineTool(untyped(() => 1)),
    'Cannot define a tool: the options are a function; pass { id, input, execute }',
  ],
  ...['inputSchema', 'parameters', 'schema'].map((name) =>
    [
      name,
      toolWith({ [name]: input, execute: () => 1 }),
      `Cannot define tool "a": "input" is missing, but "${name}" is given; rename it to "input"`,
    ] as const
  ),
  [
    'no input',
    toolWith({ execute: () => 1 }),
    'Cannot define tool "a": "input" is missing; pass a schema of an object',
  ],
  [
    'no execute',
    toolWith({ input }),
    'Cannot define tool "a": "execute" is missing; pass a function (input, context) => output',
  ],
  [
    'func',
    toolWith({ input, func: () => 1 }),
    'Cannot define tool "a": "execute" is missing, but "func" is given; rename it to "execute"',
  ],
  [
    'execute as a text',
    made({ execute: 'x' }),
    'Cannot define tool "a": "execute" is a string; pass a function (input, context) => output',
  ],
  ['undo as a number', made({ undo: 1 }), 'Cannot define tool "a": "undo" is a number; pass { execute }'],
  [
    'undo as a function',
    made({ undo: () => 1 }),
    'Cannot define tool "a": "undo" is a function; pass { execute }',
  ],
  [
    'undo without execute',
    made({ undo: { exec: () => 1 } }),
    'Cannot define tool "a", "undo": "execute" is missing; pass a function (input, output, context) => result',
  ],
  [
    'undo with more',
    made({ undo: { execute: () => 1, describes: () => 1 } }),
    'Cannot define tool "a", "undo": "describes" is not known here; use "describe"',
  ],
  [
    'describe as a text',
    made({ describe: 'x' }),
    'Cannot define tool "a": "describe" is a string; pass a function (input, context) => { quote }',
  ],
  [
    'name instead of id',
    made({ id: undefined, name: 'a' }),
    'Cannot define a tool: "id" is missing, but "name" is given; rename it to "id"',
  ],
  [
    'a schema as outputSchema',
    made({ outputSchema: input }),
    'Cannot define tool "a": "outputSchema" takes a JSON Schema; rename it to "output"',
  ],
  ['no description', made({ description: undefined }), `${definition}: "description" is missing`],
  ['needsApproval', made({ needsApproval: true }), `${definition}: "needsApproval" is not known here; use "approval"`],
  [
    'fields without an object',
    made({ input: { a: v.string() } }),
    `${schemas}: it is a list of fields; wrap it, as z.object({ … })`,
  ],
  ['the schema of a text', made({ input: v.string() }), `${schemas}: it must describe an object`],
]);

const record = { id: 'helper', name: 'Helper', providerId: 'p' };
const catalog = () => staticCatalog({ agents: [record], providers: [{ id: 'p', kind: 'rehearsal' }] });
const catalogWith = (more: object) =>
  staticCatalog({ agents: [{ ...record, ...more }], providers: [{ id: 'p', kind: 'rehearsal' }] });
const handbook = createGrounding({ sources: [textSource({ id: 'handbook' })] });
const base = () => ({ catalog: catalog(), models: modelSource(), storage: memoryStorage() });
const runtimeWith = (parts: object) => () => createRuntime(untyped({ ...base(), ...parts }));
const runtime = 'Cannot compose the runtime';
const aModelSource = 'pass a model source, such as modelSource()';
const aCatalog = 'pass a catalog, such as staticCatalog({ agents, providers })';
const aStorage = 'pass a storage, such as memoryStorage()';

expectMistakes('createRuntime', [
  ['another keep', runtimeWith({ keep: 'input' }), `${runtime}: "keep" must be "stream" or "inputs"`],
  [
    'a negative limit',
    runtimeWith({ limits: { totalMs: -1 } }),
    `${runtime}: "limits.totalMs" must be a number, 0 or more`,
  ],
  [
    'no options',
    () => createRuntime(untyped(undefined)),
    `${runtime}: the options are missing; pass { catalog, models, storage }`,
  ],
  [
    'a data source without a grounding',
    runtimeWith({ catalog: catalogWith({ dataSources: ['handbok'] }) }),
    `${runtime}: agent "helper" names the data source "handbok" in "dataSources", which does not exist; pass createRuntime({ grounding })`,
  ],
  [
    'a data source that the grounding does not have',
    runtimeWith({ catalog: catalogWith({ dataSources: ['handbok'] }), grounding: handbook }),
    `${runtime}: agent "helper" names the data source "handbok" in "dataSources", which does not exist; use "handbook"`,
  ],
  [
    'a limit above that of the runtime',
    runtimeWith({ catalog: catalogWith({ limits: { steps: 100 } }) }),
    `${runtime}: agent "helper" has "limits.steps" 100, and the runtime allows 16; lower it, or pass createRuntime({ limits: { steps: 100 } })`,
  ],
  ['no models', runtimeWith({ models: undefined }), `${runtime}: "models" is missing; ${aModelSource}`],
  [
    'a model as models',
    runtimeWith({ models: fakeModel().model }),
    `${runtime}: "models" is an object; ${aModelSource}`,
  ],
  [
    'model instead of models',
    runtimeWith({ models: undefined, model: 'gpt' }),
    `${runtime}: "models" is missing, but "model" is given; rename it to "models"`,
  ],
  [
    'tool instead of tools',
    runtimeWith({ tool: [] }),
    `${runtime}: "tools" is missing, but "tool" is given; rename it to "tools"`,
  ],
  ['no catalog', runtimeWith({ catalog: undefined }), `${runtime}: "catalog" is missing; ${aCatalog}`],
  ['records as catalog', runtimeWith({ catalog: [record] }), `${runtime}: "catalog" is an array; ${aCatalog}`],
  [
    'a promised catalog',
    runtimeWith({ catalog: Promise.resolve() }),
    `${runtime}: "catalog" is a promise, so await it; ${aCatalog}`,
  ],
  ['no storage', runtimeWith({ storage: undefined }), `${runtime}: "storage" is missing; ${aStorage}`],
  ['a factory as storage', runtimeWith({ storage: memoryStorage }), `${runtime}: "storage" is a function; ${aStorage}`],
  ['null as storage', runtimeWith({ storage: null }), `${runtime}: "storage" is null; ${aStorage}`],
  [
    'a tool of the AI SDK',
    runtimeWith({ tools: [aiTool] }),
    `${runtime}: "tools.0" is a tool of the AI SDK; pass fromAiTool(id, tool) of "pinnace/tools"`,
  ],
  [
    'a ToolSet',
    runtimeWith({ tools: { a: aiTool } }),
    `${runtime}: "tools" is an object; pass an array of tools, such as [add]`,
  ],
  ['the name of a tool', runtimeWith({ tools: ['a'] }), `${runtime}: "tools.0" is no tool; make one with defineTool`],
  [
    'the options of a tool',
    runtimeWith({ tools: [{ id: 'a', input }] }),
    `${runtime}: "tools.0" is no tool; make one with defineTool`,
  ],
  [
    'agents by name',
    runtimeWith({ agents: {} }),
    `${runtime}: "agents" is an object; pass an array of agents of defineAgent`,
  ],
  [
    'records as agents',
    runtimeWith({ agents: [record] }),
    `${runtime}: "agents.0" is no agent of defineAgent; records belong into the catalog`,
  ],
  [
    'one sink',
    runtimeWith({ sinks: () => undefined }),
    `${runtime}: "sinks" is a function; pass an array of functions, such as [consoleSink()]`,
  ],
  [
    'a sink that is none',
    runtimeWith({ sinks: [() => undefined, undefined] }),
    `${runtime}: "sinks[1]" is no function; pass (event) => …`,
  ],
  [
    'rules as data',
    runtimeWith({ authorize: [] }),
    `${runtime}: "authorize" is an array; pass a function, such as createRules([ … ])`,
  ],
  [
    'a console as onError',
    runtimeWith({ onError: console }),
    `${runtime}: "onError" is an object; pass a function, such as consoleErrors()`,
  ],
  [
    'a text as a limit',
    runtimeWith({ limits: { steps: '3' } }),
    `${runtime}: "limits.steps" must be a number, 0 or more`,
  ],
  ['NaN as a limit', runtimeWith({ limits: { steps: NaN } }), `${runtime}: "limits.steps" must be a number, 0 or more`],
]);

const agentWith = (parts: object) => () => defineAgent(untyped({ ...record, ...parts }));
const agent = 'Cannot read agent "helper"';

expectMistakes('defineAgent', [
  ['no options', () => defineAgent(untyped(undefined)), 'Cannot define an agent: the options are missing; pass { id }'],
  [
    'no id',
    agentWith({ id: undefined }),
    'Cannot define an agent: "id" is missing; pass what requests name as "agentId"',
  ],
  ...['system', 'systemPrompt', 'prompt'].map((name) =>
    [name, agentWith({ [name]: 'x' }), `${agent}: "${name}" is not known here; use "instructions"`] as const
  ),
  ['code as tools', agentWith({ tools: [{}] }), `${agent}: "tools" is not known here; use "entryTools", a list of ids`],
  [
    'tools beside entryTools',
    agentWith({ tools: ['a'], entryTools: ['b'] }),
    `${agent}: "tools" is not known here; use "entryTools", a list of ids`,
  ],
  ['temperature', agentWith({ temperature: 0 }), `${agent}: "temperature" is not known here; use "modelSettings"`],
  ['maxSteps', agentWith({ maxSteps: 3 }), `${agent}: "maxSteps" is not known here; use "limits.steps"`],
  [
    'a list of conditions',
    agentWith({ stopWhen: [] }),
    'Cannot define agent "helper": "stopWhen" is an array; pass a function (steps) => boolean',
  ],
  ['a list of instructions', agentWith({ instructions: ['x'] }), `${agent}: "instructions" must be a string`],
]);

const good = { id: 'm', role: 'user', parts: [{ type: 'text', text: 'Hello' }] };
const runWith = (request: unknown) => () => createRuntime(base()).run(untyped(request), localPrincipal());
const chatOf = (message: unknown) => ({ agentId: 'helper', chat: { id: 'c', messages: [message] } });

expectMistakes('run', [
  [
    'content instead of parts',
    runWith(chatOf({ id: 'm', role: 'user', content: 'Hello' })),
    'Cannot read the run request: "chat.messages.0.parts" is missing; use [{ type: "text", text }] and no "content"',
  ],
  [
    'messages without a chat',
    runWith({ agentId: 'helper', messages: [good] }),
    'Cannot read the run request: "chat" is missing; use { id, messages }',
  ],
  [
    'agent instead of agentId',
    runWith({ agent: 'helper', chat: chatOf(good).chat }),
    'Cannot read the run request: "agentId" is missing; use the id of an agent',
  ],
  [
    'the schema of a library as output',
    runWith({ ...chatOf(good), output: { schema: input } }),
    'Cannot read the run request: "output.schema" takes a JSON Schema, such as z.toJSONSchema(schema)',
  ],
  [
    'the schema of a library itself as output',
    runWith({ ...chatOf(good), output: input }),
    'Cannot read the run request: "output" takes { schema }, with a JSON Schema, such as { schema: z.toJSONSchema(schema) }',
  ],
  [
    'a schema alone as output',
    runWith({ ...chatOf(good), output: { type: 'object' } }),
    'Cannot read the run request: "output.schema" is missing; use { schema }, with a JSON Schema',
  ],
  [
    'a promised stream',
    () => readOutput(untyped(createRuntime(base()).run(untyped(chatOf(good)), localPrincipal()))),
    'Cannot read the answer: "stream" is a promise, so await it; pass the stream, such as await runtime.run( … )',
  ],
]);

const plannerWith = (parts: object) => () => createPlanner(untyped({ storage: memoryStorage(), ...parts }));

expectMistakes('the rooms', [
  [
    'no planner options',
    () => createPlanner(untyped(undefined)),
    'Cannot create the planner: the options are missing; pass { storage, runAgent }',
  ],
  [
    'a planner without work',
    plannerWith({}),
    'Cannot create the planner: "runAgent" is missing; pass a function, such as modelAgent( … )',
  ],
  [
    'a registry without storage',
    () => createRegistry(untyped({})),
    `Cannot create the registry: "storage" is missing; ${aStorage}`,
  ],
  [
    'an audit without storage',
    () => createAudit(untyped({})),
    `Cannot create the audit: "storage" is missing; ${aStorage}`,
  ],
  [
    'grounding without sources',
    () => createGrounding(untyped({})),
    'Cannot create the grounding: "sources" is missing; pass an array of sources, such as [textSource({ … })]',
  ],
  [
    'rules by name',
    () => createRules(untyped({})),
    'Cannot create the rules: "rules" is an object; pass an array of rules',
  ],
  [
    'a redactor without secrets',
    () => createRedactor(untyped(undefined)),
    'Cannot create the redactor: "secrets" is missing; pass an array of { id, value }',
  ],
]);

expectMistakes('callers', [
  [
    'a plan without a principal',
    () =>
      createPlanner({ storage: memoryStorage(), runAgent: async () => ({ type: 'done', result: 1 }) }).run({
        goal: 'x',
      }, untyped(undefined)),
    'Cannot accept the caller: pass the principal of an authenticator, or localPrincipal()',
  ],
  [
    'a principal as a literal',
    () => createRuntime(base()).run(untyped(chatOf(good)), untyped({ ...localPrincipal() })),
    'Cannot accept the caller: pass the principal of an authenticator, or localPrincipal()',
  ],
], 'unauthenticated');
