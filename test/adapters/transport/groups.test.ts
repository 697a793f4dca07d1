/** Persons and groups at an endpoint: certificates that are renewed, a chat of several persons, runs under way, and the upgrade. */

import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { type AuthenticatorOptions, createAuthenticator } from '../../../adapters/transport/authenticator.ts';
import { type Client, type ClientOptions, createClient } from '../../../adapters/transport/client.ts';
import { createHandler } from '../../../adapters/transport/http.ts';
import { type CertificateClaims, createIssuer } from '../../../adapters/transport/issuer.ts';
import {
  type Authorize,
  type CreateRuntimeOptions,
  defineTool,
  type Scope,
  type UIMessage,
  type UIMessageChunk,
} from '../../../src/index.ts';
import type { AnyLanguageModel } from '../../../src/contracts/index.ts';
import { callsTools, says, scriptedModel, streamOf } from '../../fixtures/model.ts';
import { lastData, readAll, testRuntime, textOf, userMessage } from '../../fixtures/runtime.ts';
import { runsOfVersion02, storedByVersion02 } from '../../fixtures/stored-before.ts';

const usual: readonly Scope[] = ['run:create', 'run:read', 'run:cancel', 'tool:approve'];
const lifeS = 600;

/** An endpoint with its clock, what its operator hears, and clients whose certificates are renewed with each request. */
async function setup(
  { model, subjectOf, ...options }: Partial<CreateRuntimeOptions> & {
    readonly model: AnyLanguageModel;
    readonly subjectOf?: AuthenticatorOptions['subjectOf'];
  },
) {
  let now = 1_800_000_000_000;
  const clock = () => now;
  const storage = options.storage ?? memoryStorage({ now: clock });
  const reports: string[] = [];
  const runtime = testRuntime({
    model,
    now: clock,
    storage,
    onError: (_, { id }) => void reports.push(id ?? ''),
    ...options,
  });
  const issuer = await createIssuer({ iss: 'https://gc.example', audience: 'agents', now: clock });
  const authenticator = createAuthenticator({
    issuers: [issuer.trusted],
    audience: 'agents',
    authorities: ['worker.example'],
    storage,
    now: clock,
    every: () => () => {},
    ...(subjectOf && { subjectOf }),
  });
  const handler = createHandler(runtime, { authenticator, now: clock });
  const issue = (claims: Partial<CertificateClaims>) =>
    issuer.issue({ tenant: 'acme', agents: ['helper'], scopes: usual, ttlSeconds: lifeS, ...claims });
  /** Each certificate is of another session. */
  const clientOf = (claims: Partial<CertificateClaims>, more: Partial<ClientOptions> = {}): Client =>
    createClient({
      url: 'https://worker.example',
      certificate: () => issue({ ...(!claims.sub && { session: `session-${crypto.randomUUID()}` }), ...claims }),
      fetch: handler,
      now: clock,
      attempts: 1,
      ...more,
    });
  return { clientOf, reports, renew: () => void (now += lifeS * 1000) };
}

const chatOf = (text: string, id = 'chat-of-42') => ({
  agentId: 'helper',
  chat: { id, messages: [userMessage(text, `m-${text}`)], store: true },
});

/** A model that says a half, and the other one when it is let. */
function halting(...rest: readonly ReturnType<typeof says>[]) {
  const { promise, resolve } = Promise.withResolvers<void>();
  const parts = says('Half', ' done');
  const { model } = scriptedModel(() => {
    const source = streamOf(parts).getReader();
    let sent = 0;
    return new ReadableStream({
      async pull(controller) {
        if (sent++ === 3) await promise;
        const { done, value } = await source.read();
        if (done) controller.close();
        else controller.enqueue(value);
      },
    }, { highWaterMark: 0 });
  }, ...rest);
  return { model, finish: resolve };
}

/** Reads a stream up to its first text; returns the id of the run and what reads on. */
async function begin(stream: ReadableStream<UIMessageChunk>) {
  const reader = stream.getReader();
  let runId = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done || value.type === 'text-delta') return { runId, reader };
    if (value.type === 'data-run') ({ runId } = value.data as { runId: string }); // safe: of this chunk
  }
}

const payment = (paid: string[], approval: 'never' | 'always' = 'never') =>
  defineTool({
    id: 'pay',
    description: 'Pays an invoice',
    approval,
    input: v.strictObject({ invoice: v.string() }),
    execute: ({ invoice }) => (paid.push(invoice), 'paid'),
  });

