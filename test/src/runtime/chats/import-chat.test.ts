import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import {
  createAudit,
  createPrincipal,
  type HostedRuntime,
  type Principal,
  type Storage,
} from '../../../../src/index.ts';
import { scopes } from '../../../../src/base/principal.ts';
import { says, scriptedModel } from '../../../fixtures/model.ts';
import { readAll, runRequest, testRuntime, textOf, userMessage } from '../../../fixtures/runtime.ts';

function person(subject: string, more: Partial<Principal> = {}): Principal {
  return createPrincipal({ via: 'http', tenant: 'shop', subject, agents: '*', scopes, ...more });
}

const ada = person('ada', { scopes: ['run:create', 'run:read'] });
const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** A chat as apps of AI SDK 5, 6 and 7 have stored it. */
const messages = [
  {
    id: 'u1',
    role: 'user',
    metadata: { createdAt: 1_700_000_000_000 },
    parts: [
      { type: 'text', text: 'What is the weather in Oslo?' },
      { type: 'file', mediaType: 'image/png', filename: 'map.png', url: `data:image/png;base64,${png}` },
      { type: 'data-place', id: 'p1', data: { city: 'Oslo' } },
    ],
  },
  {
    id: 'a1',
    role: 'assistant',
    parts: [
      { type: 'step-start' },
      { type: 'reasoning', text: 'I look it up', state: 'done', providerMetadata: { openai: { itemId: 'rs_1' } } },
      {
        type: 'tool-weather',
        toolCallId: 'call_1',
        state: 'output-available',
        input: { city: 'Oslo' },
        output: { degrees: 14 },
        callProviderMetadata: { openai: { itemId: 'fc_1' } },
      },
      { type: 'step-start' },
      { type: 'text', text: '14 degrees', state: 'done' },
      { type: 'source-url', sourceId: 's1', url: 'https://yr.example', title: 'yr' },
    ],
  },
  { id: 'u2', role: 'user', parts: [{ type: 'text', text: 'Book a boat' }] },
  {
    id: 'a2',
    role: 'assistant',
    parts: [
      {
        type: 'dynamic-tool',
        toolName: 'book',
        toolCallId: 'call_2',
        state: 'output-error',
        input: {},
        errorText: 'full',
      },
      { type: 'tool-cancel', toolCallId: 'call_3', state: 'input-available', input: {} },
      {
        type: 'tool-pay',
        toolCallId: 'call_4',
        state: 'output-denied',
        input: {},
        approval: { id: 'ap1', approved: false, reason: 'too much' },
      },
      { type: 'custom', kind: 'openai.compaction' },
    ],
  },
  { id: 'a3', role: 'assistant', parts: [] },
] as never;

interface Refusal {
  readonly message: string;
  readonly details: { readonly refused: readonly Record<string, unknown>[] };
}

function setUp(storage: Storage = memoryStorage(), options: Partial<Parameters<typeof testRuntime>[0]> = {}) {
  const { model, calls } = scriptedModel(says('Welcome back'), says('Again'));
  return { runtime: testRuntime({ model, storage, ...options }), calls, storage };
}

async function whole(runtime: HostedRuntime, id: string, principal = ada) {
  const found = [];
  for (let pageToken: string | undefined;;) {
    const page = await runtime.chats.get(id, principal, { pageToken });
    found.push(...page.messages);
    if (!(pageToken = page.nextPageToken)) return found;
  }
}

