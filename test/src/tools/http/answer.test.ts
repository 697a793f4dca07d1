import { describe, expect, it } from 'vitest';
import { createRedactor } from '../../../../src/permission/redaction/redactor.ts';
import { createHttpTool } from '../../../../src/tools/implement.ts';
import { canary, scriptedEgress, text } from '../../../fixtures/egress.ts';
import { call, definition, errorOf, json } from '../../../fixtures/tools/http-tool.ts';
import { outcomeOf } from '../../../fixtures/tools/tool-call.ts';

describe('createHttpTool, given an answer', () => {
  it('keeps the fields that the template names', async () => {
    const data = {
      total: 2,
      items: [{ id: 1, name: 'a', owner: { id: 9, key: 'k' } }, { id: 2, owner: null }, 3],
      rest: 'x',
    };
    const { outcome } = await call({ response: { fields: ['total', 'items.id', 'items.owner.id', 'none'] } }, {}, {
      answers: [json(data)],
    });
    expect(outcome).toMatchObject({
      output: { data: { total: 2, items: [{ id: 1, owner: { id: 9 } }, { id: 2, owner: null }, null] } },
    });
  });

  it('cuts what is too long, and says so', async () => {
    const long = await call({ response: { as: 'text', maxLength: 5 } }, {}, { answers: [text('1234🔑')] });
    expect(long.outcome).toMatchObject({ output: { data: '1234\uFFFD', truncated: true } });
    const list = await call({ response: { maxLength: 5 } }, {}, { answers: [json([1, 2, 3])] });
    expect(list.outcome).toMatchObject({ output: { data: '[1,2,', truncated: true } });
  });

  it('takes secrets out before it cuts', async () => {
    const { egress } = scriptedEgress([text('12 canary-4f9aZ_q-77Kd0Lm2 34')]);
    const tool = createHttpTool(definition({ response: { as: 'text', maxLength: 10 } }), { egress });
    const { text: redact } = createRedactor([{ id: 'c', value: canary.reveal() }]);
    expect(await outcomeOf(tool, {}, { secrets: { canary }, redact })).toMatchObject({ data: '12 [secret' });
  });

  it('returns no own __proto__, and does not parse text as JSON', async () => {
    const { outcome } = await call({}, {}, { answers: [() => new Response('{"__proto__":{"x":1},"a":1}')] });
    expect(JSON.stringify(outcome)).toContain('"data":{"a":1}');
    expect(errorOf((await call({}, {}, { answers: [text('<html>')] })).outcome)).toBe('unavailable: answer_not_json');
  });

  it.each([
    [400, 'invalid_argument'],
    [401, 'forbidden'],
    [404, 'not_found'],
    [409, 'conflict'],
    [429, 'rate_limited'],
    [500, 'unavailable'],
  ])('reports status %i as %s, without the server’s text', async (status, code) => {
    const answers = [text('echo of a secret', { status, headers: { 'retry-after': '7' } })];
    const { outcome } = await call({ retries: 0 }, {}, { answers });
    expect(outcome).toMatchObject({ error: { code, details: { reason: 'http_status', status }, retryAfterMs: 7000 } });
    expect(JSON.stringify(outcome)).not.toContain('echo');
  });
});

describe('createHttpTool, trying again', () => {
  const down = text('', { status: 503 });
  const busy = text('', { status: 429, headers: { 'retry-after': '1' } });

  it.each(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE'] as const)('tries an idempotent %s again', async (method) => {
    const waited: number[] = [];
    const wait = (ms: number): Promise<void> => Promise.resolve(void waited.push(ms));
    const answers = [down, busy, () => new Response(null)];
    const { outcome, sent } = await call({ method }, {}, { answers, random: () => 0.5, wait });
    expect(outcome.ok).toBe(true);
    expect(sent).toHaveLength(3);
    expect(waited).toEqual([50, 1000]);
  });

  it.each(['POST', 'PATCH'] as const)(
    'never tries a %s again, and says when its effect is not known',
    async (method) => {
      for (const answers of [[down], [() => Promise.reject(new Error('reset'))]]) {
        const { outcome, sent } = await call({ method }, {}, { answers });
        expect(errorOf(outcome)).toBe('outcome_unknown: answer_lost');
        expect(sent).toHaveLength(1);
      }
      expect(errorOf((await call({ method }, {}, { answers: [busy] })).outcome)).toBe('rate_limited: http_status');
    },
  );

  it('retries as often as the template says, and not after a permanent error', async () => {
    expect((await call({ retries: 1 }, {}, { answers: [down] })).sent).toHaveLength(2);
    expect((await call({}, {}, { answers: [text('', { status: 404 })] })).sent).toHaveLength(1);
  });
});
