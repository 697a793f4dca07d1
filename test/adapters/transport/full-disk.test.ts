import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { storageFull } from '../../../adapters/storage/unavailable.ts';
import { bearerAuthenticator, digestOfToken } from '../../../adapters/transport/bearer-authenticator.ts';
import { createClient } from '../../../adapters/transport/client.ts';
import { createHandler } from '../../../adapters/transport/http.ts';
import { scopes } from '../../../src/base/principal.ts';
import {
  defineTool,
  type LanguageModel,
  PinnaceError,
  type Storage,
  type UIMessage,
  type UIMessageChunk,
} from '../../../src/index.ts';
import { callsTools, says, scriptedModel } from '../../fixtures/model.ts';
import { lastData, readAll, terminalChunks, testRuntime, userMessage } from '../../fixtures/runtime.ts';

/** A storage that takes so many commits, and from then on none until there is room. */
function diskOf(commits: number) {
  const storage = memoryStorage();
  const disk = { left: commits, refused: 0, made: 0, later: 0 };
  const full: Storage = {
    ...storage,
    async commit(changes) {
      if (disk.left <= 0) {
        disk.refused++;
        throw storageFull('Cannot commit: the disk is full; make room');
      }
      disk.left--;
      disk.made++;
      return await storage.commit(changes);
    },
  };
  return { disk, storage: full };
}

/** The longest chat of the scenario: a file is sent, a call is approved, the note is deleted. */
async function setup(commits: number) {
  const { disk, storage } = diskOf(commits);
  const effects: string[] = [];
  const now = () => Date.now() + disk.later;
  const deletion = defineTool({
    id: 'delete_note',
    description: 'Deletes a note',
    approval: 'always',
    input: v.strictObject({ noteId: v.string() }),
    execute: ({ noteId }) => (effects.push(noteId), 'deleted'),
  });
  const answers = scriptedModel(says('Done'));
  const calls = scriptedModel(callsTools({ tool: 'delete_note', input: { noteId: 'n1' } }));
  const isAnswered = (prompt: readonly { readonly role: string }[]) => prompt.at(-1)?.role === 'tool';
  // The answer follows from the prompt, so that repeated requests are answered alike.
  const model: LanguageModel = {
    ...calls.model,
    doStream: (options) => (isAnswered(options.prompt) ? answers : calls).model.doStream(options),
  };
  const runtime = testRuntime({ model, tools: [deletion], storage, now, limits: { storageGraceMs: 0 } });
  const tokens = [{ digest: await digestOfToken('t'), tenant: 'a', subject: 'ada', agents: '*' as const, scopes }];
  const handler = createHandler(runtime, { authenticator: bearerAuthenticator({ tokens }) });
  const client = createClient({
    url: 'https://agents.example',
    credentials: { bearer: 't' },
    fetch: async (request) => await handler(request),
    attempts: 1,
    silenceMs: 1000, // an end that is not recorded is read once more
  });
  return { disk, storage, effects, client, runtime };
}

type Setup = Awaited<ReturnType<typeof setup>>;

/** A minute later there is room: a run whose log could not be written counts as lost by then. */
function makeRoom({ disk }: Setup): void {
  disk.left = Infinity;
  disk.later = 60_000;
}

/** A request that fails for want of room is sent again when there is room: the client's own retry. */
async function withRoomLater<T>(given: Setup, request: () => Promise<T>): Promise<T> {
  try {
    return await request();
  } catch (error) {
    expect(error).toBeInstanceOf(PinnaceError);
    if (given.disk.left === Infinity) throw error;
    expect(error).toMatchObject({ code: 'unavailable', retryable: false, details: { reason: 'storage_full' } });
    expect(given.disk.refused).toBeGreaterThan(0);
    makeRoom(given);
    return await request();
  }
}

const chatId = 'c1';

/** Sends messages, and once more with the same key where the run's end could not be recorded. */
async function send(given: Setup, messages: UIMessage[], key: string): Promise<readonly UIMessageChunk[]> {
  const chat = { id: chatId, store: true, messages };
  const chunks = await withRoomLater(
    given,
    async () =>
      await readAll(
        await given.client.run({ agentId: 'helper', chat }, { idempotencyKey: `a-key-of-the-test-${key}` }),
      ),
  );
  expect(terminalChunks(chunks), 'a stream ends once').toHaveLength(1);
  return chunks;
}

