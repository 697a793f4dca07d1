import { describe, expect, it } from 'vitest';
import { memorySecrets } from '../../../adapters/secrets/memory.ts';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { createRegistry, localPrincipal, type UIMessageChunk } from '../../../src/index.ts';
import { mcpConnector } from '../../../adapters/mcp/client.ts';
import { echoing, secret, server } from '../../contracts/mcp/check.ts';
import { createPeer, event, failure, type Peer, type PeerMessage, result } from '../../contracts/mcp/peer.ts';
import { egressTo } from '../../fixtures/mcp/mcp-peer.ts';
import { continued, person, sealKey, signInWorld } from '../../fixtures/mcp/oauth-peer.ts';
import { callsTools, says, scriptedModel } from '../../fixtures/model.ts';
import { lastData, readAll, runRequest, testRuntime } from '../../fixtures/runtime.ts';

const form = (schema: object, message = 'Who are you?') => ({
  method: 'elicitation/create',
  params: { mode: 'form', message, requestedSchema: { type: 'object', ...schema } },
});
const name = form({
  properties: { name: { type: 'string' }, size: { type: 'integer', default: 3 } },
  required: ['name'],
});

/** A server whose tool asks until it has this many rounds of answers. */
async function asking({ questions = { who: name }, rounds = 1, state }: {
  readonly questions?: Readonly<Record<string, unknown>>;
  readonly rounds?: number;
  readonly state?: string;
} = {}) {
  let asked = 0;
  const seen: unknown[] = [];
  const on = {
    'tools/call': (message: PeerMessage) => {
      const { inputResponses } = message.params as { readonly inputResponses?: Readonly<Record<string, unknown>> };
      if (asked++ < rounds) {
        const requestState = state === undefined ? {} : { requestState: `${state} ${asked}` };
        return result(message, { resultType: 'input_required', inputRequests: questions, ...requestState });
      }
      const text = inputResponses === undefined ? 'nothing' : 'thanks';
      return result(message, { resultType: 'complete', content: [{ type: 'text', text }] });
    },
  };
  const world = await signInWorld({ on, sinks: [(one) => void seen.push(one)] });
  await world.prepare();
  const calls = () => world.oauth.peer.of('tools/call').map(({ params }) => params);
  return { ...world, calls, seen };
}

const runIdOf = (chunks: readonly UIMessageChunk[]): string => String(lastData(chunks, 'data-run')['runId']);

async function answer(
  world: Awaited<ReturnType<typeof asking>>,
  chunks: readonly UIMessageChunk[],
  answers: unknown,
  by = person(),
) {
  const id = String(lastData(chunks, 'data-interruption')['id']);
  await world.runtime.mcpSignIns.answer(runIdOf(chunks), id, { answers }, by);
}

