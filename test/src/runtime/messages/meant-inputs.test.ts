import { describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { type Authorize, defineTool, localPrincipal, type Tool, type UIMessageChunk } from '../../../../src/index.ts';
import { callsTools, says, scriptedModel } from '../../../fixtures/model.ts';
import { readAll, runRequest, testRuntime } from '../../../fixtures/runtime.ts';

const schema = {
  type: 'object',
  properties: {
    item: { type: 'string' },
    count: { type: 'integer' },
    isGift: { type: 'boolean' },
    tags: { type: 'array', items: { type: 'string' } },
    address: { type: 'object', properties: { zip: { type: 'string' }, floor: { type: 'integer' } }, required: ['zip'] },
    note: { type: ['string', 'null'] },
  },
  required: ['item'],
  additionalProperties: false,
} as const;

function orderTool(more: Partial<Parameters<typeof defineTool>[0]> = {}) {
  const execute = vi.fn<Tool['execute']>((input) => input);
  return {
    execute,
    tool: defineTool({ id: 'order', description: 'Orders', input: schema, ...more, execute } as never) as Tool,
  };
}

async function chunksOf(tool: Tool, input: unknown, options = {}): Promise<UIMessageChunk[]> {
  const { model } = scriptedModel(callsTools({ tool: 'order', input }), says('ok'));
  const runtime = testRuntime({ model, tools: [tool], ...options });
  return await readAll(await runtime.run(runRequest(), localPrincipal()));
}

describe('the input of a model’s call that its tool refuses as it is', () => {
  it.each([
    ['null for what is left out', { item: 'a', count: null, address: { zip: '1', floor: null } }, {
      item: 'a',
      address: { zip: '1' },
    }],
    ['a number as a text', { item: 'a', count: '3' }, { item: 'a', count: 3 }],
    ['a truth as a text', { item: 'a', isGift: 'true' }, { item: 'a', isGift: true }],
    ['a list as a text', { item: 'a', tags: '["x","y"]' }, { item: 'a', tags: ['x', 'y'] }],
    ['an object as a text', { item: 'a', address: '{"zip":"1"}' }, { item: 'a', address: { zip: '1' } }],
    ['a value within an object', { item: 'a', address: { zip: '1', floor: '2' } }, {
      item: 'a',
      address: { zip: '1', floor: 2 },
    }],
  ])('is read by what is meant: %s', async (_, input, meant) => {
    const { tool, execute } = orderTool();
    const chunks = await chunksOf(tool, input);
    expect(execute.mock.calls[0]?.[0]).toEqual(meant);
    expect(chunks.find(({ type }) => type === 'tool-input-available')).toMatchObject({ input: meant });
  });

  it.each([
    ['null where it is a value', { item: 'a', note: null }],
    ['a text where a text is right', { item: '12', note: '{"a":1}' }],
  ])('stays as it is: %s', async (_, input) => {
    const { tool, execute } = orderTool();
    await chunksOf(tool, input);
    expect(execute.mock.calls[0]?.[0]).toEqual(input);
  });

  it.each([
    ['null for what it must have', { item: null }],
    ['null within a list', { item: 'a', tags: [null] }],
    ['a number that would lose digits', { item: 'a', count: '9007199254740993' }],
    ['a number in another form', { item: 'a', count: '1e3' }],
    ['words', { item: 'a', count: 'three' }],
    ['a key that reaches a prototype', { item: 'a', address: '{"zip":"1","__proto__":{"x":1}}' }],
    ['a key twice', { item: 'a', address: '{"zip":"1","zip":"2"}' }],
    ['another mistake besides', { item: 'a', count: '3', other: 1 }],
  ])('is refused, and the tool is not called: %s', async (_, input) => {
    const { tool, execute } = orderTool();
    const chunks = await chunksOf(tool, input);
    expect(execute).not.toHaveBeenCalled();
    expect(chunks.find(({ type }) => type === 'tool-input-available')).toMatchObject({ input });
    expect(chunks.find(({ type }) => type === 'tool-output-error')).toMatchObject({
      errorText: expect.stringContaining('Cannot read'),
    });
  });

  it('is what the permission hook and a person are asked about', async () => {
    const { tool, execute } = orderTool({ approval: 'always' });
    const authorize = vi.fn<Authorize>(() => ({ decision: 'allow' }));
    const chunks = await chunksOf(tool, { item: 'a', tags: '["x"]' }, { authorize });
    expect(JSON.stringify(authorize.mock.calls)).toContain('{"item":"a","tags":["x"]}');
    expect(chunks.some(({ type }) => type === 'tool-approval-request')).toBe(true);
    expect(chunks.find(({ type }) => type === 'tool-input-available')).toMatchObject({
      input: { item: 'a', tags: ['x'] },
    });
    expect(execute).not.toHaveBeenCalled();
  });

  it('is read so for schemas of libraries', async () => {
    const { tool, execute } = orderTool({
      input: z.object({ item: z.string(), count: z.number().optional() }) as never,
    });
    await chunksOf(tool, { item: 'a', count: null });
    expect(execute.mock.calls[0]?.[0]).toEqual({ item: 'a' });
  });
});

describe('a structured answer', () => {
  const spec = {
    schema: {
      type: 'object',
      properties: { city: { type: 'string' }, sky: { type: 'string' }, heat: { type: 'number' } },
      required: ['city'],
    },
  } as const;

  it('may have null for a field that it leaves out, and a number as a text', async () => {
    const { model, calls } = scriptedModel(says('{"city":"Rome","sky":null,"heat":"31"}'));
    const chunks = await readAll(await testRuntime({ model }).run(runRequest({ output: spec }), localPrincipal()));
    expect(chunks.find(({ type }) => type === 'data-output')).toMatchObject({ data: { city: 'Rome', heat: 31 } });
    expect(calls).toHaveLength(1);
  });
});
