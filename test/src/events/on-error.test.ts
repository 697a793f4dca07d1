import * as v from 'valibot';
import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { describe, expect, it } from 'vitest';
import { staticCatalog } from '../../../adapters/catalog/static.ts';
import { memorySink } from '../../../adapters/sinks/memory.ts';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import {
  createAudit,
  createRuntime,
  type CreateRuntimeOptions,
  defineTool,
  type Egress,
  localPrincipal,
  type OnError,
  PinnaceError,
} from '../../../src/index.ts';
import { definition } from '../../fixtures/tools/http-tool.ts';
import { callsTools, says, type ScriptedModel, scriptedModel, streamOf } from '../../fixtures/model.ts';
import { readAll, runRequest } from '../../fixtures/runtime.ts';

type Context = Parameters<OnError>[1];
type Part = LanguageModelV4StreamPart;

const canary = 'canary-5b1d3f';
const me = localPrincipal();
const bug = (): TypeError => new TypeError(`${canary} is not a function`);
const throwIt = (cause: unknown) => (): never => {
  throw cause;
};
const look = (execute: () => unknown) =>
  defineTool({
    id: 'look',
    description: 'Looks',
    input: v.strictObject({}),
    annotations: { readOnlyHint: true },
    execute,
  });
const callsLook = callsTools({ tool: 'look', input: {} });

function recorder() {
  const reports: { readonly cause: unknown; readonly context: Context }[] = [];
  const onError: OnError = (cause, context) => void reports.push({ cause, context });
  return { reports, onError };
}

/** Everything that a run leaves, as text. */
async function leftBy(
  { model, calls }: ScriptedModel,
  { storage = memoryStorage(), sinks = [], agent = {}, ...options }: Partial<CreateRuntimeOptions> & { agent?: object },
) {
  const { sink, events } = memorySink();
  const audit = createAudit({ storage });
  const runtime = createRuntime({
    catalog: staticCatalog({
      agents: [{ id: 'helper', name: 'Helper', providerId: 'default', entryTools: ['*'], ...agent }],
      providers: [{ id: 'default', kind: 'custom' }],
    }),
    models: { model: () => model },
    storage,
    audit,
    sinks: [...sinks, sink],
    limits: { modelRetries: 0, storageGraceMs: 50 },
    ...options,
  });
  const chunks = await runtime.run(runRequest(), me).then(readAll, (error: unknown) => [{ rejected: error }]);
  await runtime.close();
  const stored = await storage.list({ prefix: [], limit: 1000 });
  return JSON.stringify({
    chunks,
    events,
    stored,
    prompts: calls.map(({ prompt }) => prompt),
    audit: await audit.log(me.tenant).list({}).then(({ items: entries }) => entries, () => []),
  });
}

