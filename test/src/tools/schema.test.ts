import { dynamicTool, jsonSchema, tool, zodSchema } from 'ai';
import { type } from 'arktype';
import * as v from 'valibot';
import { assertType, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineTool, PinnaceError, type ToolOptions } from '../../../src/index.ts';
import type { JsonSchema } from '../../../src/base/schema.ts';
import { type AiTool, fromAiTool, type ToolsOf } from '../../../src/tools/index.ts';
import { callTool } from '../../fixtures/tools/tool-call.ts';

const base = { id: 'book', description: 'Books a cabin' };
const shape = {
  type: 'object',
  properties: { guest: { type: 'string' }, nights: { type: 'number', default: 1 } },
  required: ['guest'],
  additionalProperties: false,
};

/** The same input in each of the libraries, and as JSON Schema. */
const books = {
  zod: defineTool({
    ...base,
    input: z.strictObject({ guest: z.string(), nights: z.number().default(1) }),
    execute: ({ guest, nights }) => `${guest}: ${nights.toFixed(0)}`,
  }),
  valibot: defineTool({
    ...base,
    input: v.strictObject({ guest: v.string(), nights: v.optional(v.number(), 1) }),
    execute: ({ guest, nights }) => `${guest}: ${nights.toFixed(0)}`,
  }),
  arktype: defineTool({
    ...base,
    input: type({ '+': 'reject', guest: 'string', nights: 'number = 1' }),
    execute: ({ guest, nights }) => `${guest}: ${nights.toFixed(0)}`,
  }),
  jsonSchema: defineTool({
    ...base,
    input: {
      type: 'object',
      properties: { guest: { type: 'string' }, nights: { type: 'number', default: 1 } },
      required: ['guest'],
      additionalProperties: false,
    },
    execute: ({ guest, nights = 1 }) => `${guest.trim()}: ${nights.toFixed(0)}`,
  }),
};

function failureOf(input: unknown): unknown {
  try {
    defineTool({ ...base, execute: () => 0, input } as ToolOptions<JsonSchema>); // as JavaScript may call it
  } catch (error) {
    return error;
  }
  return undefined;
}

