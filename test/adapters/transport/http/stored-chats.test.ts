import { describe, expect, it } from 'vitest';
import { localPrincipal, type UIMessage } from '../../../../src/index.ts';
import { says, scriptedModel } from '../../../fixtures/model.ts';
import { readAll, runRequest, testRuntime, textOf, userMessage } from '../../../fixtures/runtime.ts';
import { signedEndpoint } from '../../../fixtures/signed-endpoint.ts';

function twoAnswers() {
  const { model, calls } = scriptedModel(says('one'), says('two'));
  return { runtime: testRuntime({ model }), calls };
}

/** Chats that are stored by a client's requests, with the client's own transport. */
type Chatting = Pick<
  Awaited<ReturnType<Awaited<ReturnType<typeof signedEndpoint>>['client']>>,
  'chats' | 'sendMessages'
>;

async function send({ sendMessages }: Chatting, messages: UIMessage[]): Promise<string> {
  const stream = await sendMessages({
    trigger: 'submit-message',
    chatId: 'c 1/ü',
    messageId: undefined,
    messages,
    abortSignal: undefined,
    body: { agentId: 'helper', store: true },
  });
  return textOf(await readAll(stream));
}

/** Sends two messages, renames, lists and deletes. */
async function useChats(client: Chatting): Promise<void> {
  const first = userMessage('My name is Ada', 'm1');
  expect(await send(client, [first])).toBe('one');
  const answer: UIMessage = { id: 'of the client', role: 'assistant', parts: [{ type: 'text', text: 'one' }] };
  expect(await send(client, [first, answer, userMessage('What is it?', 'm3')])).toBe('two');
  const chat = await client.chats.get('c 1/ü');
  expect(chat).toMatchObject({ chatId: 'c 1/ü', title: 'My name is Ada', version: 1, agentIds: ['helper'] });
  expect(chat.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant']);
  expect(Math.abs(Date.now() - chat.updatedAt)).toBeLessThan(600_000);
  const page = await client.chats.get('c 1/ü', { limit: 3 });
  expect(page.messages).toHaveLength(3);
  const rest = await client.chats.get('c 1/ü', { limit: 3, pageToken: page.nextPageToken });
  expect([...page.messages, ...rest.messages]).toEqual(chat.messages);
  expect(rest).not.toHaveProperty('nextPageToken');
  expect(await client.chats.rename('c 1/ü', { title: 'Names', version: 1 })).toMatchObject({
    title: 'Names',
    version: 2,
  });
  await expect(client.chats.rename('c 1/ü', { title: 'Late', version: 1 })).rejects.toMatchObject({
    code: 'conflict',
    details: { reason: 'version_mismatch', latestVersion: 2 },
  });
  const { items } = await client.chats.list({ limit: 10 });
  expect(items).toEqual([expect.objectContaining({ chatId: 'c 1/ü', title: 'Names' })]);
  const imported = { id: 'old', title: 'Old', updatedAt: '2020-01-01T00:00:00Z', messages: [userMessage('Hi', 'o1')] };
  const done = { chatId: 'old', title: 'Old', updatedAt: 1_577_836_800_000, imported: 1, known: 0 };
  expect(await client.chats.import(imported)).toMatchObject(done);
  expect(await client.chats.import(imported)).toMatchObject({ ...done, imported: 0, known: 1 });
  await expect(client.chats.import({ id: 'old', messages: [{ id: 'x', role: 'user', parts: [{}] }] } as never)).rejects
    .toMatchObject({ code: 'invalid_argument' });
  expect((await client.chats.get('old')).messages).toEqual(imported.messages);
  await client.chats.delete('old');
  expect(await client.chats.delete('c 1/ü')).toEqual({ messages: 4, runs: 2, running: 0 });
  expect(await client.chats.list()).toEqual({ items: [] });
  await expect(client.chats.get('c 1/ü')).rejects.toMatchObject({ code: 'not_found' });
}

describe('stored chats', () => {
  it('are used over signed requests', async () => {
    const { runtime, calls } = twoAnswers();
    const endpoint = await signedEndpoint(runtime);
    await useChats(await endpoint.client());
    expect(calls[1]?.prompt).toHaveLength(3);
  });

  it('belong to the subject of the certificate; another one needs the scope "admin" and its name', async () => {
    const { runtime } = twoAnswers();
    const endpoint = await signedEndpoint(runtime);
    const ada = await endpoint.client({ sub: 'ada' });
    await send(ada, [userMessage('Mine', 'm1')]);
    const eve = await endpoint.client({ sub: 'eve' });
    expect(await eve.chats.list()).toEqual({ items: [] });
    await expect(eve.chats.list({ subject: 'ada' })).rejects.toMatchObject({ code: 'forbidden' });
    await expect(eve.chats.delete('c 1/ü', { subject: 'ada' })).rejects.toMatchObject({ code: 'forbidden' });
    await expect(eve.chats.rename('c 1/ü', { title: 'X', version: 1 }, { subject: 'ada' })).rejects.toMatchObject({
      code: 'forbidden',
    });
    const admin = await endpoint.client({ sub: 'root', scopes: ['run:create', 'run:read', 'admin'] });
    expect((await admin.chats.get('c 1/ü', { subject: 'ada' })).messages).toHaveLength(2);
    expect(await admin.chats.delete('c 1/ü', { subject: 'ada' })).toMatchObject({ messages: 2 });
    const foreign = await endpoint.client({ sub: 'root', tenant: 't2', scopes: ['run:read', 'admin'] });
    expect(await foreign.chats.list({ subject: 'ada' })).toEqual({ items: [] });
  });
});

describe('the routes of stored chats', () => {
  it('require the version of a rename, and refuse a query that they do not know', async () => {
    const { runtime } = twoAnswers();
    await readAll(
      await runtime.run(
        runRequest({ chat: { id: 'c1', messages: [userMessage('Hi')], store: true } }),
        localPrincipal(),
      ),
    );
    const endpoint = await signedEndpoint(runtime);
    const caller = await endpoint.client();
    await expect(caller.call('PATCH', '/v1/chats/c1', { body: { title: 'X' } })).rejects.toMatchObject({ status: 428 });
    await expect(caller.call('GET', '/v1/chats?tenant=t2')).rejects.toMatchObject({ code: 'invalid_argument' });
    await expect(caller.call('GET', '/v1/chats?limit=-1')).rejects.toMatchObject({ code: 'invalid_argument' });
    await expect(caller.call('GET', '/v1/chats?limit=201')).rejects.toMatchObject({
      details: expect.objectContaining({ reason: 'invalid_limit' }),
    });
  });
});