function failureOf(chunks: readonly UIMessageChunk[]): string | undefined {
  const end = chunks.at(-1);
  return end?.type === 'error' ? end.errorText : undefined;
}

const clear = /unavailable|outcome_unknown|storage_full|run_unrecorded|approval/;

/** Uses the endpoint until a call has been approved and made, through a disk that fills up at any commit. */
async function deleteNote(given: Setup): Promise<'deleted' | 'not deleted'> {
  const { client, effects } = given;
  const file = new Blob(['All about n1'], { type: 'text/plain' });
  const { url } = await withRoomLater(given, () => client.blobs.upload(file));
  expect(await (await client.blobs.read(url)).text()).toBe('All about n1');

  const question: UIMessage = {
    ...userMessage('Delete n1', 'm1'),
    parts: [{ type: 'text', text: 'Delete n1' }, { type: 'file', url, mediaType: 'text/plain' }],
  };
  let asked = await send(given, [question], 'k1');
  if (failureOf(asked) !== undefined) {
    expect(failureOf(asked)).toMatch(clear);
    makeRoom(given);
    asked = await send(given, [{ ...question, id: 'm1b' }], 'k1b');
  }
  const request = asked.find((chunk) => chunk.type === 'tool-approval-request');
  if (request?.type !== 'tool-approval-request') throw new Error(`Nothing was asked: ${JSON.stringify(asked)}`);
  expect(effects).toEqual([]);

  const runId = String(lastData(asked, 'data-run')['runId']);
  await withRoomLater(given, () => client.approve(runId, request.approvalId, { approved: true }));
  const before = await client.chats.get(chatId);
  const waiting = before.messages.at(-1)!;
  const parts = waiting.parts.map((part) =>
    part.type === 'tool-delete_note'
      ? { ...part, state: 'approval-responded', approval: { id: request.approvalId, approved: true } }
      : part
  );
  const answered = { ...waiting, parts } as UIMessage; // as a client of the AI SDK answers
  let end = await send(given, [answered], 'k2');
  if (failureOf(end) !== undefined) {
    expect(failureOf(end)).toMatch(clear);
    makeRoom(given);
    const again = await send(given, [answered], 'k2b').catch((error: unknown) => error); // a new try of a person
    if (again instanceof PinnaceError) {
      // The first try still has the chat, and goes on by itself.
      expect(again).toMatchObject({ code: 'conflict', details: { reason: 'chat_changed' } });
      const stateOfCall = async () => {
        const { messages } = await client.chats.get(chatId);
        const call = messages.at(-1)?.parts.find((part) => part.type === 'tool-delete_note');
        return call && 'state' in call ? call.state : undefined;
      };
      await expect.poll(stateOfCall).toMatch(/^output-/);
      expect(effects.length).toBeLessThanOrEqual(1);
      return await stateOfCall() === 'output-available' ? 'deleted' : 'not deleted';
    }
    if (!Array.isArray(again)) throw again;
    end = again;
  }
  expect(effects.length).toBeLessThanOrEqual(1);
  return end.some(({ type }) => type === 'tool-output-available') ? 'deleted' : 'not deleted';
}

describe('a disk that is full from any commit on', () => {
  it('ends each stream once with a clear error, doubles nothing, and loses nothing that was confirmed', async () => {
    const whole = await setup(Infinity);
    expect(await deleteNote(whole)).toBe('deleted');
    await whole.runtime.close();
    const commits = whole.disk.made;
    expect(commits).toBeGreaterThan(6);
    const ends: string[] = [];
    for (let room = 0; room < commits; room++) {
      const given = await setup(room);
      const end = await deleteNote(given).catch((error: unknown) => {
        throw new Error(`with room for ${room} of ${commits} commits`, { cause: error });
      });
      await given.runtime.close();
      const { messages } = await given.client.chats.get(chatId);
      const ids = messages.map(({ id }) => id);
      expect(new Set(ids).size, `messages with room for ${room}`).toBe(ids.length);
      ends.push(`${end}, ${given.effects.length} deleted`);
    }
    expect(ends).not.toContain('deleted, 0 deleted');
    expect(ends.filter((end) => end === 'deleted, 1 deleted').length).toBeGreaterThan(commits / 2);
  }, 120_000);
});
