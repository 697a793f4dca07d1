import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ActiveTool, type CallOptions, type Part, type Prompt, stream } from './ask.ts';
import { runs } from '../../../fixtures/budget.ts';

/** Words that the model looks for, so that arbitrary messages reach deep into it. */
const said = fc.oneof(
  fc.constantFrom(
    'call',
    'tool',
    'with',
    '{"a":1}',
    '{',
    '[1,2]',
    '/x',
    'then',
    'and',
    ';',
    '\n',
    '3 times',
    'from',
    'to',
    '"',
    "'",
    '`q`',
    'what is 2+2',
    'long story about',
    'think about',
    'who are you',
    'find',
    'load',
    'x_y',
    'Berlin',
    '2026-01-01',
    '5 km',
    'at most 3',
    'without',
    '10%',
    'sqrt(',
    '))',
    '\uE000',
    '\uE001',
    '\u0000',
    '\uD800',
    '天气',
    '__proto__',
    'constructor',
  ),
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.string({ maxLength: 20 }),
);
const message = fc.array(said, { maxLength: 12 }).map((words) => words.join(' '));
const name = fc.oneof(
  fc.constantFrom(
    'find',
    'x_y',
    'get_weather',
    '__proto__',
    'constructor',
    'a.b',
    'a(',
    '',
    'from',
    'limit',
    'toString',
  ),
  fc.string({ maxLength: 8 }),
);

/** Schemas that make sense, schemas that do not, and schemas that refer to themselves. */
const { schema } = fc.letrec<{ schema: unknown }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.record({
      type: fc.constantFrom(
        'string',
        'number',
        'integer',
        'boolean',
        'null',
        'array',
        'object',
        ['string', 'null'],
        'odd',
        7,
      ),
      format: fc.constantFrom('date', 'date-time', 'email', 'uri', 'uuid', 'odd'),
      pattern: fc.constantFrom('^[A-Z]{3}$', '(', '(a+)+$', ''),
      enum: fc.array(fc.oneof(name, fc.integer(), fc.boolean(), fc.constant(null))),
      minimum: fc.oneof(fc.integer(), fc.constant(NaN)),
      maximum: fc.integer(),
      maxLength: fc.integer({ min: -1, max: 5 }),
      default: fc.jsonValue(),
      description: fc.oneof(message, fc.integer()),
      title: name,
      examples: fc.jsonValue(),
    }, { requiredKeys: [] }),
    fc.record({ $ref: fc.constantFrom('#', '#/properties/find', '#/$defs/none', 'http://example.com/x', '#/%') }),
    fc.record({ type: fc.constant('array'), items: tie('schema') }),
    fc.record({
      type: fc.constant('object'),
      properties: fc.dictionary(name, tie('schema'), { maxKeys: 4 }),
      required: fc.oneof(fc.array(name, { maxLength: 4 }), fc.jsonValue()),
    }, { requiredKeys: ['properties'] }),
    fc.record({ oneOf: fc.array(tie('schema'), { maxLength: 3 }) }),
    fc.record({ allOf: fc.array(tie('schema'), { maxLength: 3 }) }),
    fc.jsonValue(),
  ),
}));

const tool = fc.record({ name, description: message, inputSchema: schema as fc.Arbitrary<ActiveTool['inputSchema']> })
  .map((fields): ActiveTool => ({ type: 'function', ...fields })); // safe: the model has to live with any schema

const output = fc.oneof(
  fc.jsonValue().map((value) => ({ type: 'json', value })),
  message.map((value) => ({ type: 'text', value })),
  message.map((value) => ({ type: 'error-text', value })),
  fc.jsonValue().map((value) => ({ type: 'error-json', value })),
  fc.constant({ type: 'execution-denied' }),
  message.map((text) => ({ type: 'content', value: [{ type: 'text', text }] })),
);
const toolCallId = fc.constantFrom('a', 'b', 'call-1', 'call-2-retry-a', '');
const turn = fc.oneof(
  message.map((content) => ({ role: 'system', content })),
  message.map((text) => ({ role: 'user', content: [{ type: 'text', text }] })),
  message.map((text) => ({ role: 'assistant', content: [{ type: 'text', text }] })),
  fc.record({ toolCallId, toolName: name, input: fc.anything({ withBigInt: true, withDate: true }) }).map((call) => ({
    role: 'assistant',
    content: [{ type: 'tool-call', ...call }],
  })),
  fc.record({ toolCallId, toolName: name, output }).map((result) => ({
    role: 'tool',
    content: [{ type: 'tool-result', ...result }],
  })),
);

