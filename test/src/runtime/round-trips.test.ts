import { describe, expect, it, vi } from 'vitest';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { type AgentInput, localPrincipal, type PlanningRuntime, type Storage } from '../../../src/index.ts';
import { says, scriptedModel } from '../../fixtures/model.ts';
import {
  releaseUntil,
  roundTripsUntil,
  type SteppedStorage,
  steppedStorage,
} from '../../fixtures/faults/round-trips.ts';
import { readAll, runRequest, testRuntime, userMessage } from '../../fixtures/runtime.ts';
import { signedEndpoint } from '../../fixtures/signed-endpoint.ts';

const me = localPrincipal();

/** A storage that cannot check a version without a write. */
function withoutChecks({ checks: _, ...storage }: Storage): Storage {
  return storage;
}

function stage(inner: Storage = memoryStorage(), agent: Partial<AgentInput> = {}) {
  const stepped = steppedStorage(inner);
  const { model, calls } = scriptedModel(says('Hi'));
  return { stepped, calls, model, runtime: testRuntime({ model, agent, storage: stepped.storage }) };
}

/** Starts a run, counts the round trips until its model is called, and lets the run end. */
async function tripsOf(
  { stepped, calls }: { readonly stepped: SteppedStorage; readonly calls: readonly unknown[] },
  start: () => Promise<{ readonly body: ReadableStream } | ReadableStream>,
): Promise<number> {
  const before = calls.length;
  stepped.isStepped = true;
  const started = start();
  const trips = await roundTripsUntil(() => calls.length > before, stepped);
  const answer = await releaseUntil(started, stepped);
  await releaseUntil(readAll('body' in answer ? answer.body : answer), stepped);
  stepped.isStepped = false;
  return trips;
}

/** Waits until the answer of a stored chat is in the chat. */
async function settled({ stepped }: ReturnType<typeof stage>): Promise<void> {
  await releaseUntil(vi.waitUntil(() => /^commit run,run.*chats$/.test(stepped.operations.at(-1) ?? '')), stepped);
}

let runs = 0;
const request = () => runRequest({ chat: { ...runRequest().chat, id: `chat-${runs++}` } });
const inProcess = (runtime: PlanningRuntime) => () => runtime.run(request(), me, { idempotencyKey: `key-${runs}` });

describe('from a request to the model', () => {
  it('a warm instance takes one round trip in process, with or without a key', async () => {
    const on = stage();
    await tripsOf(on, inProcess(on.runtime));
    expect(await tripsOf(on, inProcess(on.runtime))).toBe(1);
    expect(await tripsOf(on, () => on.runtime.run(request(), me))).toBe(1);
  });

  it('a warm endpoint takes one round trip for a signed request: nonce, key and run are one commit', async () => {
    const on = stage();
    const endpoint = await signedEndpoint(on.runtime, { storage: on.stepped.storage });
    const caller = await endpoint.client();
    const send = async () => ({ body: await caller.run(request()) });
    await tripsOf(on, send);
    on.stepped.operations.length = 0;
    expect(await tripsOf(on, send)).toBe(1);
    expect(on.stepped.operations[0]).toBe('commit run,owned,chat,idempotency,idempotency,auth,bulletin,run');
  });

  it('a warm instance reads what the models of a chat were sent beside the commit, unless it has answered last', async () => {
    const on = stage(memoryStorage(), { entryTools: ['tool_find', 'tool_load'] });
    await tripsOf(on, inProcess(on.runtime));
    const answer = { id: 'a', role: 'assistant' as const, parts: [{ type: 'text' as const, text: 'Hi' }] };
    const chat = { id: 'of-another', messages: [userMessage('Hi', 'u'), answer, userMessage('And now?', 'v')] };
    on.stepped.operations.length = 0;
    expect(await tripsOf(on, () => on.runtime.run(runRequest({ chat }), me))).toBe(1);
    expect(on.stepped.operations.slice(0, 2).toSorted()).toEqual([expect.stringMatching(/^commit /), 'get prompt']);
    on.stepped.operations.length = 0;
    expect(await tripsOf(on, () => on.runtime.run(runRequest({ chat }), me))).toBe(1);
    expect(on.stepped.operations.join()).not.toContain('get prompt');
  });

  it('an endpoint that stores nonces elsewhere takes one more', async () => {
    const on = stage();
    const nonces = steppedStorage(memoryStorage());
    const endpoint = await signedEndpoint(on.runtime, { storage: nonces.storage });
    const caller = await endpoint.client();
    const send = async () => ({ body: await caller.run(request()) });
    await tripsOf(on, send);
    nonces.operations.length = 0;
    await tripsOf(on, send);
    expect(nonces.operations).toEqual(['commit auth']);
  });

  it('a cold instance takes one more for what was invalidated, and a cold endpoint one for the revocations', async () => {
    const on = stage();
    expect(await tripsOf(on, inProcess(on.runtime))).toBe(2);
    const other = stage();
    const endpoint = await signedEndpoint(other.runtime, { storage: other.stepped.storage });
    const caller = await endpoint.client();
    expect(await tripsOf(other, async () => ({ body: await caller.run(request()) }))).toBe(3);
  });

  it('a storage that cannot check a version takes two more, for what was invalidated and for keys of version 0.2', async () => {
    const on = stage(withoutChecks(memoryStorage()));
    await tripsOf(on, inProcess(on.runtime));
    expect(await tripsOf(on, inProcess(on.runtime))).toBe(3);
  });

  it('a run in a stored chat that this instance has answered takes one round trip, and one in a new chat after another new one', async () => {
    const on = stage();
    const inChat = (runtime: PlanningRuntime, id: string) => () => {
      const messages = [userMessage('Hi', `message-${runs++}`)];
      return runtime.run(runRequest({ chat: { id, messages, store: true } }), me, { idempotencyKey: `key-${runs}` });
    };
    await on.runtime.chats.list(me); // loads their code, which is no round trip
    expect(await tripsOf(on, inChat(on.runtime, 'known'))).toBe(2); // a cold instance
    await settled(on);
    on.stepped.operations.length = 0;
    expect(await tripsOf(on, inChat(on.runtime, 'known'))).toBe(1);
    expect(on.stepped.operations[0]).toMatch(
      /^commit run,owned,(instance,)?chat,idempotency,idempotency,bulletin,run,chats/,
    );
    await settled(on);
    expect(await tripsOf(on, inChat(on.runtime, 'new'))).toBe(1);
    const other = { ...on, runtime: testRuntime({ model: on.model, storage: on.stepped.storage }) };
    await tripsOf(other, inProcess(other.runtime));
    expect(await tripsOf(other, inChat(other.runtime, 'known'))).toBe(2);
    expect(await tripsOf(other, inChat(other.runtime, 'newer'))).toBe(2); // the last one was known
    expect(await tripsOf(other, inChat(other.runtime, 'newest'))).toBe(1);
    await tripsOf(on, inChat(on.runtime, 'of the first'));
    await settled(on);
    expect(await tripsOf(other, inChat(other.runtime, 'of the first'))).toBe(4); // it was taken for new
    const { messages } = await other.runtime.chats.get('of the first', me);
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant']);
  });
});