describe('a question of an MCP server', () => {
  it('asks again, up to five rounds', async () => {
    const world = await asking({ rounds: 9 });
    let chunks = await world.run();
    for (let round = 1; round <= 5; round++) {
      await answer(world, chunks, { who: { action: 'accept', content: { name: 'Ann' } } });
      const next = await world.run(continued(chunks));
      if (round < 5) expect(lastData(next, 'data-interruption')).toMatchObject({ kind: 'elicitation' });
      chunks = next;
    }
    expect(chunks.find(({ type }) => type === 'data-tool-error')).toMatchObject({
      data: { code: 'budget_exceeded', details: { reason: 'mcp_question_rounds' } },
    });
  });

  it('is answered once, and not by an approval', async () => {
    const world = await asking();
    const waiting = await world.run();
    const id = String(lastData(waiting, 'data-interruption')['id']);
    const answers = { who: { action: 'accept', content: { name: 'Ann' } } };
    await answer(world, waiting, answers);
    await expect(answer(world, waiting, answers)).rejects.toMatchObject({ code: 'already_decided' });
    await world.run(continued(waiting));
    const again = await world.run(continued(waiting));
    expect(again.find(({ type }) => type === 'data-tool-error')).toMatchObject({
      data: { details: { reason: 'approval_spent' } },
    });
    const second = await asking();
    const open = await second.run();
    const openId = String(lastData(open, 'data-interruption')['id']);
    await expect(second.runtime.decide(runIdOf(open), openId, { approved: true }, person())).rejects.toMatchObject({
      code: 'conflict',
      details: { reason: 'answers_required' },
    });
    expect(id).not.toBe(openId);
  });

  it('stays open for answers that do not fit its form', async () => {
    const world = await asking();
    const waiting = await world.run();
    const wrong = [
      {},
      { other: { action: 'accept' } },
      { who: { action: 'accept', content: {} } },
      { who: { action: 'accept', content: { name: 4 } } },
      { who: { action: 'accept', content: { name: 'Ann', more: 1 } } },
    ];
    for (const answers of wrong) {
      await expect(answer(world, waiting, answers)).rejects.toMatchObject({ code: 'invalid_argument' });
    }
    await answer(world, waiting, { who: { action: 'accept', content: { name: 'Ann' } } });
  });

  it('does not exist for another tenant', async () => {
    const world = await asking();
    const waiting = await world.run();
    const other = person('ann', { tenant: 'other' });
    const answers = { who: { action: 'decline' } };
    await expect(answer(world, waiting, answers, other)).rejects.toMatchObject({ code: 'not_found' });
  });

  it('is refused where it asks for a secret, for more than MCP allows, or for another address than https', async () => {
    const url = (address: string) => ({
      method: 'elicitation/create',
      params: { mode: 'url', message: 'Open', url: address },
    });
    const field = (key: string, schema: object = { type: 'string' }) => form({ properties: { [key]: schema } });
    const questions: readonly (readonly [unknown, string])[] = [
      ...['password', 'apiKey', 'API-key', 'ACCESS_TOKEN', 'pin', 'cardNumber', 'client_secret'].map((key) =>
        [field(key), 'mcp_secret_asked'] as const
      ),
      [field('x', { type: 'string', title: 'Your Password' }), 'mcp_secret_asked'],
      [field('x', { type: 'object' }), 'mcp_invalid_question'],
      [field('x', { $ref: '#' }), 'mcp_invalid_question'],
      [
        form({ properties: Object.fromEntries(Array.from({ length: 21 }, (_, i) => [`f${i}`, { type: 'string' }])) }),
        'mcp_invalid_question',
      ],
      [url('http://example.com'), 'mcp_invalid_question'],
      [url('javascript:alert(1)'), 'mcp_invalid_question'],
      [url('https://good.example@evil.example/'), 'mcp_invalid_question'],
      [{ method: 'sampling/createMessage', params: { messages: [] } }, 'mcp_invalid_question'],
      [{ method: 'roots/list' }, 'mcp_invalid_question'],
    ];
    for (const [question, reason] of questions) {
      const world = await asking({ questions: { who: question } });
      const chunks = await world.run();
      expect(chunks.some(({ type }) => type === 'data-interruption'), JSON.stringify(question)).toBe(false);
      const failed = chunks.find(({ type }) => type === 'data-tool-error');
      expect(failed, JSON.stringify(question)).toMatchObject({
        data: { details: { reason: expect.stringMatching(`${reason}|mcp_invalid_answer`) } },
      });
    }
  });

  it('shows the whole URL with its host, and requests nothing from it', async () => {
    const address = 'https://pay.example.com/confirm?id=1';
    const question = { method: 'elicitation/create', params: { mode: 'url', message: 'Confirm', url: address } };
    const world = await asking({ questions: { pay: question } });
    const waiting = await world.run();
    expect(lastData(waiting, 'data-interruption')).toMatchObject({
      asks: [{ key: 'pay', mode: 'url', url: address, host: 'pay.example.com' }],
    });
    await answer(world, waiting, { pay: { action: 'accept' } });
    await world.run(continued(waiting));
    expect(world.calls()[1]).toMatchObject({ inputResponses: { pay: { action: 'accept' } } });
    expect(world.oauth.requests.filter(({ url }) => url.includes('pay.example.com'))).toEqual([]);
  });
});

describe('a question that outlives its instance', () => {
  it('is answered at another instance, which continues the call', async () => {
    const world = await asking({ state: 'kept' });
    const waiting = await world.run(); // this instance never does anything again
    const second = await signInWorld({ oauth: world.oauth, storage: world.storage });
    const id = String(lastData(waiting, 'data-interruption')['id']);
    const answers = { who: { action: 'accept', content: { name: 'Ann' } } };
    await second.runtime.mcpSignIns.answer(runIdOf(waiting), id, { answers }, person());
    const after = await second.run(continued(waiting));
    expect(after.find(({ type }) => type === 'tool-output-available')).toMatchObject({
      output: { content: [{ text: 'thanks' }] },
    });
    expect(world.calls()[1]).toMatchObject({ requestState: 'kept 1', inputResponses: { who: { action: 'accept' } } });
  });

  it('is one of at most 50 that wait for a person, until it is answered', async () => {
    const world = await asking({ rounds: 99 });
    const first = await world.run();
    const others = Array.from(
      { length: 49 },
      (_, i) => ({ key: ['mcp-pending', 'acme', 'ann', `apr_${i}`], value: true }),
    );
    await world.storage.commit(others);
    const refused = await world.run();
    expect(refused.find(({ type }) => type === 'data-tool-error')).toMatchObject({
      data: { code: 'rate_limited', details: { reason: 'mcp_too_many_questions' } },
    });
    await answer(world, first, { who: { action: 'accept', content: { name: 'Ann' } } });
    expect(lastData(await world.run(), 'data-interruption')).toMatchObject({ kind: 'elicitation' });
  });
});

