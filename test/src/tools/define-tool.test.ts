import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { defineTool, PinnaceError, type ToolOptions } from '../../../src/index.ts';
import { callTool } from '../../fixtures/tools/tool-call.ts';

const Numbers = v.strictObject({ a: v.number(), b: v.optional(v.number(), 1) });

function options(overrides: object = {}): ToolOptions<typeof Numbers> {
  return { id: 'add', description: 'Adds two numbers', input: Numbers, execute: ({ a, b }) => a + b, ...overrides };
}

function failureOf(overrides: object): unknown {
  try {
    defineTool(options(overrides));
  } catch (error) {
    return error;
  }
  return undefined;
}

describe('defineTool', () => {
  it('checks an input and returns it with its defaults', () => {
    expect(defineTool(options()).check({ a: 2 })).toEqual({ ok: true, input: { a: 2, b: 1 } });
  });

  it('drops unknown keys where the schema is not strict', () => {
    const tool = defineTool({ ...options(), input: v.object({ a: v.number() }), execute: () => 0 });
    expect(tool.check({ a: 1, c: 2 })).toEqual({ ok: true, input: { a: 1 } });
  });

  it('lets no key of a prototype through', () => {
    const checked = defineTool(options()).check(JSON.parse('{"a":1,"__proto__":{"b":9}}'));
    expect(JSON.stringify(checked)).not.toContain('9');
  });

  it('makes a tool that can be called', async () => {
    expect(await callTool(defineTool(options()), { a: 2, b: 3 })).toEqual({ ok: true, output: 5 });
  });

  it.each([
    [{ id: '' }, '"id" must be 1 to 64 letters'],
    [{ id: 'add two' }, '"id" must be 1 to 64 letters'],
    [{ id: '__proto__' }, '"id" must be 1 to 64 letters'],
    [{ id: 'x'.repeat(65) }, '"id" must be 1 to 64 letters'],
    [{ name: 'söt' }, '"name" must be 1 to 64 letters'],
    [{ description: '' }, '"description" must be at least 1 long'],
    [{ description: 'x'.repeat(4097) }, '"description" must be at most 4096 long'],
    [{ version: '1' }, '"version" must be like 1.0.0'],
    [{ type: 'magic' }, '"type" must be'],
    [{ secrets: [{ id: 'key', value: 'hunter2' }] }, '"secrets.0.value" is not known here'],
    [{ colour: 'red' }, '"colour" is not known here'],
  ])('refuses the definition %j', (overrides, message) => {
    const failure = failureOf(overrides);
    expect(failure).toBeInstanceOf(PinnaceError);
    expect(failure).toMatchObject({ code: 'invalid_argument', message: expect.stringContaining(message) });
  });

  it.each([
    ['no object', v.string()],
    ['a list', v.array(v.string())],
    ['a union of other values', v.union([v.object({ a: v.string() }), v.string()])],
    ['an object with a date', v.object({ at: v.date() })],
    ['an object with a BigInt', v.object({ n: v.bigint() })],
    ['an object with a function', v.object({ f: v.function() })],
  ])('refuses an input that is %s', (_, input) => {
    expect(failureOf({ input })).toMatchObject({
      code: 'invalid_argument',
      message: expect.stringMatching(/^Cannot define tool "add": its input must be a schema of Zod/),
      details: { reason: 'invalid_schema' },
    });
  });
});
