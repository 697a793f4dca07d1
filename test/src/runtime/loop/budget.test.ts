import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { defineTool, localPrincipal, type RunRequestInput } from '../../../../src/index.ts';
import { callsTools, says, withUsage } from '../../../fixtures/model.ts';
import { lastData, readAll, runRequest, terminalChunks, textOf, userMessage } from '../../../fixtures/runtime.ts';
import { apiError, fallbackRuntime, type NamedModel, namedModel } from './fallback-runtime.ts';

const me = localPrincipal();
const prices = { input: 2, output: 10, currency: 'USD' };
const add = defineTool({
  id: 'add',
  description: 'Adds',
  input: v.object({ a: v.number() }),
  annotations: { readOnlyHint: true },
  execute: ({ a }) => a + 1,
});
const callsAdd = callsTools({ tool: 'add', input: { a: 1 } });

async function runOnce(one: NamedModel, request: Partial<RunRequestInput> = {}, provider: object = { prices }) {
  const runtime = fallbackRuntime({ one }, { tools: [add], providers: { one: provider } });
  const chunks = await readAll(await runtime.run(runRequest(request), me));
  return { chunks, usage: lastData(chunks, 'data-usage'), run: lastData(chunks, 'data-run') };
}

describe('the usage of a run', () => {
  it('has the cost by the prices of the model, with those of its cache', async () => {
    const one = namedModel(
      'first',
      withUsage(says('Hi'), {
        input: { total: 1000, cacheRead: 600, cacheWrite: 100 },
        output: { total: 50, reasoning: 20 },
      }),
    );
    const { usage } = await runOnce(one, {}, { prices: { ...prices, cachedInput: 0.5, cacheWrite: 3 } });
    expect(usage).toMatchObject({
      inputTokens: 1000,
      outputTokens: 50,
      totalTokens: 1050,
      cachedInputTokens: 600,
      cacheWriteTokens: 100,
      reasoningTokens: 20,
      cost: { amount: 0.0017, currency: 'USD' },
    });
    expect(usage).not.toHaveProperty('estimated');
  });

  it.each<[string, object]>([
    ['none', {}],
    ['no currency', { prices: { input: 1, output: 1 } }],
    ['no price of the output', { prices: { input: 1, currency: 'USD' } }],
  ])('has no cost where the provider names %s', async (_, provider) => {
    const { usage } = await runOnce(namedModel('first', says('Hi')), {}, provider);
    expect(usage).toMatchObject({ totalTokens: 15 });
    expect(usage).not.toHaveProperty('cost');
  });

  it('counts a try that was cut before its output, about', async () => {
    const one = namedModel(
      'first',
      [{ type: 'stream-start', warnings: [] }, { type: 'error', error: apiError(503) }],
      says('Hi'),
    );
    const { usage } = await runOnce(one);
    expect(one.calls).toHaveLength(2);
    expect(usage['estimated']).toBe(true);
    expect(usage['inputTokens']).toBeGreaterThan(10);
  });

  it('counts no try that the provider refused', async () => {
    const { usage } = await runOnce(namedModel('first', () => Promise.reject(apiError(503)), says('Hi')));
    expect(usage).toMatchObject({ inputTokens: 10, outputTokens: 5, totalTokens: 15 });
    expect(usage).not.toHaveProperty('estimated');
  });

  it('has no cost where its models have prices in two currencies', async () => {
    const models = {
      one: namedModel('first', callsAdd, () => Promise.reject(apiError(401))),
      two: namedModel('second', says('Hi')),
    };
    const providers = { one: { prices }, two: { prices: { ...prices, currency: 'EUR' } } };
    const chunks = await readAll(await fallbackRuntime(models, { tools: [add], providers }).run(runRequest(), me));
    expect(lastData(chunks, 'data-usage')).toMatchObject({ totalTokens: 30 });
    expect(lastData(chunks, 'data-usage')).not.toHaveProperty('cost');
  });
});