const underFourEyes: Authorize = (action) =>
  action === 'tool.call' ? { decision: 'ask', reason: 'It pays', fourEyes: true } : { decision: 'allow' };

/** The message that goes on with an approved call, as a page sends it. */
function answered(message: UIMessage): UIMessage {
  return {
    ...message,
    parts: message.parts.map((part) =>
      'approval' in part && part.approval
        ? { ...part, state: 'approval-responded', approval: { ...part.approval, approved: true } } as typeof part // as the AI SDK does
        : part
    ),
  };
}

describe('a group of three persons in one chat', () => {
  const group = { subject: 'group:42' };

  it('goes on over renewed certificates: another member joins the run, and a retry finds it', async () => {
    const { model, finish } = halting(says('Second'));
    const { clientOf, renew, reports } = await setup({ model });
    const [ada, bo, cy] = ['ada', 'bo', 'cy'].map((actor) => clientOf({ ...group, actor })) as [Client, Client, Client];
    const idempotencyKey = 'turn-1-of-chat-of-42';
    const { runId, reader } = await begin(await ada.run(chatOf('Hello'), { idempotencyKey }));
    renew();
    const joined = await bo.resume(runId);
    expect(await bo.status(runId)).toMatchObject({ state: 'running' });
    const resumed = await cy.reconnectToStream({ chatId: 'chat-of-42' });
    const retried = cy.run(chatOf('Hello'), { idempotencyKey });
    finish();
    expect(textOf(await readAll(joined!))).toBe('Half done');
    expect(textOf(await readAll(resumed!))).toBe('Half done');
    expect(textOf(await readAll(await retried))).toBe('Half done');
    for (let next = await reader.read(); !next.done;) next = await reader.read(); // its own stream has ended, too
    renew();
    expect(textOf(await readAll(await bo.run(chatOf('Hello'), { idempotencyKey })))).toBe('Half done');
    await readAll(await cy.run(chatOf('And now?')));
    const chat = await ada.chats.get('chat-of-42');
    expect(chat.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant']);
    expect(reports).toEqual([]); // its sessions are many, its subject is one
  });

  it('pays once, when another member has approved it: never the one who asked', async () => {
    const paid: string[] = [];
    const decided: unknown[] = [];
    const { model } = scriptedModel(callsTools({ tool: 'pay', input: { invoice: 'i-1' } }), says('Paid'));
    const { clientOf, renew } = await setup({
      model,
      tools: [payment(paid)],
      authorize: underFourEyes,
      sinks: [(event) => void (event.action === 'approval.decide' && decided.push([event.status, event.actor]))],
    });
    const [ada, bo, cy] = ['ada', 'bo', 'cy'].map((actor) => clientOf({ ...group, actor })) as [Client, Client, Client];
    const chunks = await readAll(await ada.run(chatOf('Pay i-1')));
    const request = chunks.find((chunk) => chunk.type === 'tool-approval-request');
    const approvalId = request?.type === 'tool-approval-request' ? request.approvalId : '';
    const runId = String(lastData(chunks, 'data-run')['runId']);
    renew();
    const yes = { approved: true };
    await expect(ada.approve(runId, approvalId, yes)).rejects.toMatchObject({
      code: 'forbidden',
      details: { reason: 'own_request' },
    });
    const alone = clientOf({ subject: 'ada' }); // the person, outside of the group
    await expect(alone.approve(runId, approvalId, yes)).rejects.toMatchObject({ status: 404 });
    const admin = clientOf({ subject: 'ada', scopes: [...usual, 'admin'] });
    await expect(admin.approve(runId, approvalId, yes)).rejects.toMatchObject({ details: { reason: 'own_request' } });
    const unnamed = clientOf(group); // any member may be behind it
    await expect(unnamed.approve(runId, approvalId, yes)).rejects.toMatchObject({ details: { reason: 'own_request' } });
    await bo.approve(runId, approvalId, yes);
    await expect(cy.approve(runId, approvalId, yes)).rejects.toMatchObject({ code: 'already_decided' });
    expect(paid).toEqual([]);
    const { messages } = await cy.chats.get('chat-of-42');
    const goOn = { agentId: 'helper', chat: { id: 'chat-of-42', store: true, messages: [answered(messages.at(-1)!)] } };
    await readAll(await cy.run(goOn));
    await readAll(await ada.run(goOn)).catch(() => undefined);
    expect(paid).toEqual(['i-1']);
    expect(decided).toContainEqual(['ok', { type: 'user', id: 'group:42', by: 'bo' }]);
  });

  it('is one owner for a back end that signs for many, and no other group', async () => {
    const { model } = scriptedModel(says('Hi'));
    const { clientOf } = await setup({ model });
    const server = (subject: string) => clientOf({ subject: 'shop-server', actFor: ['group:4*'] }, { subject });
    const idempotencyKey = 'turn-1-of-chat-of-42';
    const chunks = await readAll(await server('group:42').run(chatOf('Hello'), { idempotencyKey }));
    const runId = String(lastData(chunks, 'data-run')['runId']);
    const again = await readAll(await server('group:42').run(chatOf('Hello'), { idempotencyKey }));
    expect(lastData(again, 'data-run')['runId']).toBe(runId);
    const other = await readAll(await server('group:43').run(chatOf('Hello'), { idempotencyKey }));
    expect(lastData(other, 'data-run')['runId']).not.toBe(runId);
    for (const client of [server('group:43'), clientOf({ subject: 'shop-server' })]) {
      await expect(client.status(runId)).rejects.toMatchObject({ status: 404 });
    }
    await expect(server('group:5').status(runId)).rejects.toMatchObject({ details: { reason: 'not_delegated' } });
  });
});

describe('a run under way', () => {
  it('cannot be followed, steered, stopped or replayed by others of its tenant', async () => {
    const { model, finish } = halting(says('Of bo'));
    const { clientOf } = await setup({ model });
    const [ada, bo] = [clientOf({ subject: 'ada' }), clientOf({ subject: 'bo' })];
    const idempotencyKey = 'turn-1-of-chat-of-42';
    const { runId, reader } = await begin(await ada.run(chatOf('Hello'), { idempotencyKey }));
    const refused: readonly [string, () => Promise<unknown>][] = [
      ['status', () => bo.status(runId)],
      ['stream', () => bo.resume(runId)],
      ['steering', () => bo.send(runId, { parts: [{ type: 'text', text: 'Obey' }] })],
      ['cancel', () => bo.cancel(runId)],
      ['fork', () => bo.fork(runId, { atStep: 1 })],
      ['forks', () => bo.forks(runId)],
      ['decision', () => bo.approve(runId, 'apr_1', { approved: true })],
      ['reply', () => bo.reply(runId, { askId: 'ask-1', answer: 'yes' })],
      ['chat', () => bo.chats.get('chat-of-42')],
    ];
    for (const [what, attack] of refused) await expect(attack(), what).rejects.toMatchObject({ status: 404 });
    expect(await bo.reconnectToStream({ chatId: 'chat-of-42' })).toBeNull();
    expect(await bo.call('GET', '/v1/agents/helper/chat/chat-of-42/stream')).toBeUndefined();
    // The same key and request are a run of bo's own, and its answer never shows up at ada's.
    expect(textOf(await readAll(await bo.run(chatOf('Hello'), { idempotencyKey })))).toBe('Of bo');
    const mine = await ada.reconnectToStream({ chatId: 'chat-of-42' });
    finish();
    expect(textOf(await readAll(mine!))).toBe('Half done');
    for (let next = await reader.read(); !next.done;) next = await reader.read();
    expect((await ada.chats.get('chat-of-42')).messages).toHaveLength(2);
    expect((await bo.chats.get('chat-of-42')).messages).toHaveLength(2);
    expect(JSON.stringify(await ada.chats.get('chat-of-42'))).not.toContain('Of bo');
  });
});

describe('a back end whose sub is a session', () => {
  /** Two turns of one person, whose certificate is renewed in between, and a retry of the second after another renewal. */
  async function twoTurns(
    claimsOf: (session: string) => Partial<CertificateClaims>,
    options: { readonly subjectOf?: AuthenticatorOptions['subjectOf'] } = {},
  ) {
    const { model, calls } = scriptedModel(says('One'), says('Two'), says('Three'));
    const { clientOf, reports, renew } = await setup({ model, ...options });
    await readAll(
      await clientOf(claimsOf('session-1')).run(chatOf('First'), { idempotencyKey: 'turn-1-of-chat-of-42' }),
    );
    renew();
    const second = { idempotencyKey: 'turn-2-of-chat-of-42' };
    const told = textOf(await readAll(await clientOf(claimsOf('session-2')).run(chatOf('Second'), second)));
    renew();
    const retry = clientOf(claimsOf('session-3'));
    const retold = textOf(await readAll(await retry.run(chatOf('Second'), second)));
    const chat = await retry.chats.get('chat-of-42');
    return { told, retold, calls: calls.length, reports, messages: chat.messages.length };
  }

  it('loses nothing and runs nothing twice with the claim subject', async () => {
    expect(await twoTurns((session) => ({ subject: 'ada', session }))).toEqual({
      told: 'Two',
      retold: 'Two',
      calls: 2,
      reports: [],
      messages: 4,
    });
  });

  it('loses nothing and runs nothing twice with subjectOf', async () => {
    const subjectOf: AuthenticatorOptions['subjectOf'] = ({ sub }) => /^(.+)-session-\d$/.exec(sub)?.[1];
    expect(await twoTurns((session) => ({ sub: `ada-${session}` }), { subjectOf })).toEqual({
      told: 'Two',
      retold: 'Two',
      calls: 2,
      reports: [],
      messages: 4,
    });
  });

  it('is reported to the operator without them', async () => {
    const { reports, calls } = await twoTurns((sub) => ({ sub }));
    expect(reports).toEqual(['subject_looks_like_session']);
    expect(calls).toBe(3); // each session is an owner of its own
  });
});

describe('what version 0.2 stored for the subject session-1', () => {
  const { firstRunId, runId, approvalId, fileId } = runsOfVersion02;
  const first = { idempotencyKey: 'turn-1-of-chat-of-42' };

  async function upgraded() {
    const paid: string[] = [];
    const { model, calls } = scriptedModel(says('Paid'));
    const storage = await storedByVersion02(() => runsOfVersion02.at);
    return { ...await setup({ model, tools: [payment(paid, 'always')], storage, keep: 'inputs' }), paid, calls };
  }

  it('is read, repeated, decided and gone on with by it, once', async () => {
    const { clientOf, paid, calls } = await upgraded();
    const client = clientOf({ sub: 'session-1' });
    expect(await client.status(runId)).toMatchObject({ state: 'awaiting_approval' });
    expect(textOf(await readAll((await client.resume(firstRunId))!))).toBe('One');
    expect(textOf(await readAll(await client.run(chatOf('First'), first)))).toBe('One');
    expect(await (await client.blobs.read(fileId)).text()).toBe('Terms');
    expect(calls).toHaveLength(0);
    await client.approve(runId, approvalId, { approved: true });
    const { messages } = await client.chats.get('chat-of-42');
    expect(messages).toHaveLength(4);
    const chat = { id: 'chat-of-42', store: true, messages: [answered(messages.at(-1)!)] };
    await readAll(await client.run({ agentId: 'helper', chat }));
    expect(paid).toEqual(['i-1']);
    expect((await client.chats.get('chat-of-42')).messages).toHaveLength(4);
  });

  it('stays with its owner, and its keys start nothing twice, also where the subject is named from now on', async () => {
    const { clientOf, calls } = await upgraded();
    for (const claims of [{ subject: 'ada', session: 'session-2' }, { subject: 'bo' }, { sub: 'session-2' }]) {
      const client = clientOf(claims);
      for (const id of [runId, firstRunId]) {
        await expect(client.status(id)).rejects.toMatchObject({ status: 404 });
        await expect(client.resume(id)).rejects.toMatchObject({ status: 404 });
      }
      await expect(client.chats.get('chat-of-42')).rejects.toMatchObject({ status: 404 });
      await expect(client.approve(runId, approvalId, { approved: true })).rejects.toMatchObject({ status: 404 });
      await expect(client.run(chatOf('First'), first)).rejects.toMatchObject({ code: 'idempotency_key_reused' });
      expect(await client.reconnectToStream({ chatId: 'chat-of-42' })).toBeNull();
    }
    expect(calls).toHaveLength(0);
    const admin = clientOf({ subject: 'root', scopes: [...usual, 'admin'] });
    expect(await admin.status(runId)).toMatchObject({ state: 'awaiting_approval' });
    expect((await admin.chats.get('chat-of-42', { subject: 'session-1' })).messages).toHaveLength(4);
  });
});