/** A server of 2025-11-25 that refuses calls until its URLs were opened. */
async function urlWorld(url = 'https://pay.example.com/confirm?id=7') {
  let refusals = 1;
  const peer = createPeer('legacy', {
    'tools/call': (message) => {
      if (refusals-- <= 0) return undefined;
      const elicitations = [{ mode: 'url', elicitationId: 'e1', url, message: 'Confirm the payment' }];
      return failure(message, -32_042, { data: { elicitations } });
    },
  });
  return { ...await legacyRuntime(peer), peer };
}

describe('a server of 2025-11-25 that refuses a call with -32042', () => {
  it('gets the call again once the person has opened its URLs', async () => {
    const { runtime, me, peer } = await urlWorld();
    const waiting = await readAll(await runtime.run(runRequest(), me));
    const asked = lastData(waiting, 'data-interruption');
    expect(asked).toMatchObject({
      kind: 'elicitation',
      asks: [{ key: 'url-1', mode: 'url', url: 'https://pay.example.com/confirm?id=7', host: 'pay.example.com' }],
    });
    expect(asked).not.toHaveProperty('isOpen');
    await runtime.mcpSignIns.answer(runIdOf(waiting), String(asked['id']), {
      answers: { 'url-1': { action: 'accept' } },
    }, me);
    const after = await readAll(await runtime.run(runRequest(continued(waiting)), me));
    expect(after.some(({ type }) => type === 'tool-output-available')).toBe(true);
    const calls = peer.of('tools/call').map(({ params }) => params);
    expect(calls).toHaveLength(2);
    expect(calls[1]).not.toHaveProperty('inputResponses');
  });

  it('gets no other call when the person declines', async () => {
    const { runtime, me, peer } = await urlWorld();
    const waiting = await readAll(await runtime.run(runRequest(), me));
    const id = String(lastData(waiting, 'data-interruption')['id']);
    await runtime.mcpSignIns.answer(runIdOf(waiting), id, { answers: { 'url-1': { action: 'decline' } } }, me);
    const after = await readAll(await runtime.run(runRequest(continued(waiting)), me));
    expect(after.find(({ type }) => type === 'data-tool-error')).toMatchObject({
      data: { code: 'forbidden', details: { reason: 'mcp_question_declined' } },
    });
    expect(peer.of('tools/call')).toHaveLength(1);
  });

  it('shows no question for another address than https', async () => {
    const { runtime, me } = await urlWorld('http://pay.example.com/');
    const chunks = await readAll(await runtime.run(runRequest(), me));
    expect(chunks.some(({ type }) => type === 'data-interruption')).toBe(false);
    expect(chunks.find(({ type }) => type === 'data-tool-error')).toMatchObject({
      data: { details: { reason: 'mcp_invalid_question' } },
    });
  });
});

/** A server of 2025-11-25 whose tool asks on the stream of its call, and says what it was answered. */
function askingLegacy(question: object = name) {
  const answered = Promise.withResolvers<unknown>();
  const peer = createPeer('legacy', {
    'tools/call': ({ id }) => {
      const encoder = new TextEncoder();
      const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
        async start(controller) {
          controller.enqueue(encoder.encode(`data: ${JSON.stringify({ jsonrpc: '2.0', id: 'q1', ...question })}\n\n`));
          await answered.promise;
          controller.enqueue(encoder.encode(event({ id, result: { content: [{ type: 'text', text: 'thanks' }] } })));
          controller.close();
        },
      });
      return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
    },
    '(answer)': async ({ request }) => {
      answered.resolve((await request.clone().json() as { readonly result: unknown }).result);
      return new Response(null, { status: 202 });
    },
  });
  return { peer, answered: answered.promise };
}

/** A runtime whose agent calls that tool. */
async function legacyWorld(question?: object) {
  const { peer, answered } = askingLegacy(question);
  return { ...await legacyRuntime(peer), answered };
}

async function legacyRuntime(peer: Peer) {
  const storage = memoryStorage();
  const registry = createRegistry({ storage });
  await registry.put('provider', { id: 'default', kind: 'custom' });
  await registry.put('agent', { id: 'helper', name: 'Helper', providerId: 'default', mcp: { docs: {} } });
  await registry.put('mcpServer', { id: 'docs', alias: 'docs', url: 'https://mcp.example.com/mcp' });
  const { model } = scriptedModel(callsTools({ tool: 'docs__echo', input: { text: 'hello' } }), says('ok'), says('ok'));
  const secrets = memorySecrets({ seal: { value: sealKey, origins: ['code'] } });
  const mcp = mcpConnector({ egress: egressTo(peer.handle) });
  const reported: unknown[] = [];
  const onError = (cause: unknown) => void reported.push(cause);
  const runtime = testRuntime({ model, catalog: registry, storage, secrets, mcp, sealKey: { id: 'seal' }, onError });
  const me = localPrincipal();
  const { digest } = await runtime.validateMcpServer('docs', {}, me);
  await runtime.validateMcpServer('docs', { approve: true, digest, effects: { echo: 'read' } }, me);
  return { runtime, me, reported };
}

