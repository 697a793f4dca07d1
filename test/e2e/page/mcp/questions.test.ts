import type { BrowserContext, Page } from 'playwright';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { useServer } from '../../../tools/browsers/mcp-server.ts';
import { send, usePlayground } from '../../../tools/browsers/playground.ts';
import { type QuestionServer, startQuestionServer } from '../../../tools/servers/question-server.ts';

const { open, newContext, shoot } = usePlayground();
let server: QuestionServer;
beforeAll(async () => {
  server = await startQuestionServer();
});
afterAll(() => server.close());

/** Registers the server, approves its tool, and lets an agent use it. */
const prepare = (page: Page) => useServer(page, { id: 'harbor', url: server.url, reads: ['ask'] });

async function asked(page: Page, what: string): Promise<void> {
  await send(page, `Call harbor__ask with what "${what}"`);
  await page.getByTestId('question').waitFor();
}

const heard = (page: Page, action: string) =>
  page.locator('[data-testid=message][data-role=assistant]').getByText(`The harbor heard: ${action}`).first().waitFor();

async function pages(context: BrowserContext): Promise<readonly string[]> {
  return await Promise.all(context.pages().map(async (page) => await page.evaluate(() => location.href)));
}

describe('questions of MCP servers in the built playground', () => {
  it('are a form with defaults, checked, answered once, and kept from the chat', async () => {
    const { page, problems } = await open();
    await prepare(page);
    await asked(page, 'form');
    expect(await page.getByTestId('ask-length').inputValue()).toBe('9');
    await page.getByTestId('question-send').click();
    await page.getByTestId('ask-name-note').getByText('Name of the boat is required.').waitFor();
    await shoot(page, 'question-wrong');
    await page.getByTestId('ask-name').fill('CANARY II');
    await page.getByTestId('ask-side').selectOption('starboard');
    await page.getByTestId('ask-power').uncheck();
    await shoot(page, 'question-form');
    await page.getByTestId('question-send').click();
    await heard(page, 'accept');
    expect(server.answers.at(-1)).toEqual({
      action: 'accept',
      content: { name: 'CANARY II', length: 9, side: 'starboard', power: false },
    });
    expect(await page.getByTestId('approval-answer').textContent()).toBe('You answered');
    expect(await page.getByTestId('question').count()).toBe(0);
    await page.reload();
    await heard(page, 'accept');
    expect(await page.locator('body').textContent()).not.toContain('CANARY');
    await shoot(page, 'question-answered');
    expect(problems).toEqual([]);
  });

  it('can be declined or canceled, and the server receives which', async () => {
    const { page } = await open({ width: 390, height: 844, dark: true });
    await prepare(page);
    await asked(page, 'form');
    await shoot(page, 'question-narrow');
    await page.getByTestId('question-decline').click();
    await heard(page, 'decline');
    expect(await page.getByTestId('approval-answer').textContent()).toBe('You declined to answer');
    await asked(page, 'form');
    await page.getByTestId('question-cancel').click();
    await heard(page, 'cancel');
    expect(server.answers.slice(-2)).toEqual([{ action: 'decline' }, { action: 'cancel' }]);
  });

  it('show an address whole, with its host, and open it by a click alone', async () => {
    const context = await newContext();
    const requested: string[] = [];
    await context.route('https://*/**', async (route) => {
      requested.push(route.request().url());
      await route.fulfill({ contentType: 'text/html', body: '<title>Pay</title>' });
    });
    const { page } = await open({ context });
    await prepare(page);
    await asked(page, 'address');
    const address = 'https://pay.xn--bcher-kva.example/berth?id=7';
    expect(await page.getByTestId('ask-address').textContent()).toBe(address);
    expect(await page.getByTestId('ask-address').locator('b').textContent()).toBe('pay.xn--bcher-kva.example');
    await page.getByTestId('ask-punycode').waitFor();
    expect(await page.getByTestId('question-send').isDisabled()).toBe(true);
    await shoot(page, 'question-address');
    expect(requested).toEqual([]);
    const [site] = await Promise.all([context.waitForEvent('page'), page.getByTestId('ask-open').click()]);
    await site.waitForLoadState();
    expect(requested).toEqual([address]);
    expect(await site.evaluate(() => [opener, document.referrer])).toEqual([null, '']);
    expect(await pages(context)).toHaveLength(2);
    await page.getByTestId('question-send').click();
    await heard(page, 'accept');
    expect(server.answers.at(-1)).toEqual({ action: 'accept' });
  });

  it('are not shown where they ask for a secret', async () => {
    const { page } = await open();
    await prepare(page);
    const before = server.answers.length;
    await send(page, 'Call harbor__ask with what "secret"');
    await page.locator('[data-testid=tool-card][data-state=error]').waitFor();
    expect(await page.locator('[data-testid=tool-card]').textContent()).toContain('asks for a secret in a form');
    expect(await page.getByTestId('question').count()).toBe(0);
    expect(server.answers.length).toBe(before);
  });
});