const options = fc.record({
  prompt: fc.array(turn, { maxLength: 8 }) as unknown as fc.Arbitrary<Prompt>, // safe: messages as above
  tools: fc.array(tool, { maxLength: 4 }),
  toolChoice: fc.constantFrom<NonNullable<CallOptions['toolChoice']>>(
    { type: 'auto' },
    { type: 'none' },
    { type: 'required' },
    { type: 'tool', toolName: 'find' },
  ),
  seed: fc.integer(),
  maxOutputTokens: fc.integer({ min: 0, max: 1000 }),
  responseFormat: fc.oneof(
    fc.constant({ type: 'text' }),
    schema.map((given) => ({ type: 'json', schema: given })),
  ) as fc.Arbitrary<NonNullable<CallOptions['responseFormat']>>,
}, { requiredKeys: ['prompt', 'tools'] });

describe('the rehearsal model, whatever the conversation and the schemas', () => {
  it('never fails, ends with exactly one finish, and says the same again', async () => {
    await fc.assert(
      fc.asyncProperty(options, async (given) => {
        const parts = await stream(given);
        expect(parts.map(({ type }) => type).filter((type) => type === 'finish')).toHaveLength(1);
        expect(parts.at(-1)?.type).toBe('finish');
        expect(parts.some(({ type }) => type === 'error')).toBe(false);
        expect(await stream(given)).toEqual(parts);
        checkBlocks(parts);
        checkCalls(parts, given.prompt);
      }),
      { numRuns: runs(1000) },
    );
  });

  it('answers a long message, which takes no more than linear time', async () => {
    const texts = [
      'a',
      '[',
      '{"a":',
      ' ',
      '.',
      '"',
      'a, ',
      '/',
      '1 ',
      'A ',
      'from ',
      '1+',
      '0',
      '(',
      'then ',
      'sqrt(',
      'a.a',
      "'a ",
    ];
    for (const text of texts) {
      const parts = await stream({
        prompt: [{ role: 'user', content: [{ type: 'text', text: `call ${text.repeat(100_000)}x` }] }],
        tools: [fc.sample(tool, { numRuns: 1, seed: 1 })[0]].filter((one) => one !== undefined),
      });
      expect(parts.at(-1)).toMatchObject({ type: 'finish' });
    }
  });
});

/** Every block that starts also ends, and only once. */
function checkBlocks(parts: readonly Part[]): void {
  for (const kind of ['text', 'reasoning', 'tool-input'] as const) {
    const count = (suffix: string): number => parts.filter(({ type }) => type === `${kind}-${suffix}`).length;
    expect(count('start')).toBe(count('end'));
  }
}

/** Ids are used once in a conversation, and what was streamed of an input is the input. */
function checkCalls(parts: readonly Part[], prompt: Prompt): void {
  const before = prompt.flatMap((one) =>
    one.role === 'assistant' ? one.content.flatMap((part) => part.type === 'tool-call' ? [part.toolCallId] : []) : []
  );
  const calls = parts.filter((part) => part.type === 'tool-call');
  const ids = calls.map((call) => call.toolCallId);
  expect(new Set([...ids, ...before]).size).toBe(ids.length + new Set(before).size);
  for (const call of calls) {
    const deltas = parts.flatMap((part) =>
      part.type === 'tool-input-delta' && part.id === call.toolCallId ? [part.delta] : []
    );
    expect(deltas.join('')).toBe(call.input);
  }
}
