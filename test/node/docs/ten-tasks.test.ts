import { APICallError, convertToModelMessages } from 'ai';
import { describe, expect, it } from 'vitest';
import * as theirs from '../../../demo/examples/tasks/ai-sdk.ts';
import * as ours from '../../../demo/examples/tasks/pinnace.ts';
import { createClient } from '../../../adapters/transport/client.ts';
import { localPrincipal } from '../../../src/index.ts';
import { fakeModel, type FakeScript, readRun } from '../../contracts/index.ts';
import { userMessage } from '../../fixtures/runtime.ts';
import { withTable } from '../../tools/ten-tasks.ts';

const messages = [userMessage('Hi')];
const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const compose = (main: readonly FakeScript[], other: readonly FakeScript[] = []) =>
  ours.compose(fakeModel(...main).model, fakeModel(...other).model);
const helper = { agentId: 'helper', chat: { id: 'c', messages } };

describe('the ten tasks with Pinnace', () => {
  it('serves a chat', async () => {
    const token = 'a-token-for-tests-only';
    const fetch = ours.chatRoute(fakeModel('Hello').model, token);
    const client = createClient({ url: 'http://127.0.0.1', credentials: { bearer: token }, fetch });
    expect((await readRun(await client.run(helper))).text).toBe('Hello');
  });

  it('calls a tool, waits for a person, and asks another agent', async () => {
    const calls = [
      { tool: 'weather', input: { city: 'Oslo' }, id: 'a' },
      { tool: 'send_mail', input: { to: 'ada' }, id: 'b' },
      { tool: 'ask_librarian', input: { task: 'Find it' }, id: 'c' },
    ];
    const run = await readRun(await compose([{ calls }], ['In 1911']).run(helper, localPrincipal()));
    const states = Object.fromEntries(run.calls.map(({ tool, state, output }) => [tool, [state, output]]));
    expect(states['weather']).toEqual(['done', { city: 'Oslo', degrees: 14 }]);
    expect(states['send_mail']?.[0]).toBe('approval-requested');
    expect(states['ask_librarian']).toEqual(['done', 'In 1911']);
  });

  it('answers with another model, as data, about an image, within a budget, and once', async () => {
    const error = new APICallError({
      message: 'down',
      url: 'https://x.example',
      requestBodyValues: {},
      statusCode: 503,
    });
    const failed = { error };
    const replaced = await readRun(await compose([failed], ['Here']).run(helper, localPrincipal()));
    expect(replaced.text).toBe('Here');
    expect(await ours.cityOf(compose(['{"city":"Oslo"}']), messages)).toMatchObject({ city: 'Oslo' });
    const seen = await readRun(await ours.describe(compose(['A dot']), `data:image/png;base64,${pixel}`));
    expect(seen.text).toBe('A dot');
    const costly = compose([{
      text: 'One',
      usage: { input: 60_000, output: 1 },
      calls: [{ tool: 'weather', input: { city: 'x' } }],
    }]);
    expect((await readRun(await ours.runWithin(costly, messages))).state).not.toBe('completed');
    const once = compose(['First', 'Second']);
    const [a, b] = [await ours.runOnce(once, messages, 'k'), await ours.runOnce(once, messages, 'k')];
    expect([(await readRun(a)).text, (await readRun(b)).text]).toEqual(['First', 'First']);
  });

  it("stores a person's chats", async () => {
    const chats = await ours.continueChat(compose(['Hello']), userMessage('I fly to Oslo'));
    expect(chats).toMatchObject([{ chatId: 'trip' }]);
  });
});

describe('the same tasks with the AI SDK', () => {
  const model = (...scripts: readonly FakeScript[]) => fakeModel(...scripts).model;
  it('answer, too', async () => {
    const sent = await convertToModelMessages(messages);
    const request = new Request('http://127.0.0.1', { method: 'POST', body: JSON.stringify({ messages }) });
    expect(await (await theirs.chatRoute(model('Hello'), request)).text()).toContain('Hello');
    expect(await theirs.continueChat(model('Hello'), new Map(), userMessage('Hi'))).toEqual(['trip']);
    expect(theirs.toolApproval).toEqual({ sendMail: 'user-approval' });
    expect(sent).toHaveLength(1);
  });
});

it('stands in the guide with the lines of today: node test/tools/ten-tasks.ts', async () => {
  const { before, after } = await withTable();
  const cells = (text: string) => text.replaceAll(/[ -]+/g, ' ');
  expect(cells(before)).toBe(cells(after));
});