describe('defineTool', () => {
  describe.each(Object.entries(books))('with a schema of %s', (library, book) => {
    it('shows the input as JSON Schema', () => {
      // ArkType does not show defaults
      const nights = library === 'arktype' ? { type: 'number' } : shape.properties.nights;
      expect(book.definition.paramsSchema).toEqual({ ...shape, properties: { ...shape.properties, nights } });
    });

    it('passes a checked input with its defaults to the tool', async () => {
      expect(await callTool(book, { guest: 'Ada' })).toEqual({ ok: true, output: 'Ada: 1' });
    });

    it('names what is wrong with an input, and does not repeat it', async () => {
      const outcome = await callTool(book, { guest: 4711, nights: 'hunter2' });
      expect(outcome).toMatchObject({
        ok: false,
        error: { code: 'invalid_argument', details: { issues: [{ path: 'guest' }, { path: 'nights' }] } },
      });
      expect(JSON.stringify(outcome)).toMatch(/string/);
      expect(JSON.stringify(outcome)).not.toMatch(/4711|hunter2/);
    });

    it('refuses a field that the schema does not declare, and names it', async () => {
      expect(await callTool(book, { guest: 'Ada', deck: 3 })).toMatchObject({
        ok: false,
        error: { code: 'invalid_argument', details: { issues: [{ path: 'deck' }] } },
      });
    });
  });

  it('refuses undeclared fields of a tool that may act, also where the library drops them', async () => {
    const open = defineTool({ ...base, input: z.object({ guest: z.string() }), execute: ({ guest }) => guest });
    expect(await callTool(open, { guest: 'Ada', deck: 3 })).toMatchObject({
      error: { details: { reason: 'undeclared_field' } },
    });
  });

  it('types the input and the output of each tool', () => {
    type Tools = ToolsOf<(typeof books)[keyof typeof books][]>;
    assertType<Tools['book']['output']>('');
    // @ts-expect-error -- the output is a text
    assertType<Tools['book']['output']>(1);
    const plain = defineTool({
      id: 'plain',
      description: 'Plain',
      input: {
        type: 'object',
        properties: { kind: { enum: ['a', 'b'] }, list: { type: 'array', items: { type: 'integer' } } },
        required: ['kind'],
      },
      execute: ({ kind, list }) => ({ kind, sum: list?.reduce((a, b) => a + b, 0) }),
    });
    assertType<ToolsOf<[typeof plain]>['plain']['input']>({ kind: 'a', list: [1] });
    // @ts-expect-error -- "c" is none of the kinds
    assertType<ToolsOf<[typeof plain]>['plain']['input']>({ kind: 'c' });
    assertType<ToolsOf<[typeof plain]>['plain']['output']>({ kind: 'b', sum: 3 });
    expect(plain.definition.name).toBe('plain');
  });

  it.each([
    ['zod', z.strictObject({ total: z.number() })],
    ['valibot', v.strictObject({ total: v.number() })],
    ['arktype', type({ '+': 'reject', total: 'number' })],
    ['JSON Schema', {
      type: 'object',
      properties: { total: { type: 'number' } },
      required: ['total'],
      additionalProperties: false,
    }],
  ])('checks an output by a schema of %s, and shows it in the definition', async (_, output) => {
    const add = defineTool({
      id: 'add',
      description: 'Adds',
      input: z.object({ a: z.json() }),
      output,
      execute: ({ a }) => ({ total: a }) as never,
    });
    expect(add.definition.outputSchema).toMatchObject({
      properties: { total: { type: 'number' } },
      required: ['total'],
    });
    expect(await callTool(add, { a: 3 })).toEqual({ ok: true, output: { total: 3 } });
    const outcome = await callTool(add, { a: 'hunter2' });
    expect(outcome).toMatchObject({
      error: { code: 'internal', details: { reason: 'invalid_output', issues: [{ path: 'total' }] } },
    });
    expect(JSON.stringify(outcome)).not.toContain('hunter2');
  });

  it('refuses an output at compile time that its schema does not accept', () => {
    const add = { id: 'add', description: 'Adds', input: z.object({}), output: z.object({ total: z.number() }) };
    // @ts-expect-error -- the total is a number
    expect(defineTool({ ...add, execute: () => ({ total: '3' }) }).definition.id).toBe('add');
    expect(defineTool({ ...add, execute: async () => ({ total: 3 }) }).definition.id).toBe('add');
  });

  it('says that an asynchronous schema cannot be checked', async () => {
    const input = z.object({ guest: z.string().refine(async () => true) });
    const slow = defineTool({ ...base, input, execute: () => 0 });
    expect(await callTool(slow, { guest: 'Ada' })).toMatchObject({
      error: { code: 'internal', details: { reason: 'async_schema' } },
    });
  });

  it.each([
    ['a Zod shape', { guest: z.string() }, 'it is a list of fields; wrap it, as z.object({ … })'],
    [
      'a Zod schema without JSON Schema',
      { '~standard': { version: 1, vendor: 'zod', validate: () => ({ value: 1 }) } },
      'Zod does from 4.2',
    ],
    ['a date of Zod', z.object({ at: z.date() }), 'Date cannot be represented'],
    ['a list of Zod', z.array(z.string()), 'it must describe an object'],
    ['a string of ArkType', type('string'), 'it must describe an object'],
    ['a JSON Schema that is none', { type: 'object', properties: 5 }, 'not as JSON Schema defines it'],
    [
      'a JSON Schema with a pattern that looks ahead',
      { type: 'object', properties: { a: { pattern: '(?=x)' } } },
      'pattern',
    ],
    ['null', null, ''],
    ['a text', 'object', ''],
  ])('refuses %s as input, and says what would work', (_, input, why) => {
    const failure = failureOf(input);
    expect(failure).toBeInstanceOf(PinnaceError);
    expect(failure).toMatchObject({
      code: 'invalid_argument',
      message: expect.stringMatching(
        /^Cannot define tool "book": its input must be a schema of Zod 4.2 or later, Valibot, ArkType, or a JSON Schema/,
      ),
      details: { reason: 'invalid_schema' },
    });
    expect(failure).toMatchObject({ message: expect.stringContaining(why) });
  });
});

