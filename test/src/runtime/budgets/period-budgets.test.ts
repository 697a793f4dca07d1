import { describe, expect, it, vi } from 'vitest';
import { textSource } from '../../../../adapters/grounding/text.ts';
import { staticCatalog } from '../../../../adapters/catalog/static.ts';
import { memorySink } from '../../../../adapters/sinks/memory.ts';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import { createHandler } from '../../../../adapters/transport/http.ts';
import { createClient } from '../../../../adapters/transport/client.ts';
import {
  createGrounding,
  createPrincipal,
  createRuntime,
  type CreateRuntimeOptions,
  PinnaceError,
  type PlanningRuntime,
  type Principal,
  type Scope,
  type Storage,
  type UIMessage,
} from '../../../../src/index.ts';
import type { PeriodBudgetInput } from '../../../../src/runtime/budget-terms.ts';
import { callsTools, says, scriptedModel, stallingStream, streamOf } from '../../../fixtures/model.ts';
import { lastData, readAll, runRequest, terminalChunks, userMessage } from '../../../fixtures/runtime.ts';

const scopes: readonly Scope[] = ['run:create', 'run:read', 'run:cancel', 'tool:approve'];
const person = (subject: string, more: Partial<Principal> = {}): Principal =>
  createPrincipal({ via: 'http', tenant: 't1', subject, agents: '*', scopes, ...more });
const [ada, bo] = [person('ada'), person('bo')];

const prices = { input: 2, output: 10, currency: 'USD' };
const noon = Date.parse('2026-11-27T12:00:00Z');

/** An agent that remembers without asking. */
function rememberingCatalog() {
  return staticCatalog({
    agents: [{
      id: 'helper',
      name: 'Helper',
      providerId: 'default',
      entryTools: ['remember'],
      dataSources: ['notes'],
    }],
    providers: [{ id: 'default', kind: 'custom' }],
  });
}

interface Given extends Partial<Omit<CreateRuntimeOptions, 'budgets' | 'models'>> {
  readonly isPriced?: boolean;
  /** What the model answers, at each call. */
  readonly script?: () => ReturnType<typeof streamOf<ReturnType<typeof says>[number]>>;
}

/** A runtime whose model says "Hi" and reports 10 tokens of input and 5 of output with it. */
function runtimeWith(budgets: readonly PeriodBudgetInput[], given: Given = {}) {
  const { isPriced = true, script = () => streamOf(says('Hi')), ...options } = given;
  const { model, calls } = scriptedModel(script);
  const { sink, events } = memorySink();
  const clock = { now: noon };
  const catalog = staticCatalog({
    agents: [
      { id: 'helper', name: 'Helper', providerId: 'default', entryTools: ['*'], plans: true },
      { id: 'other', name: 'Other', providerId: 'default', plans: true },
    ],
    providers: [{ id: 'default', kind: 'custom', ...(isPriced && { prices }) }],
  });
  const runtime = createRuntime({
    catalog,
    models: { model: () => model },
    storage: memoryStorage(),
    sinks: [sink],
    now: () => clock.now,
    budgets,
    ...options,
  });
  return { runtime, calls, events, clock };
}

/** Runs once; resolves to the end of the stream, or the error of a run that was not started. */
async function run(runtime: PlanningRuntime, principal = ada, more: object = {}): Promise<unknown> {
  try {
    const chunks = await readAll(
      await runtime.run(
        runRequest({ chat: { id: crypto.randomUUID(), messages: [userMessage('Hello')] }, ...more }),
        principal,
      ),
    );
    return terminalChunks(chunks)[0];
  } catch (error) {
    return error;
  }
}

const refused = (reason: string, budget = 'day') =>
  expect.objectContaining({
    code: 'budget_exceeded',
    status: 429,
    details: expect.objectContaining({ reason, budget, resetsAt: '2026-11-28T00:00:00.000Z' }),
    retryAfterMs: 12 * 3_600_000,
  });
const finished = expect.objectContaining({ type: 'finish' });
const day = (more: Partial<PeriodBudgetInput>): PeriodBudgetInput => ({
  id: 'day',
  of: 'tenant',
  every: 'day',
  ...more,
});

