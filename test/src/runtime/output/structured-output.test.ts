import { describe, expect, it } from 'vitest';
import * as v from 'valibot';
import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { memorySecrets } from '../../../../adapters/secrets/memory.ts';
import { staticCatalog } from '../../../../adapters/catalog/static.ts';
import {
  type AgentInput,
  createRuntime,
  defineTool,
  localPrincipal,
  type ProviderInput,
  type RunRequestInput,
  type UIMessageChunk,
} from '../../../../src/index.ts';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import { says, type ScriptedModel, scriptedModel } from '../../../fixtures/model.ts';
import { lastData, readAll, runRequest } from '../../../fixtures/runtime.ts';

const schema = {
  type: 'object',
  properties: { city: { type: 'string' }, people: { type: 'integer', minimum: 0 } },
  required: ['city'],
  additionalProperties: false,
};
const output = { schema, name: 'place', description: 'Where it is' };

interface Setup {
  readonly agent?: Partial<AgentInput>;
  readonly provider?: Partial<ProviderInput>;
  readonly limits?: { readonly steps: number };
}

function runtimeOf({ model }: ScriptedModel, { agent, provider, limits = { steps: 16 } }: Setup = {}) {
  const add = defineTool({
    id: 'add',
    description: 'Adds',
    annotations: { readOnlyHint: true },
    input: v.strictObject({ a: v.number(), b: v.number() }),
    execute: ({ a, b }) => a + b,
  });
  const catalog = staticCatalog({
    agents: [{
      id: 'helper',
      name: 'Helper',
      providerId: 'default',
      entryTools: ['*'],
      instructions: 'Help.',
      ...agent,
    }],
    providers: [{ id: 'default', kind: 'custom', ...provider }],
  });
  return createRuntime({ catalog, models: { model: () => model }, storage: memoryStorage(), tools: [add], limits });
}

async function run(script: ScriptedModel, request: Partial<RunRequestInput>, setup?: Setup): Promise<UIMessageChunk[]> {
  return await readAll(await runtimeOf(script, setup).run(runRequest(request), localPrincipal()));
}

const ends = (text: string, unified: 'length' | 'content-filter'): LanguageModelV4StreamPart[] =>
  says(text).map((part) => part.type === 'finish' ? { ...part, finishReason: { unified, raw: unified } } : part);

const systemOf = (script: ScriptedModel, call = 0): string => {
  const [first] = script.calls[call]?.prompt ?? [];
  return first?.role === 'system' ? first.content : '';
};

describe('a structured answer', () => {
  it('is described behind the message, or in the instructions of its agent, unless the provider takes a schema', async () => {
    const plain = scriptedModel(says('{"city":"Oslo"}'));
    await run(plain, { output });
    expect(systemOf(plain)).toBe('Help.');
    expect(JSON.stringify(plain.calls[0]?.prompt.at(-1)?.content)).toContain(
      JSON.stringify(JSON.stringify(schema)).slice(1, -1),
    );
    const own = scriptedModel(says('{"city":"Oslo"}'));
    await run(own, {}, { agent: { output } });
    expect(systemOf(own)).toMatch(/^Help\.\n\n/);
    expect(systemOf(own)).toContain(JSON.stringify(schema));
    const native = scriptedModel(says('{"city":"Oslo"}'));
    await run(native, { output }, { provider: { jsonSchema: true } });
    expect(systemOf(native)).toBe('Help.');
    expect(native.calls[0]?.responseFormat).toEqual({ type: 'json', ...output });
  });

  it('is what the agent names, and what the request names before it', async () => {
    const agent = { output: { schema: { type: 'array' } } };
    expect(lastData(await run(scriptedModel(says('[1]')), {}, { agent }), 'data-output')).toEqual([1]);
    const chunks = await run(scriptedModel(says('{"city":"Oslo"}')), { output }, { agent });
    expect(lastData(chunks, 'data-output')).toEqual({ city: 'Oslo' });
  });

  it('may be in a code fence', async () => {
    const chunks = await run(scriptedModel(says('```json\n{"city":"Oslo"}\n```')), { output });
    expect(lastData(chunks, 'data-output')).toEqual({ city: 'Oslo' });
  });

  it('is requested once more when it does not fit, in a step that counts', async () => {
    const script = scriptedModel(says('{"city":7,"sea":"North"}'), says('{"city":"Oslo"}'));
    const chunks = await run(script, { output });
    expect(chunks.filter(({ type }) => type === 'reset-step')).toHaveLength(1);
    expect(lastData(chunks, 'data-output')).toEqual({ city: 'Oslo' });
    expect(lastData(chunks, 'data-usage')).toMatchObject({ steps: 2 });
    const [said, told] = script.calls[1]?.prompt.slice(-2) ?? [];
    expect(said).toEqual({ role: 'assistant', content: [{ type: 'text', text: '{"city":7,"sea":"North"}' }] });
    const text = told?.role === 'user' && told.content[0]?.type === 'text' ? told.content[0].text : '';
    expect(text).toContain('- city: must be a string');
    expect(text).toContain('- sea: is not known here');
  });

  it('fails the run as output_invalid when it does not fit a second time, with paths and rules and without values', async () => {
    const chunks = await run(scriptedModel(says('secret plan'), says('{"city":"Oslo","people":-8123}')), { output });
    const { state, error } = lastData(chunks, 'data-run');
    expect(state).toBe('failed');
    expect(error).toMatchObject({
      code: 'unavailable',
      details: { reason: 'output_invalid', issues: [{ path: 'people', message: 'breaks the rule "minimum"' }] },
    });
    expect(JSON.stringify(error)).not.toMatch(/8123|secret plan/);
    expect(chunks.some(({ type }) => type === 'data-output')).toBe(false);
  });

  it('refuses keys that reach a prototype, as no JSON', async () => {
    const chunks = await run(scriptedModel(says('{"__proto__":{}}')), { output: { schema: {} } });
    expect(lastData(chunks, 'data-run')).toMatchObject({ error: { details: { reason: 'output_invalid' } } });
  });

  it('stops the run as output_truncated at the limit of tokens', async () => {
    const chunks = await run(scriptedModel(ends('{"city":"Os', 'length')), { output });
    expect(lastData(chunks, 'data-run')).toMatchObject({
      state: 'stopped',
      error: { code: 'budget_exceeded', details: { reason: 'output_truncated' } },
    });
  });

  it('fails the run as output_refused when the provider filters it', async () => {
    const chunks = await run(scriptedModel(ends('{}', 'content-filter')), { output });
    expect(lastData(chunks, 'data-run')).toMatchObject({
      state: 'failed',
      error: { code: 'unavailable', retryable: false, details: { reason: 'output_refused' } },
    });
  });
});

