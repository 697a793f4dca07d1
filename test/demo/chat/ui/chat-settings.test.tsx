import { afterEach, describe, expect, it, vi } from 'vitest';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import { writeChat } from '../../../../demo/chat/store/chat-text.ts';
import { PinnaceError } from '../../../../src/index.ts';
import { answer, mount, type Page, send } from '../../../fixtures/page/playground.tsx';

let page: Page | undefined;

afterEach(() => page?.unmount());

type Texts = Readonly<Record<string, string>>;

/** Opens the settings, fills them in and saves. */
async function set(on: Page, texts: Texts): Promise<void> {
  await vi.waitFor(() => expect(on.all('chat-settings')).toEqual([])); // closed before
  on.press('s', { altKey: true, code: 'KeyS' });
  await on.find('chat-settings');
  for (const [name, text] of Object.entries(texts)) await on.type(`chat-settings-${name}`, text);
  await vi.waitFor(() => expect(on.all('chat-settings-save')[0]).toHaveProperty('disabled', false));
  await on.click('chat-settings-save');
  await vi.waitFor(() => expect(on.all('chat-settings')).toEqual([]));
}

const bodyOf = (on: Page, which: 'transport' | 'remote' = 'transport') => on[which].sent.at(-1)?.body;

describe('the settings of a chat', () => {
  it('go with each request of the chat, and of no other', async () => {
    page = await mount();
    expect(page.all('chat-sign')).toEqual([]);
    await set(page, { instructions: ' Answer in French. ', temperature: '0,2', topP: '0.5', outputTokens: '200' });
    const sign = await page.find('chat-sign');
    expect(sign.getAttribute('aria-label')).toBe(
      'Chat settings: system prompt, temperature, top P, max output tokens',
    );
    await send(page, 'Hello');
    expect(bodyOf(page)).toEqual({
      agentId: 'navigator',
      settings: { instructions: 'Answer in French.', temperature: 0.2, topP: 0.5 },
      limits: { outputTokens: 200 },
    });
    await answer(page, 'Bonjour');
    page.playground.chats.start();
    await vi.waitFor(() => expect(page?.all('message')).toEqual([]));
    await send(page, 'Hi');
    await vi.waitFor(() => expect(page?.transport.sent).toHaveLength(2));
    expect(bodyOf(page)).toEqual({ agentId: 'navigator' });
  });

  it('are there after a reload, and gone after a reset', async () => {
    const storage = memoryStorage();
    page = await mount({ storage });
    await set(page, { instructions: 'Answer in French.' });
    await send(page, 'Hello');
    await answer(page, 'Bonjour');
    const chatId = page.playground.chats.current.value.id;
    await set(page, { temperature: '1' });
    page.unmount();
    page = await mount({ storage, chatId });
    page.press('s', { altKey: true, code: 'KeyS' });
    expect(await page.find('chat-settings-instructions')).toHaveProperty('value', 'Answer in French.');
    expect(await page.find('chat-settings-temperature')).toHaveProperty('value', '1');
    await page.click('chat-settings-reset');
    await vi.waitFor(() => expect(page?.all('chat-settings-instructions')[0]).toHaveProperty('value', ''));
    await vi.waitFor(() => expect(page?.all('chat-sign')).toEqual([]));
    page.unmount();
    page = await mount({ storage, chatId });
    await vi.waitFor(() => expect(page?.playground.chats.current.value.settings.value).toEqual({}));
  });

  it.each([
    ['temperature', '2.1', 'Enter a number from 0 to 2.'],
    ['temperature', 'hot', 'Enter a number from 0 to 2.'],
    ['topP', '-1', 'Enter a number from 0 to 1.'],
    ['outputTokens', '1.5', 'Enter a whole number of at least 1.'],
    ['outputTokens', '0', 'Enter a whole number of at least 1.'],
    ['instructions', 'x'.repeat(16_385), 'Write at most 16,384 characters.'],
  ])('are refused as they are typed: %s %#', async (name, text, problem) => {
    page = await mount();
    page.press('s', { altKey: true, code: 'KeyS' });
    await page.type(`chat-settings-${name}`, text);
    const field = await page.find(`chat-settings-${name}`);
    await vi.waitFor(() => expect(field.getAttribute('aria-invalid')).toBe('true'));
    const help = document.getElementById(field.getAttribute('aria-describedby') ?? '');
    expect(help?.textContent).toBe(problem);
    expect(await page.find('chat-settings-save')).toHaveProperty('disabled', true);
    await page.type(`chat-settings-${name}`, '');
    await vi.waitFor(() => expect(field.getAttribute('aria-invalid')).toBe('false'));
  });

  it('name a model of the connected server only, which no other server is asked for', async () => {
    page = await mount();
    page.press('s', { altKey: true, code: 'KeyS' });
    await page.find('chat-settings');
    expect(page.all('chat-settings-model')).toEqual([]);
    page.playground.overlay.value = 'none';
    await page.playground.settings.useEndpoint({ baseUrl: 'https://one.example/v1', model: 'small', apiKey: 'k' });
    await set(page, { model: 'large' });
    await send(page, 'Hello');
    expect(bodyOf(page)).toMatchObject({ settings: { model: 'large' } });
    expect(page.playground.chats.current.value.messages.value.at(-1)).toMatchObject({ model: 'one.example · large' });
    await answer(page, 'Hi');
    await page.playground.settings.useEndpoint({ baseUrl: 'https://two.example/v1', model: 'small', apiKey: 'k' });
    await send(page, 'Hello again');
    await vi.waitFor(() => expect(page?.transport.sent).toHaveLength(2));
    expect(bodyOf(page)).toEqual({ agentId: 'navigator' });
  });

  it('go to an endpoint, which decides, and whose refusal leads back to them', async () => {
    page = await mount();
    await page.playground.settings.usePinnace('https://agents.example');
    page.press('s', { altKey: true, code: 'KeyS' });
    expect((await page.find('chat-settings-endpoint')).textContent).toContain('The endpoint decides.');
    page.playground.overlay.value = 'none';
    await set(page, { instructions: 'Answer in French.' });
    page.remote.rejectNext(
      new PinnaceError('forbidden', 'Cannot start the run', {
        details: { reason: 'settings_not_allowed', settings: ['instructions'] },
      }),
    );
    await page.type('composer', 'Hello');
    await page.click('send');
    expect((await page.find('error-callout')).textContent).toContain('The chat settings were refused');
    await page.click('remedy-chat-settings');
    await page.click('chat-settings-reset');
    page.playground.overlay.value = 'none';
    await page.click('remedy-retry');
    await vi.waitFor(() => expect(page?.remote.sent.length).toBeGreaterThan(0));
    expect(bodyOf(page, 'remote')).toEqual({ agentId: 'navigator' });
  });

  it('of an agent that plans are its limit of output tokens alone', async () => {
    page = await mount();
    page.playground.chats.start('pilot');
    page.press('s', { altKey: true, code: 'KeyS' });
    expect((await page.find('chat-settings-plans')).textContent).toContain('Pilot works by plans');
    page.playground.overlay.value = 'none';
    await set(page, { instructions: 'Answer in French.', outputTokens: '300' });
    await send(page, 'Plan');
    expect(bodyOf(page)).toEqual({
      agentId: 'pilot',
      planner: { allowHumanIntervention: true },
      limits: { outputTokens: 300 },
    });
  });

  it('are part of the saved file', () => {
    const text = writeChat({
      title: 'Tides',
      agent: 'Navigator',
      createdAt: 0,
      messages: [],
      settings: { instructions: 'Answer in French.\nBe brief.', temperature: 0, outputTokens: 9 },
    });
    expect(text).toBe(
      '# Tides\n\nNavigator, 1970-01-01\n\nSettings: temperature 0, at most 9 output tokens\n\n' +
        'System prompt:\n\n> Answer in French.\n> Be brief.\n',
    );
  });
});