describe('a budget of a period', () => {
  it.each<[of: PeriodBudgetInput['of'], mine: Principal, agentId: string, other: Principal, otherAgent: string]>([
    ['subject', ada, 'helper', bo, 'helper'],
    ['agent', ada, 'helper', bo, 'other'],
    ['tenant', ada, 'helper', person('ada', { tenant: 't2' }), 'helper'],
  ])('of a %s is its own', async (of, mine, agentId, other, otherAgent) => {
    const { runtime } = runtimeWith([day({ of, runs: 1 })]);
    expect(await run(runtime, mine, { agentId })).toEqual(finished);
    expect(await run(runtime, mine, { agentId })).toEqual(refused('period_runs'));
    expect(await run(runtime, other, { agentId: otherAgent })).toEqual(finished);
    await runtime.close();
  });

  it('counts the runs of its agents alone', async () => {
    const { runtime } = runtimeWith([day({ runs: 1, agents: ['other'] })]);
    for (let at = 0; at < 3; at++) expect(await run(runtime)).toEqual(finished);
    expect(await run(runtime, ada, { agentId: 'other' })).toEqual(finished);
    expect(await run(runtime, bo, { agentId: 'other' })).toEqual(refused('period_runs'));
    await runtime.close();
  });

  it('takes nothing for a run that is refused or known', async () => {
    const { runtime } = runtimeWith([day({ runs: 2 })]);
    await expect(runtime.run(runRequest({ agentId: 'none' }), ada)).rejects.toMatchObject({ code: 'not_found' });
    const noText = {
      chat: { id: 'c', messages: [{ id: 'm', role: 'user' as const, parts: [{ type: 'step-start' as const }] }] },
      planner: {},
    };
    await expect(runtime.run(runRequest(noText), ada)).rejects.toMatchObject({ code: 'invalid_argument' });
    for (let at = 0; at < 3; at++) {
      await readAll(await runtime.run(runRequest(), ada, { idempotencyKey: 'same' }));
    }
    expect(await run(runtime)).toEqual(finished);
    expect(await run(runtime)).toEqual(refused('period_runs'));
    await runtime.close();
  });

  it('of tokens ends what is used up, bounds each answer, and is exact over instances', async () => {
    const storage = memoryStorage();
    const given = { storage, limits: { outputTokens: 20 } };
    const [one, other] = [
      runtimeWith([day({ tokens: 400 })], given),
      runtimeWith([day({ tokens: 400 })], given),
    ];
    for (let at = 0; at < 30; at++) await run(at % 2 === 0 ? one.runtime : other.runtime);
    expect(one.calls.length + other.calls.length).toBeGreaterThan(20);
    for (const { maxOutputTokens } of [...one.calls, ...other.calls]) {
      expect(maxOutputTokens).toBeGreaterThan(0);
      expect(maxOutputTokens).toBeLessThanOrEqual(20);
    }
    await Promise.all([one.runtime.close(), other.runtime.close()]);
    const [entry] = await storage.list({ prefix: ['spent'], limit: 5 });
    const spent = entry?.value as { readonly tokens: number } | undefined;
    expect(spent?.tokens).toBeLessThanOrEqual(400);
    expect(spent?.tokens).toBe(15 * (one.calls.length + other.calls.length));
  });

  it('of money counts in millionths what calls cost', async () => {
    const { runtime } = runtimeWith([day({ of: 'subject', cost: { amount: 1, currency: 'USD' } })]);
    await run(runtime);
    expect((await runtime.budgets(ada))[0]?.used).toEqual({ cost: { amount: 0.00007, currency: 'USD' } }); // 10 × 2 + 5 × 10
    expect((await runtime.budgets(bo))[0]?.used).toEqual({ cost: { amount: 0, currency: 'USD' } });
    await runtime.close();
  });

  it.each<[string, Given, string]>([
    ['without a price', { isPriced: false }, 'USD'],
    ['with a price in another currency', {}, 'EUR'],
  ])('of money refuses a model %s', async (_, given, currency) => {
    const { runtime, calls } = runtimeWith([day({ cost: { amount: 5, currency } })], given);
    expect(await run(runtime)).toMatchObject({ code: 'invalid_argument', details: { reason: 'no_price' } });
    expect(calls).toHaveLength(0);
    await runtime.close();
  });

  it('counts tries that fail, and answers that are left', async () => {
    const fails = () => streamOf([{ type: 'error' as const, error: new Error('overloaded') }]);
    const failing = runtimeWith([day({ of: 'subject', tokens: 100_000 })], {
      script: fails,
      limits: { modelRetries: 0 },
    });
    await run(failing.runtime);
    expect((await failing.runtime.budgets(ada))[0]?.used?.tokens).toBeGreaterThan(0);
    const stalls = () => stallingStream(says('Some words that were said before the client left').slice(0, 3));
    const left = runtimeWith([day({ of: 'subject', tokens: 100_000 })], { script: stalls });
    const stop = new AbortController();
    const reader = (await left.runtime.run(runRequest(), ada, { signal: stop.signal })).getReader();
    for (let next = await reader.read(); next.value?.type !== 'text-delta'; next = await reader.read());
    stop.abort();
    for (let next = await reader.read(); !next.done; next = await reader.read());
    await vi.waitFor(async () => {
      const tokens = (await left.runtime.budgets(ada))[0]?.used?.tokens ?? 0;
      expect(tokens).toBeGreaterThan(5);
      expect(tokens).toBeLessThan(200); // not what was reserved
    });
    await Promise.all([failing.runtime.close(), left.runtime.close()]);
  });

  it('pays for each step of a plan and each agent once', async () => {
    const { runtime, calls } = runtimeWith([day({ of: 'subject', tokens: 100_000, runs: 10 })]);
    const tasks = ['a', 'b', 'c'].map((key) => ({ key, goal: key, agentId: 'other' }));
    await run(runtime, ada, { planner: { plan: { tasks } } });
    expect(calls.length).toBeGreaterThanOrEqual(3);
    expect((await runtime.budgets(ada))[0]?.used).toEqual({ tokens: 15 * calls.length, runs: 1 });
    await runtime.close();
  });

  it('stops a run under way with what was said, and a plan', async () => {
    const turns = (step: number) => callsTools({ tool: 'current_time', input: {}, id: `c${step}` });
    let step = 0;
    const { runtime } = runtimeWith([day({ tokens: 800 })], {
      script: () => streamOf(turns(++step)),
      limits: { steps: 100, stallAfter: Infinity },
    });
    const chunks = await readAll(await runtime.run(runRequest(), ada));
    expect(chunks.filter(({ type }) => type === 'start-step')).toHaveLength(step);
    expect(JSON.stringify(chunks.slice(-3))).toContain('period_tokens');
    expect(step).toBeGreaterThan(1);
    await runtime.close();
  });

  it('pays nothing while its storage is out of reach: new runs are refused as unavailable', async () => {
    const base = memoryStorage();
    let isDown = false;
    const storage: Storage = {
      ...base,
      async commit(changes) {
        if (isDown && changes.some(({ key }) => key[0] === 'spent')) {
          throw new PinnaceError('unavailable', 'Out of reach');
        }
        return await base.commit(changes);
      },
    };
    const { runtime, calls } = runtimeWith([day({ tokens: 10_000, runs: 10_000 })], {
      storage,
      limits: { storageGraceMs: 30 },
    });
    isDown = true;
    expect(await run(runtime)).toMatchObject({ code: 'unavailable', details: { reason: 'budget_unavailable' } });
    expect(calls).toHaveLength(0);
    isDown = false;
    expect(await run(runtime)).toEqual(finished);
    await runtime.close();
  });

  it('of written bytes ends what an agent remembers, and what a data source receives', async () => {
    const storage = memoryStorage();
    const grounding = createGrounding({
      sources: [{ ...textSource({ id: 'notes', storage }), scope: 'subject' }, textSource({ id: 'handbook', storage })],
    });
    const call = { tool: 'remember', input: { dataSourceId: 'notes', items: [{ text: 'x'.repeat(700) }] } };
    let calls = 0;
    const { runtime } = runtimeWith([day({ of: 'subject', bytes: 2_500 })], {
      storage,
      grounding,
      script: () => streamOf(++calls % 2 === 1 ? callsTools(call) : says('Done')),
      catalog: rememberingCatalog(),
    });
    /** Remembers by a call that a person approves. */
    const outcomeOf = async (principal: Principal): Promise<unknown> => {
      const id = crypto.randomUUID();
      const first = await readAll(
        await runtime.run(runRequest({ chat: { id, messages: [userMessage('Note')] } }), principal),
      );
      const asked = first.find((chunk) => chunk.type === 'tool-approval-request');
      if (asked?.type !== 'tool-approval-request') return first.find(({ type }) => type.startsWith('tool-output'));
      await runtime.decide(
        String(lastData(first, 'data-run')['runId']),
        asked.approvalId,
        { approved: true },
        principal,
      );
      const part = {
        type: 'tool-remember',
        toolCallId: asked.toolCallId,
        input: call.input,
        state: 'approval-responded',
        approval: { id: asked.approvalId, approved: true },
      };
      const waiting = { id: 'm2', role: 'assistant', parts: [part] } as UIMessage;
      const chunks = await readAll(
        await runtime.run(runRequest({ chat: { id, messages: [userMessage('Note'), waiting] } }), principal),
      );
      return chunks.find(({ type }) => type === 'tool-output-available' || type === 'tool-output-error');
    };
    for (let i = 0; i < 3; i++) expect(await outcomeOf(ada)).toMatchObject({ type: 'tool-output-available' });
    expect(await outcomeOf(ada)).toMatchObject({
      type: 'tool-output-error',
      errorText: expect.stringMatching(
        /budget "day" of this person for this day does not have enough bytes left.*2026-11-28T00:00:00/,
      ),
    });
    expect(await outcomeOf(bo)).toMatchObject({ type: 'tool-output-available' });

    const authenticate = () => Promise.resolve(person('cy', { scopes: ['run:read', 'registry:write'] }));
    const handle = createHandler(runtime, { authenticator: { authenticate }, grounding: { grounding, storage } });
    const ingest = (name: string, length: number) =>
      handle(
        new Request('http://127.0.0.1/v1/data-sources/handbook/ingest', {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ files: [{ name, text: 'word '.repeat(length / 5) }] }),
        }),
      );
    expect((await ingest('a.txt', 1_000)).status).toBe(200);
    const refusal = await ingest('b.txt', 5_000);
    expect(refusal.status).toBe(429);
    expect(await refusal.json()).toMatchObject({
      code: 'budget_exceeded',
      details: { reason: 'period_bytes', budget: 'day', of: 'subject', resetsAt: '2026-11-28T00:00:00.000Z' },
    });
    const found = await grounding.retrieve({ dataSourceId: 'handbook', query: 'word', topK: 50 }, { principal: ada });
    expect(found.hits.every(({ metadata }) => metadata?.['file'] === 'a.txt')).toBe(true);
    const [view] = await runtime.budgets(person('cy'));
    expect(view?.used?.bytes).toBeGreaterThan(1_000);
  });

  it('of written bytes ends uploads and chats of one tenant, and no others', async () => {
    const { runtime } = runtimeWith([day({ bytes: 10_000 })]);
    const upload = (subject: Principal, size: number, fill: number) =>
      runtime.blobs.put(new Uint8Array(size).fill(fill + 97), 'text/plain', subject);
    for (let at = 0; at < 3; at++) await upload(at === 0 ? bo : ada, 3_000, at);
    await expect(upload(ada, 3_000, 4)).rejects.toEqual(refused('period_bytes'));
    await upload(person('ada', { tenant: 't2' }), 3_000, 5);
    const store = async (text: string) =>
      await run(runtime, ada, { chat: { id: 'c1', store: true, messages: [userMessage(text, crypto.randomUUID())] } });
    expect(await store('Short')).toEqual(finished);
    expect(await store('x'.repeat(2_000))).toEqual(refused('period_bytes'));
    expect(await run(runtime)).toEqual(finished); // stores no message
    await runtime.close();
  });

  it('takes other terms for one holder', async () => {
    const { runtime } = runtimeWith([day({ of: 'subject', runs: 1 })], {
      budgetFor: (budget, { subject }) => subject === 'bo' && budget.id === 'day' ? { runs: 3 } : undefined,
    });
    for (let at = 0; at < 3; at++) expect(await run(runtime, bo)).toEqual(finished);
    expect([await run(runtime, bo), await run(runtime), await run(runtime)])
      .toEqual([refused('period_runs'), finished, refused('period_runs')]);
    await runtime.close();
  });

  it('emits once that it is nearly used, and once that it is spent, to its tenant', async () => {
    const { runtime, events } = runtimeWith([day({ of: 'subject', runs: 10 })]);
    for (let at = 0; at < 13; at++) await run(runtime);
    const told = events.filter(({ action }) => action.startsWith('budget.'));
    expect(told.map(({ action, target, actor }) => [action, target.id, actor.id])).toEqual([
      ['budget.warn', 'day', 'ada'],
      ['budget.spent', 'day', 'ada'],
    ]);
    expect(runtime.metrics.text()).toContain('pinnace_budget_share{budget="day"} 1');
    await runtime.close();
  });

  it('changes nothing where there is none: no commit, no limit of answers', async () => {
    const storage = memoryStorage();
    const { runtime, calls } = runtimeWith([], { storage });
    await run(runtime);
    expect(await storage.list({ prefix: ['spent'], limit: 5 })).toEqual([]);
    expect(calls[0]?.maxOutputTokens).toBeUndefined();
    expect(await runtime.budgets(ada)).toEqual([]);
    await runtime.close();
  });
});