describe('the import of a chat', () => {
  it('stores the messages of AI SDK 5 to 7, calls no model, and goes on as a stored chat', async () => {
    const { runtime, calls } = setUp();
    const chat = { id: 'c1', messages, title: 'Oslo', createdAt: '2025-01-02T03:04:05Z', updatedAt: 1_760_000_000_000 };
    const done = await runtime.chats.import(chat, ada);
    expect(done).toMatchObject({ chatId: 'c1', title: 'Oslo', imported: 5, known: 0, files: 1, agentIds: [] });
    expect(done.createdAt).toBe(Date.parse('2025-01-02T03:04:05Z'));
    expect(calls).toHaveLength(0);
    const request = runRequest({ chat: { id: 'c1', messages: [userMessage('And now?', 'u3')], store: true } });
    expect(textOf(await readAll(await runtime.run(request, ada)))).toBe('Welcome back');
    const prompt = JSON.stringify(calls[0]?.prompt);
    expect(prompt).toMatch(
      /What is the weather.*14 degrees.*Book a boat.*full.*outcome of this call is unknown.*too much/,
    );
    expect(prompt).toContain(png);
    expect(prompt).not.toContain('rs_1');
    expect((await whole(runtime, 'c1')).map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'user',
      'assistant',
      'assistant',
      'user',
      'assistant',
    ]);
  });

  it('is repeated without any change, says so, and asks for permission once', async () => {
    const asked: string[] = [];
    const authorize = (action: string) => {
      asked.push(action);
      return { decision: 'allow' as const };
    };
    const audit = createAudit({ storage: memoryStorage() });
    const { runtime } = setUp(memoryStorage(), { authorize, audit });
    await runtime.chats.import({ id: 'c1', messages }, ada);
    const before = await runtime.chats.get('c1', ada);
    expect(await runtime.chats.import({ id: 'c1', messages }, ada)).toMatchObject({ imported: 0, known: 5, files: 0 });
    expect(await runtime.chats.get('c1', ada)).toEqual(before);
    expect(asked.filter((action) => action === 'chat.import')).toHaveLength(1);
  });

  it('takes thousands of messages, in one call or in pieces, and the chat goes on', async () => {
    const { runtime } = setUp();
    const long = Array.from({ length: 2_500 }, (_, i) => ({
      id: `m${i}`,
      role: i % 2 ? 'assistant' as const : 'user' as const,
      parts: [{ type: 'text' as const, text: `Message ${i}` }],
    }));
    expect((await runtime.chats.import({ id: 'long', messages: long.slice(0, 2_000) }, ada)).imported).toBe(2_000);
    expect(await runtime.chats.import({ id: 'long', messages: long.slice(2_000) }, ada)).toMatchObject({
      imported: 500,
    });
    expect(await runtime.chats.import({ id: 'long', messages: long }, ada)).toMatchObject({
      imported: 0,
      known: 2_500,
    });
    const request = runRequest({ chat: { id: 'long', messages: [userMessage('More', 'more')], store: true } });
    await readAll(await runtime.run(request, ada));
    expect((await whole(runtime, 'long')).map(({ id }) => id).slice(0, 2_501)).toEqual([
      ...long.map(({ id }) => id),
      'more',
    ]);
  });

  it('is completed by a repeat when it was cut off', async () => {
    const storage = memoryStorage();
    let left = 3;
    const failing: Storage = {
      ...storage,
      commit: (changes) => --left < 0 ? Promise.reject(new Error('gone')) : storage.commit(changes),
    };
    const many = Array.from({ length: 400 }, (_, i) => userMessage(`Message ${i}`, `m${i}`));
    const first = setUp(failing).runtime;
    await expect(first.chats.import({ id: 'c1', messages: many }, ada)).rejects.toThrow('gone');
    const { runtime } = setUp(storage);
    const stored = (await whole(runtime, 'c1')).length;
    expect(stored).toBe(150);
    expect(await runtime.chats.import({ id: 'c1', messages: many }, ada)).toMatchObject({ imported: 250, known: 150 });
    expect((await whole(runtime, 'c1')).map(({ id }) => id)).toEqual(many.map(({ id }) => id));
  });

  it('is refused as a whole, with each part that cannot be stored and what to pass', async () => {
    const { runtime } = setUp();
    const bad = [
      { id: 'm1', role: 'user', content: 'Hi' },
      { id: 'm2', role: 'system', parts: [{ type: 'text', text: 'Be nice' }] },
      {
        id: 'm3',
        role: 'assistant',
        parts: [
          { type: 'tool-invocation', toolInvocation: { state: 'result', toolName: 'x' } },
          { type: 'file', mimeType: 'image/png', data: png },
          { type: 'txt', text: 'x' },
          { type: 'file', mediaType: 'image/png', url: 'http://shop.example/a.png' },
          { type: 'tool-x', toolCallId: 'c', state: 'result' },
          { type: 'reasoning', reasoning: 'x' },
        ],
      },
      { id: 'm3', role: 'user', parts: [{ type: 'text', text: 'x' }] },
      { role: 'user', parts: [{ type: 'text', text: 'x'.repeat(1_048_576) }] },
    ] as never;
    const error = await runtime.chats
      .import({ id: 'c1', messages: bad }, ada).then(() => undefined, (thrown: Refusal) => thrown);
    expect(error?.message).toBe(
      'Cannot import the chat: "messages.0" cannot be stored; pass "parts", such as [{ type: "text", text }], and no "content" (and 10 more, see "refused")',
    );
    expect(error?.details.refused.map(({ message, part, type, advice }) => [message, part, type, advice])).toEqual([
      [0, undefined, undefined, expect.stringContaining('no "content"')],
      [1, undefined, undefined, expect.stringContaining('"instructions" of the agent')],
      [2, 0, 'tool-invocation', expect.stringContaining('"tool-<name>"')],
      [2, 1, 'file', 'its "mediaType" and "url"'],
      [2, 2, 'txt', 'a part "text"'],
      [2, 3, 'file', expect.stringContaining('data URL')],
      [2, 4, 'tool-x', expect.stringContaining('"state"')],
      [2, 5, 'reasoning', 'its "text"'],
      [3, undefined, undefined, expect.stringContaining('message 2')],
      [4, undefined, undefined, expect.stringContaining('"id"')],
      [4, undefined, undefined, expect.stringContaining('1048576')],
    ]);
    expect(await runtime.chats.list(ada)).toEqual({ items: [] });
  });

  it('belongs to the subject that an administrator names, and to no other', async () => {
    const { runtime } = setUp();
    const admin = person('root');
    await runtime.chats.import({ id: 'c1', messages }, admin, { subject: 'ada' });
    expect((await runtime.chats.get('c1', ada)).messages).toHaveLength(5);
    const bo = person('bo', { scopes: ['run:create', 'run:read'] });
    await expect(runtime.chats.get('c1', bo)).rejects.toMatchObject({ code: 'not_found' });
    await expect(runtime.chats.import({ id: 'c2', messages }, bo, { subject: 'ada' })).rejects.toMatchObject({
      code: 'forbidden',
    });
    await expect(runtime.chats.import({ id: 'c2', messages, subject: 'ada' }, bo)).rejects.toMatchObject({
      code: 'forbidden',
    });
    const other = person('ada', { tenant: 'other' });
    await expect(runtime.chats.get('c1', other)).rejects.toMatchObject({ code: 'not_found' });
  });

  it('adds nothing between stored messages, or behind a run', async () => {
    const { runtime } = setUp();
    const [a, b, c] = [userMessage('a', 'a'), userMessage('b', 'b'), userMessage('c', 'c')];
    await runtime.chats.import({ id: 'c1', messages: [a, c] }, ada);
    const conflict = { code: 'conflict', details: { reason: 'chat_changed' } };
    await expect(runtime.chats.import({ id: 'c1', messages: [a, b, c] }, ada)).rejects.toMatchObject(conflict);
    const request = runRequest({ chat: { id: 'c1', messages: [userMessage('Go on', 'u3')], store: true } });
    await readAll(await runtime.run(request, ada));
    await expect(runtime.chats.import({ id: 'c1', messages: [a, c, b] }, ada)).rejects.toMatchObject(conflict);
    expect(await runtime.chats.import({ id: 'c1', messages: [a, c] }, ada)).toMatchObject({ imported: 0, known: 2 });
  });

  it('stores a chat of long ago from now on, also after a rename', async () => {
    let now = 1_800_000_000_000;
    const storage = memoryStorage({ now: () => now });
    const { runtime } = setUp(storage, { now: () => now });
    const updatedAt = now - 400 * 86_400_000;
    await runtime.chats.import({ id: 'c1', messages, updatedAt }, ada);
    await runtime.chats.rename('c1', { title: 'Old', version: 1 }, ada);
    now += 89 * 86_400_000;
    expect(await runtime.chats.get('c1', ada)).toMatchObject({ title: 'Old', updatedAt });
    now += 2 * 86_400_000;
    await expect(runtime.chats.get('c1', ada)).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('the export of chats', () => {
  it('is what an import takes: a tenant moves to another storage, with its files', async () => {
    const { runtime } = setUp();
    await runtime.chats.import({ id: 'c1', messages, title: 'Oslo' }, ada);
    await runtime.chats.import({ id: 'c2', messages: [userMessage('Of Bo', 'b1')] }, person('bo'));
    const admin = person('root');
    const exported = await Array.fromAsync(runtime.chats.export(admin, { everyone: true, inlineFiles: true }));
    expect(exported.map(({ id, subject }) => [id, subject])).toEqual([['c1', 'ada'], ['c2', 'bo']]);
    const { runtime: target } = setUp();
    for (const chat of structuredClone(exported)) await target.chats.import(chat, admin);
    expect(await Array.fromAsync(target.chats.export(admin, { everyone: true, inlineFiles: true }))).toEqual(exported);
    expect(await target.chats.get('c1', ada)).toEqual(await runtime.chats.get('c1', ada));
    expect(JSON.stringify(exported)).toContain(png);
  });

  it('has the own chats of a caller alone', async () => {
    const { runtime } = setUp();
    await runtime.chats.import({ id: 'c1', messages }, ada);
    const bo = person('bo', { scopes: ['run:create', 'run:read'] });
    expect(await Array.fromAsync(runtime.chats.export(bo))).toEqual([]);
    await expect(Array.fromAsync(runtime.chats.export(bo, { everyone: true }))).rejects.toMatchObject({
      code: 'forbidden',
    });
    await expect(Array.fromAsync(runtime.chats.export(bo, { subject: 'ada' }))).rejects.toMatchObject({
      code: 'forbidden',
    });
  });
});

describe('an inline file in a stored chat', () => {
  const large = () => {
    const bytes = new Uint8Array(900_000);
    bytes.set(Uint8Array.from(atob(png), (char) => char.charCodeAt(0)));
    return `data:image/png;base64,${Buffer.from(bytes).toString('base64')}`;
  };

  it('of 900 kB is stored as a file, sent to the model as before, and small to read', async () => {
    const { runtime, calls } = setUp();
    const url = large();
    const parts = [{ type: 'text' as const, text: 'Look' }, { type: 'file' as const, mediaType: 'image/png', url }];
    const send = async (id: string, ...sent: typeof parts) => {
      const chat = { id: 'c1', store: true, messages: [{ id, role: 'user' as const, parts: sent }] };
      return await readAll(await runtime.run(runRequest({ chat }), ada));
    };
    const chunks = await send('u1', ...parts);
    const announced = chunks.find(({ type }) => type === 'data-attachment') as { data: { url: string } } | undefined;
    const { messages: [stored] } = await runtime.chats.get('c1', ada);
    expect(stored?.parts[1]).toEqual({ type: 'file', mediaType: 'image/png', url: announced?.data.url });
    expect(JSON.stringify(stored).length).toBeLessThan(500);
    expect(JSON.stringify(calls[0]?.prompt)).toContain(url.slice('data:image/png;base64,'.length));
    await send('u2', { type: 'text', text: 'Again' });
    expect(JSON.stringify(calls[1]?.prompt)).toContain(url.slice('data:image/png;base64,'.length));
    expect((await runtime.blobs.get(announced!.data.url.slice('pinnace-blob:'.length), ada)).bytes).toHaveLength(
      900_000,
    );
  });

  it('is stored for as long as the chat', async () => {
    let now = 1_800_000_000_000;
    const storage = memoryStorage({ now: () => now });
    const { runtime } = setUp(storage, { now: () => now });
    await runtime.chats.import({ id: 'c1', messages }, ada);
    const { messages: [stored] } = await runtime.chats.get('c1', ada);
    const { url = '' } = (stored?.parts[1] ?? {}) as { readonly url?: string };
    now += 80 * 86_400_000;
    expect((await runtime.blobs.get(url.slice('pinnace-blob:'.length), ada)).mediaType).toBe('image/png');
  });

  it('is paid for once where written bytes are limited, and refused where too few are left', async () => {
    const parts = [{ type: 'file' as const, mediaType: 'image/png', url: large() }];
    const chat = { id: 'c1', store: true, messages: [{ id: 'u1', role: 'user' as const, parts }] };
    const withBytes = (bytes: number) =>
      setUp(memoryStorage(), { budgets: [{ id: 'day', of: 'subject', every: 'day', bytes }] }).runtime;
    const enough = withBytes(1_500_000);
    const chunks = await readAll(await enough.run(runRequest({ chat }), ada));
    expect(chunks.some(({ type }) => type === 'data-attachment')).toBe(true);
    const few = withBytes(800_000);
    await expect(few.run(runRequest({ chat }), ada)).rejects.toMatchObject({ code: 'budget_exceeded' });
    await expect(few.chats.import({ id: 'c2', messages: chat.messages }, ada)).rejects.toMatchObject({
      code: 'budget_exceeded',
    });
    expect(await few.chats.list(ada)).toEqual({ items: [] });
  });
});
