import { afterEach, expect, it, vi } from 'vitest';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import { answer, mount, type Page, send } from '../../../fixtures/page/playground.tsx';

let page: Page;
const model = { baseUrl: 'https://models.example/v1', model: 'small', apiKey: 'k' };

afterEach(() => page.unmount());

async function answerWith(usage: object): Promise<void> {
  page.transport.write({ type: 'data-usage', data: usage });
  await answer(page, 'One');
}

const totals = (): string => page.all('chat-totals')[0]?.textContent ?? '';

it('A chat shows the tokens and the cost of its answers, with details on request', async () => {
  page = await mount();
  await page.playground.settings.useEndpoint(model);
  await send(page, 'First');
  await answerWith({ inputTokens: 1000, outputTokens: 200, cost: { amount: 0.01, currency: 'USD' } });
  expect(page.all('chat-totals')).toEqual([]); // the answer says it itself
  await send(page, 'Second');
  await vi.waitFor(() => expect(page.transport.sent).toHaveLength(2));
  const breaks = [{ step: 1, reason: 'edit', lostTokens: 80 }];
  await answerWith({
    inputTokens: 2000,
    outputTokens: 300,
    cachedInputTokens: 900,
    cache: { cacheableTokens: 950, breaks },
  });
  await vi.waitFor(() => expect(totals()).toBe('3.5K tokens· 30 % cached· 0.01 USD'));
  expect(page.all('answer-footer').at(-1)?.textContent).toContain('45 % cached');
  await page.click('chat-totals');
  const details = (await page.find('totals')).textContent;
  expect(details).toContain('Input tokens3,000');
  expect(details).toContain('Read from cache900 input tokens, 30 % cached');
  expect(details).toContain('Changed prompts1: edit');
  expect(details).toContain('Output tokens500');
  expect(details).toContain('Cost0.01 USD');
  expect(details).toContain('1 of 2 answers had no prices.');
  await page.click('totals-close');
  await vi.waitFor(() => expect(page.all('totals')).toEqual([]));
  await page.click('new-chat');
  await vi.waitFor(() => expect(page.all('chat-totals')).toEqual([]));
});

it('The menu of a chat opens the same details, also of a chat that was not read yet', async () => {
  const storage = memoryStorage();
  page = await mount({ storage });
  await page.playground.settings.useEndpoint(model);
  await send(page, 'First');
  await answerWith({ inputTokens: 1000, outputTokens: 200 });
  const { id } = page.playground.chats.current.value;
  await page.playground.chats.current.value.run.value?.ended;
  await vi.waitFor(async () => expect(await storage.list({ prefix: ['message', id], limit: 9 })).toHaveLength(2));
  page.unmount();
  page = await mount({ storage });
  await vi.waitFor(() => expect(page.all('chat-item')).toHaveLength(1));
  await page.click('chat-more');
  await page.click('chat-usage');
  expect((await page.find('totals')).textContent).toContain('Input tokens1,000');
  await page.click('totals-close');
  await vi.waitFor(() => expect(page.all('totals')).toEqual([]));
});

it('The details have the sum alone where it is not split, as that of a plan', async () => {
  page = await mount();
  await page.playground.settings.useEndpoint(model);
  await send(page, 'Plan');
  await answerWith({ inputTokens: 0, outputTokens: 0, totalTokens: 12_863, steps: 11, toolTokensSaved: 1_200 });
  await page.click('chat-more');
  await page.click('chat-usage');
  const details = (await page.find('totals')).textContent;
  expect(details).toContain('Tokens12,863');
  expect(details).toContain('Saved by discoveryabout 1,200 input tokens');
  expect(details).not.toContain('Input tokens0');
});

it('The scripted demo uses no tokens', async () => {
  page = await mount();
  for (const text of ['First', 'Second']) {
    await send(page, text);
    await answerWith({ inputTokens: 1000, outputTokens: 200, toolTokensSaved: 900 });
  }
  expect(page.all('answer-footer').map(({ textContent }) => textContent).join(' ')).not.toContain('token');
  expect(totals()).toBe('');
});