describe('onError', () => {
  const cases: readonly [
    string,
    (cause: unknown) => [ScriptedModel, Parameters<typeof leftBy>[1]],
    Partial<Context>,
  ][] = [
    [
      'a tool',
      (cause) => [scriptedModel(callsLook, says('ok')), { tools: [look(throwIt(cause))] }],
      { kind: 'tool', id: 'look', step: 1 },
    ],
    [
      'the check of a tool’s input',
      (cause) => [
        scriptedModel(callsLook, says('ok')),
        { tools: [{ ...look(() => 'never'), check: throwIt(cause) }] },
      ],
      { kind: 'tool', id: 'look', step: 1 },
    ],
    [
      'authorize',
      (cause) => [scriptedModel(callsLook, says('ok')), { tools: [look(() => 1)], authorize: throwIt(cause) }],
      { kind: 'hook', id: 'authorize' },
    ],
    [
      'authorize that rejects',
      (cause) => [
        scriptedModel(callsLook, says('ok')),
        { tools: [look(() => 1)], authorize: () => Promise.reject(cause) },
      ],
      { kind: 'hook', id: 'authorize' },
    ],
    ['a model that throws', (cause) => [scriptedModel(throwIt(cause)), {}], {
      kind: 'model',
      id: 'scripted',
      step: 1,
      attempt: 1,
    }],
    [
      'a model whose stream breaks',
      (cause) => [
        scriptedModel(() =>
          new ReadableStream<Part>({
            start(controller) {
              for (const part of says('Hello').slice(0, 3)) controller.enqueue(part);
            },
            pull: (controller) => controller.error(cause),
          }, { highWaterMark: 0 })
        ),
        {},
      ],
      { kind: 'model', id: 'scripted', step: 1, attempt: 1 },
    ],
    [
      'a model that reports an error',
      (error) => [scriptedModel(() => streamOf<Part>([...says('Hello').slice(0, 3), { type: 'error', error }])), {}],
      { kind: 'model', id: 'scripted', step: 1, attempt: 1 },
    ],
    [
      'a tool that says whether it is available',
      (cause) => [scriptedModel(says('ok')), { tools: [{ ...look(() => 1), isAvailable: throwIt(cause) }] }],
      { kind: 'run' },
    ],
  ];

  it.each(cases)('receives what %s throws, once, and nothing else contains it', async (_name, scene, context) => {
    const { reports, onError } = recorder();
    const cause = bug();
    const [model, options] = scene(cause);
    const left = await leftBy(model, { ...options, onError });
    expect(reports).toHaveLength(1);
    expect(reports[0]?.cause).toBe(cause);
    expect(reports[0]?.context).toMatchObject({
      ...context,
      runId: expect.stringMatching(/^run_/),
      traceId: expect.any(String),
    });
    expect(left).toContain('"chunks":[{');
    expect(left).not.toContain(canary);
  });

  it.each<[string, (cause: unknown) => Partial<CreateRuntimeOptions>, Partial<Context>]>([
    ['a sink', (cause) => ({ sinks: [throwIt(cause)] }), { kind: 'sink' }],
    ['a sink that rejects', (cause) => ({ sinks: [() => Promise.reject(cause) as never] }), { kind: 'sink' }],
    [
      'a catalog',
      (cause) => ({ catalog: { ...staticCatalog({ agents: [], providers: [] }), agent: throwIt(cause) } }),
      { kind: 'catalog', id: 'agent' },
    ],
    ['a source of models', (cause) => ({ models: { model: throwIt(cause) } }), { kind: 'model', id: 'model' }],
  ])('receives what %s throws, and nothing else contains it', async (_name, scene, context) => {
    const { reports, onError } = recorder();
    const cause = bug();
    const left = await leftBy(scriptedModel(says('ok')), { ...scene(cause), onError });
    expect(reports[0]).toMatchObject({ context });
    expect(new Set(reports.map((report) => report.cause))).toEqual(new Set([cause]));
    expect(reports[0]?.cause).toBe(cause);
    expect(left).not.toContain(canary);
  });

  it.each<[string, OnError]>([
    ['throws', throwIt(bug())],
    ['rejects', () => Promise.reject(bug()) as never],
  ])('that itself %s changes nothing', async (_name, onError) => {
    const left = await leftBy(scriptedModel(callsLook, says('fine')), { tools: [look(throwIt(bug()))], onError });
    expect(left).toContain('"finish"');
    expect(left).toContain('fine');
  });

  it('receives the failures of requests that an HTTP tool repeats', async () => {
    const { reports, onError } = recorder();
    const cause = bug();
    const failures = [new PinnaceError('unavailable', 'No', { cause }), new PinnaceError('unavailable', 'Away')];
    const { message } = failures[1]!; // safe: there are two
    const egress: Egress = {
      fetch: () => {
        const failure = failures.shift();
        return failure ? Promise.reject(failure) : Promise.resolve(Response.json({ ok: true }));
      },
    };
    const asks = { name: 'http', type: 'http', ...definition({ path: '/x', retries: 2 }, { id: 'http', secrets: [] }) };
    const left = await leftBy(scriptedModel(callsTools({ tool: 'http', input: {} }), says('ok')), {
      catalog: staticCatalog({
        agents: [{ id: 'helper', name: 'Helper', providerId: 'default', entryTools: ['*'] }],
        providers: [{ id: 'default', kind: 'custom' }],
        tools: [asks],
      }),
      egress,
      onError,
    });
    expect(reports[0]?.cause).toBe(cause);
    expect(reports[1]?.cause).toMatchObject({ message });
    expect(reports.map(({ context }) => `${context.kind} ${context.id}`)).toEqual(['tool http', 'tool http']);
    expect(left).not.toContain(canary);
  });

  it('receives what a tool of a planned agent throws, with the plan', async () => {
    const { reports, onError } = recorder();
    const cause = bug();
    const runtime = createRuntime({
      catalog: staticCatalog({
        agents: [{ id: 'helper', name: 'Helper', providerId: 'default', entryTools: ['*'] }],
        providers: [{ id: 'default', kind: 'custom' }],
      }),
      models: { model: () => scriptedModel(callsLook, says('ok')).model },
      storage: memoryStorage(),
      tools: [look(throwIt(cause))],
      onError,
    });
    await runtime.planner.run({ goal: 'Look', agentId: 'helper' }, me);
    await runtime.close();
    expect(reports[0]?.cause).toBe(cause);
    expect(reports[0]?.context).toMatchObject({ kind: 'tool', id: 'look', planId: expect.stringMatching(/^plan_/) });
  });
});