describe('fromAiTool', () => {
  const execute = ({ guest }: { guest: string }, { toolCallId }: { toolCallId: string }) => ({ guest, toolCallId });

  it.each([
    ['Zod', tool({ description: 'Books', inputSchema: z.object({ guest: z.string() }), execute })],
    ['ArkType', tool({ description: 'Books', inputSchema: type({ guest: 'string' }), execute })],
    ['zodSchema', tool({ description: 'Books', inputSchema: zodSchema(z.object({ guest: z.string() })), execute })],
    [
      'jsonSchema',
      tool({
        description: 'Books',
        inputSchema: jsonSchema<{ guest: string }>({
          type: 'object',
          properties: { guest: { type: 'string' } },
          required: ['guest'],
        }),
        execute,
      }),
    ],
  ])('takes a tool with an input of %s', async (_, one) => {
    const book = fromAiTool('book', one);
    assertType<ToolsOf<[typeof book]>['book']>({ input: { guest: '' }, output: { guest: '', toolCallId: '' } });
    expect(book.definition).toMatchObject({
      id: 'book',
      description: 'Books',
      paramsSchema: { properties: { guest: { type: 'string' } } },
    });
    expect(await callTool(book, { guest: 'Ada' })).toEqual({
      ok: true,
      output: { guest: 'Ada', toolCallId: 'call-1' },
    });
    expect(await callTool(book, { guest: 1 })).toMatchObject({ error: { code: 'invalid_argument' } });
  });

  it('types a tool that is written in place', () => {
    const book = fromAiTool(
      'book',
      tool({ description: 'Books', inputSchema: z.object({ n: z.number() }), execute: ({ n }) => n }),
    );
    assertType<ToolsOf<[typeof book]>>({ book: { input: { n: 1 }, output: 2 } });
    // @ts-expect-error -- a number is no text
    assertType<ToolsOf<[typeof book]>>({ book: { input: { n: '1' }, output: 2 } });
    expect(book.definition.name).toBe('book');
  });

  it('takes over the title and the approval, and the options before them', () => {
    const options = {
      title: 'Book',
      description: 'Books',
      inputSchema: z.object({}),
      needsApproval: true,
      execute: () => 0,
    };
    expect(fromAiTool('book', tool(options)).definition).toMatchObject({ title: 'Book', approval: 'always' });
    const mine = { approval: 'never', annotations: { readOnlyHint: true } } as const;
    expect(fromAiTool('book', tool(options), mine).definition).toMatchObject({ title: 'Book', ...mine });
  });

  it('returns the last value of a stream, and passes the context and the signal on', async () => {
    const inputSchema = z.object({});
    const found: unknown[] = [];
    const one = dynamicTool({
      description: 'Counts',
      inputSchema,
      async *execute(_input, { context, abortSignal, messages }) {
        found.push(context, abortSignal?.aborted, messages);
        yield 1;
        yield 2;
      },
    });
    expect(await callTool(fromAiTool('count', one, { context: 'desk' }), {})).toEqual({ ok: true, output: 2 });
    expect(found).toEqual(['desk', false, []]);
  });

  it('refuses an input that the validation of the AI SDK schema refuses', async () => {
    const inputSchema = jsonSchema<object>({ type: 'object' }, {
      validate: () => ({ success: false, error: new Error('hunter2') }),
    });
    const one = fromAiTool('book', tool({ description: 'Books', inputSchema, execute: () => 0 }), {
      annotations: { readOnlyHint: true },
    });
    const outcome = await callTool(one, {});
    expect(outcome).toMatchObject({ error: { code: 'invalid_argument' } });
    expect(JSON.stringify(outcome)).not.toContain('hunter2');
  });

  it.each<[string, object, string]>([
    ['no execute', { description: 'Books', inputSchema: z.object({}) }, 'it has no "execute"'],
    [
      'a provider',
      { type: 'provider', id: 'a.b', args: {}, isProviderExecuted: false, inputSchema: z.object({}) },
      'it has no "execute"',
    ],
    ['no description', { inputSchema: z.object({}), execute: () => 0 }, 'set "description"'],
    ['an approval by a function', {
      description: 'B',
      inputSchema: z.object({}),
      needsApproval: () => true,
      execute: () => 0,
    }, 'set "approval"'],
    [
      'a JSON Schema to wait for',
      { description: 'B', inputSchema: jsonSchema(Promise.resolve({})), execute: () => 0 },
      'no JSON Schema yet',
    ],
  ])('refuses a tool with %s', (_, one, why) => {
    expect(() => fromAiTool('book', one as AiTool)).toThrowError(why);
  });
});