/** Forms as libraries make them of types, and what is asked. */
const inexact: readonly (readonly [string, object, object])[] = [
  ['a reference', { properties: { c: { $ref: '#/$defs/C' } }, $defs: { C: { type: 'string', enum: ['r', 'g'] } } }, {
    enum: ['r', 'g'],
  }],
  [
    'a field that may be null',
    { properties: { c: { anyOf: [{ type: 'integer' }, { type: 'null' }], default: null } } },
    { type: 'integer' },
  ],
  ['a type that may be null', { properties: { c: { type: ['string', 'null'] } } }, { type: 'string' }],
  ['choices that may be null', { properties: { c: { oneOf: [{ enum: ['a', null] }, { type: 'null' }] } } }, {
    enum: ['a'],
  }],
  ['one text', { properties: { c: { const: 'x' } } }, { type: 'string', enum: ['x'] }],
  ['choices without a type', { properties: { c: { oneOf: [{ const: 'x', title: 'X', description: 'y' }] } } }, {
    type: 'string',
    oneOf: [{ const: 'x', title: 'X' }],
  }],
  ['null for what is left out', { properties: { c: { type: 'string', title: null } }, required: null }, {
    type: 'string',
  }],
  ['keywords, formats and patterns of its own', {
    properties: { c: { type: 'string', examples: ['x'], format: 'phone', pattern: '^(?=x)', 'x-order': 1 } },
    required: ['c', 'other'],
  }, { type: 'string' }],
  ['a default of another type', { properties: { c: { type: 'number', default: '5' } } }, {
    type: 'number',
  }],
];

describe.each(inexact)('a form with %s', (_, schema, c) => {
  it('is asked by what it means, by a server of 2026-07-28', async () => {
    const world = await asking({ questions: { who: form(schema) } });
    expect(lastData(await world.run(), 'data-interruption')).toMatchObject({
      asks: [{ schema: { properties: { c } } }],
    });
  });

  it('is asked by what it means, by a server of 2025-11-25', async () => {
    const { runtime, me } = await legacyWorld(form(schema));
    for await (const chunk of await runtime.run(runRequest(), me)) {
      if (chunk.type !== 'data-interruption') continue;
      expect(chunk.data).toMatchObject({ asks: [{ schema: { properties: { c } } }] });
      return;
    }
    throw new Error('It was not asked');
  });
});

describe('a question of a server of 2025-11-25, inside an open call', () => {
  it('is shown in the running stream, and its answer goes to the server while the call is open', async () => {
    const { runtime, me, answered } = await legacyWorld();
    const chunks: UIMessageChunk[] = [];
    for await (const chunk of await runtime.run(runRequest(), me)) {
      chunks.push(chunk);
      if (chunk.type !== 'data-interruption') continue;
      expect(chunk.data).toMatchObject({ kind: 'elicitation', isOpen: true, asks: [{ mode: 'form' }] });
      const answers = { question: { action: 'accept', content: { name: 'CANARY-ANN' } } };
      const id = String(lastData(chunks, 'data-interruption')['id']);
      await runtime.mcpSignIns.answer(runIdOf(chunks), id, { answers }, me);
    }
    expect(await answered).toMatchObject({ action: 'accept', content: { name: 'CANARY-ANN', size: 3 } });
    expect(chunks.find(({ type }) => type === 'tool-output-available')).toMatchObject({
      output: { content: [{ text: 'thanks' }] },
    });
    expect(JSON.stringify(chunks)).not.toContain('CANARY');
  });

  it('is canceled, and reported to the host alone, where it asks for a secret', async () => {
    const { runtime, me, answered, reported } = await legacyWorld(
      form({ properties: { password: { type: 'string' } } }),
    );
    const chunks = await readAll(await runtime.run(runRequest(), me));
    expect(await answered).toEqual({ action: 'cancel' });
    expect(reported).toContainEqual(expect.objectContaining({ details: { reason: 'mcp_secret_asked' } }));
    expect(chunks.some(({ type }) => type === 'data-interruption')).toBe(false);
  });

  it('is canceled where no person can be asked', async () => {
    const { peer, answered } = askingLegacy();
    const connector = mcpConnector({ egress: egressTo(peer.handle) });
    const { signal } = new AbortController();
    const connection = await connector.connect(server, { secret, questions: true, signal });
    await connection.callTool(echoing('Hi'));
    await connection.close();
    expect(await answered).toEqual({ action: 'cancel' });
  });
});