describe('GET /v1/budgets', () => {
  it('shows a caller its own budgets, and of its tenant the share alone', async () => {
    const { runtime } = runtimeWith([
      day({ runs: 4 }),
      {
        id: 'mine',
        of: 'subject',
        every: 'month',
        timeZone: 'Europe/Berlin',
        tokens: 5_000,
        cost: { amount: 3, currency: 'USD' },
      },
      { id: 'helper', of: 'agent', agents: ['helper', 'other'], every: 'hour', runs: 8 },
    ]);
    let caller = ada;
    const handle = createHandler(runtime, { authenticator: { authenticate: () => Promise.resolve(caller) } });
    const client = createClient({
      url: 'https://worker.example',
      credentials: { bearer: 'x' },
      fetch: handle,
    });
    await run(runtime);
    const budgets = await client.budgets();
    expect(budgets).toEqual(await runtime.budgets(ada));
    expect(budgets).toMatchObject([
      { id: 'day', of: 'tenant', share: 0.25, resetsAt: Date.parse('2026-11-28T00:00:00Z') },
      { id: 'mine', limit: { tokens: 5_000 }, used: { tokens: 15 }, resetsAt: Date.parse('2026-11-30T23:00:00Z') },
      { id: 'helper', agentId: 'helper', used: { runs: 1 } },
      { id: 'helper', agentId: 'other', used: { runs: 0 } },
    ]);
    expect(budgets[0]).not.toHaveProperty('used');
    caller = person('chief', { scopes: ['run:read', 'admin'], agents: ['other'] });
    expect(await client.budgets()).toMatchObject([
      { id: 'day', limit: { runs: 4 }, used: { runs: 1 } },
      { id: 'mine', used: { tokens: 0 } },
      { id: 'helper', agentId: 'other' },
    ]);
    caller = person('ada', { scopes: ['run:create'] });
    await expect(client.budgets()).rejects.toMatchObject({ code: 'forbidden' });
    await runtime.close();
  });

  it('answers a refused run as a problem with Retry-After', async () => {
    const { runtime } = runtimeWith([day({ runs: 0 })]);
    const handle = createHandler(runtime, { authenticator: { authenticate: () => Promise.resolve(ada) } });
    const response = await handle(
      new Request('https://worker.example/v1/runs', {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'idempotency-key': '"key-0123456789-0123"' },
        body: JSON.stringify(runRequest()),
      }),
    );
    expect([response.status, response.headers.get('retry-after')]).toEqual([429, '43200']);
    expect(await response.json()).toMatchObject({
      code: 'budget_exceeded',
      retryable: false,
      details: { reason: 'period_runs', budget: 'day', of: 'tenant', resetsAt: '2026-11-28T00:00:00.000Z' },
    });
    await runtime.close();
  });
});