describe('a budget', () => {
  it.each<[string, RunRequestInput['budget']]>([
    ['tokens', { tokens: 5 }],
    ['cost', { cost: { amount: 0.00001, currency: 'USD' } }],
  ])('of %s that the first step does not fit stops the run before it calls the model', async (reason, budget) => {
    const one = namedModel('first', says('Hi'));
    const { chunks, run } = await runOnce(one, { budget });
    expect(one.calls).toEqual([]);
    expect(run).toMatchObject({ state: 'stopped', error: { code: 'budget_exceeded', details: { reason } } });
    expect(terminalChunks(chunks)).toMatchObject([{ type: 'finish', finishReason: 'other' }]);
    expect(chunks.some(({ type }) => type === 'start-step')).toBe(false);
  });

  it.each<[string, RunRequestInput['budget']]>([
    ['tokens', { tokens: 200 }],
    ['cost', { cost: { amount: 0.0006, currency: 'USD' } }],
  ])('of %s is never exceeded, and says that it is used up', async (reason, budget) => {
    const one = namedModel('first', withUsage(callsAdd, { input: { total: 60 }, output: { total: 10 } }));
    const { run, usage, chunks } = await runOnce(one, { budget });
    expect(run).toMatchObject({ state: 'stopped', error: { details: { reason } } });
    expect(one.calls.length).toBeGreaterThan(0);
    expect(usage['totalTokens']).toBe(70 * one.calls.length);
    expect(usage['totalTokens']).toBeLessThanOrEqual(200);
    expect((usage['cost'] as { readonly amount: number }).amount).toBeLessThanOrEqual(0.0006);
    expect(terminalChunks(chunks)).toMatchObject([{ type: 'finish', finishReason: 'tool-calls' }]);
  });

  it('leaves the limit of steps its own reason', async () => {
    const { run } = await runOnce(namedModel('first', callsAdd), { limits: { steps: 2 }, budget: { tokens: 9000 } });
    expect(run).toMatchObject({ state: 'stopped', error: { code: 'budget_exceeded', details: { reason: 'steps' } } });
  });

  it('limits the length of each answer to what is left of it', async () => {
    const one = namedModel('first', callsAdd, says('Hi'));
    await runOnce(one, { budget: { tokens: 1000 } });
    const [first, second] = one.calls.map(({ maxOutputTokens = 0 }) => maxOutputTokens);
    expect(first).toBeLessThan(1000);
    expect(first).toBeGreaterThan(800);
    expect(second).toBeLessThan(1000);
  });

  it('never raises the limit of an answer', async () => {
    const one = namedModel('first', says('Hi'));
    await runOnce(one, { budget: { tokens: 100_000 }, limits: { outputTokens: 77 } });
    expect(one.calls[0]?.maxOutputTokens).toBe(77);
  });

  it.each<[string, RunRequestInput['budget']]>([
    ['tokens', { tokens: 300 }],
    ['cost', { cost: { amount: 0.002, currency: 'USD' } }],
  ])('of %s that has cut an answer short stops the run; what was said stays', async (reason, budget) => {
    const long = withUsage(says('It begins'), { input: { total: 40 }, output: { total: 150 } }, 'length');
    const { run, chunks } = await runOnce(namedModel('first', long), { budget });
    expect(run).toMatchObject({ state: 'stopped', error: { code: 'budget_exceeded', details: { reason } } });
    expect(textOf(chunks)).toBe('It begins');
    expect(terminalChunks(chunks)).toMatchObject([{ type: 'finish', finishReason: 'length' }]);
  });

  it.each<[string, object]>([
    ['no prices', {}],
    ['prices in another currency', { prices: { ...prices, currency: 'EUR' } }],
  ])('of money is refused at once where the provider has %s', async (_, provider) => {
    const runtime = fallbackRuntime({ one: namedModel('first', says('Hi')) }, { providers: { one: provider } });
    const budget = { cost: { amount: 1, currency: 'USD' } };
    await expect(runtime.run(runRequest({ budget }), me)).rejects.toMatchObject({
      code: 'invalid_argument',
      details: { reason: 'no_price', provider: 'one' },
    });
  });

  it('of money passes a fallback over that has no price', async () => {
    const models = {
      one: namedModel('first', () => Promise.reject(apiError(401))),
      two: namedModel('second', says('for free')),
      three: namedModel('third', says('priced')),
    };
    const runtime = fallbackRuntime(models, { providers: { one: { prices }, three: { prices } } });
    const budget = { cost: { amount: 1, currency: 'USD' } };
    expect(textOf(await readAll(await runtime.run(runRequest({ budget }), me)))).toBe('priced');
  });
});

describe('the budget of a plan', () => {
  const request = (budget: RunRequestInput['budget']) =>
    runRequest({ planner: {}, budget, chat: { id: 'p', messages: [userMessage('Weigh the anchor')] } });

  it('counts what its models cost', async () => {
    const one = namedModel('first', says('A ton'));
    const runtime = fallbackRuntime({ one }, { providers: { one: { prices } } });
    const chunks = await readAll(await runtime.run(request({ cost: { amount: 1, currency: 'USD' } }), me));
    expect(lastData(chunks, 'data-run')).toMatchObject({ state: 'completed' });
    expect(lastData(chunks, 'data-usage')).toMatchObject({
      totalTokens: 15,
      cost: { amount: 0.00007, currency: 'USD' },
    });
    expect(one.calls[0]?.maxOutputTokens).toBeGreaterThan(1000);
  });

  it.each<[string, RunRequestInput['budget']]>([
    ['tokens', { tokens: 20 }],
    ['cost', { cost: { amount: 0.0001, currency: 'USD' } }],
  ])('of %s fails a step that does not fit it before it calls the model', async (reason, budget) => {
    const one = namedModel('first', says('A ton'));
    const runtime = fallbackRuntime({ one }, { providers: { one: { prices } } });
    const chunks = await readAll(await runtime.run(request(budget), me));
    expect(one.calls).toEqual([]);
    expect(lastData(chunks, 'data-run')).toMatchObject({ error: { code: 'budget_exceeded', details: { reason } } });
  });

  it('of money is refused where the provider has no price', async () => {
    const runtime = fallbackRuntime({ one: namedModel('first', says('A ton')) });
    await expect(runtime.run(request({ cost: { amount: 1, currency: 'USD' } }), me)).rejects.toMatchObject({
      details: { reason: 'no_price' },
    });
  });

  it('has a fallback that goes on in the next step of the task', async () => {
    const first = namedModel('first', () => Promise.reject(apiError(401)));
    const second = namedModel('second', callsAdd, says('Two'));
    const runtime = fallbackRuntime({ one: first, two: second }, { tools: [add] });
    const chunks = await readAll(await runtime.run(request(undefined), me));
    expect(lastData(chunks, 'data-run')).toMatchObject({ state: 'completed' });
    expect([first.calls.length, second.calls.length]).toEqual([1, 2]);
  });
});