describe('the run of a structured answer', () => {
  it('shows no secret of the run in its answer', async () => {
    const value = 'canary-4f9aZ_q-77Kd0Lm2';
    const { model } = scriptedModel(says(`{"city":"${value}"}`));
    const catalog = staticCatalog({
      agents: [{ id: 'helper', name: 'Helper', providerId: 'default', output }],
      providers: [{ id: 'default', kind: 'custom', secret: { id: 'key' } }],
    });
    const secrets = memorySecrets({ key: { value, origins: ['code'] } });
    const runtime = createRuntime({ catalog, models: { model: () => model }, storage: memoryStorage(), secrets });
    const chunks = await readAll(await runtime.run(runRequest(), localPrincipal()));
    expect(lastData(chunks, 'data-run')).toMatchObject({ state: 'completed' });
    expect(JSON.stringify(chunks)).not.toContain(value);
  });
});

describe('the schema of a structured answer', () => {
  const start = (asked: RunRequestInput['output'], more: Partial<RunRequestInput> = {}) =>
    runtimeOf(scriptedModel(says('{}'))).run(runRequest({ output: asked, ...more }), localPrincipal());

  it('is refused with a pattern that cannot be matched in linear time, which is named by its place', async () => {
    const asked = { schema: { type: 'object', properties: { id: { type: 'string', pattern: '(?=a)' } } } };
    await expect(start(asked)).rejects.toMatchObject({
      code: 'invalid_argument',
      details: { reason: 'invalid_pattern', field: '/output/schema/properties/id/pattern' },
    });
  });

  it('is refused when it is too long or nested too deep', async () => {
    const long = { schema: { enum: ['x'.repeat(65_536)] } };
    await expect(start(long)).rejects.toMatchObject({ details: { reason: 'schema_too_large' } });
    let deep: Record<string, unknown> = {};
    for (let i = 0; i < 70; i++) deep = { items: deep };
    await expect(start({ schema: deep })).rejects.toMatchObject({ details: { reason: 'json_too_deep' } });
  });

  it('is refused for a run that follows a plan', async () => {
    await expect(start(output, { planner: {} })).rejects.toMatchObject({
      code: 'invalid_argument',
      details: { reason: 'output_in_plan' },
    });
  });

  it('is checked in the record of an agent', () => {
    const agent = { id: 'a', name: 'A', providerId: 'p', output: { schema: { type: 'text' } } };
    expect(() => staticCatalog({ agents: [agent], providers: [] })).toThrow(
      expect.objectContaining({ code: 'invalid_argument', details: { reason: 'invalid_schema' } }),
    );
  });
});
