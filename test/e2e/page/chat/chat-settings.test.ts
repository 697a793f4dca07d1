import type { Page } from 'playwright';
import { afterEach, describe, expect, it } from 'vitest';
import { send, usePlayground } from '../../../tools/browsers/playground.ts';
import { tooWide, violationsInBoth } from '../../../tools/screens/look.ts';
import { type ModelServer, startModelServer } from '../../../tools/servers/model-server.ts';

const { newContext, open, shoot } = usePlayground();
const servers: Pick<ModelServer, 'close'>[] = [];
afterEach(() => servers.splice(0).forEach((server) => server.close()));

const sign = (page: Page) => page.getByTestId('chat-sign');
const answered = (page: Page, count: number) => page.getByTestId('answer-footer').nth(count - 1).waitFor();

/** The roles and texts of the last request. */
const messagesOf = (server: ModelServer) =>
  server.bodies.at(-1)?.messages.map(({ role, content }) => [role, content]) ?? [];

/** A page whose model is that of a server, and whose worker outlasts a reload with the key. */
async function openConnected() {
  const server = await startModelServer({ models: ['small', 'large'] });
  servers.push(server);
  const opened = await open({ context: await newContext({ lasting: true }) });
  const { page } = opened;
  await page.getByTestId('model-badge').click();
  await page.getByTestId('settings-endpoint').check();
  await page.getByTestId('settings-base-url').fill(`${server.origin}/v1`);
  await page.getByTestId('settings-key').fill('sk-test-0123456789');
  await page.getByTestId('settings-model').fill('small');
  await page.getByTestId('settings-save').click();
  await page.getByTestId('model-badge').getByText('small').waitFor();
  return { ...opened, server };
}

describe('the settings of a chat', () => {
  it('reach the model with the instructions of its agent, survive a reload, and are reset at once', async () => {
    const { page, server, problems } = await openConnected();
    await page.keyboard.press('Alt+s');
    await page.getByTestId('chat-settings-instructions').fill('Answer in French.');
    await page.getByText('Sampling and length').click();
    await page.getByTestId('chat-settings-temperature').fill('0.3');
    await page.getByTestId('chat-settings-outputTokens').fill('77');
    await page.getByTestId('chat-settings-model').fill('large');
    await page.getByTestId('chat-settings-save').click();
    await sign(page).waitFor();
    await send(page, 'Good morning');
    await answered(page, 1);
    expect(server.bodies.at(-1)).toMatchObject({ model: 'large', temperature: 0.3, max_tokens: 77 });
    expect(messagesOf(server)).toEqual([
      ['system', expect.stringMatching(/^(?![\s\S]*French)You are Navigator/)],
      ['user', 'Good morning'],
      ['user', 'Instructions of the user for this chat:\nAnswer in French.'],
    ]);
    await page.reload();
    await sign(page).waitFor();
    await sign(page).click();
    expect(await page.getByTestId('chat-settings-instructions').inputValue()).toBe('Answer in French.');
    expect(page.url()).toContain('over=chat-settings');
    await page.getByTestId('chat-settings-reset').click();
    await page.keyboard.press('Escape');
    await page.getByTestId('chat-settings').waitFor({ state: 'detached' });
    await sign(page).waitFor({ state: 'detached' });
    await send(page, 'Good evening');
    await answered(page, 2);
    expect(server.bodies.at(-1)).toMatchObject({ model: 'small' });
    expect(JSON.stringify(server.bodies.at(-1))).not.toMatch(/"temperature"|"max_tokens"/);
    // What was said stays as it was, so that the provider's cache holds, and is called off.
    expect(messagesOf(server).slice(1)).toEqual([
      ['user', 'Good morning'],
      ['user', 'Instructions of the user for this chat:\nAnswer in French.'],
      ['assistant', expect.any(String)],
      ['user', 'Good evening'],
      ['user', 'The instructions of the user for this chat no longer apply from here on.'],
    ]);
    expect(problems).toEqual([]);
  });

  it('have an address, and Back closes them', async () => {
    const { page } = await open();
    await page.getByTestId('chat-menu').click();
    await page.getByTestId('open-chat-settings').click();
    await page.getByTestId('chat-settings').waitFor();
    const address = page.url();
    await page.goBack();
    await page.getByTestId('chat-settings').waitFor({ state: 'detached' });
    expect(page.url()).not.toContain('chat-settings');
    await page.goto(address);
    await page.getByTestId('chat-settings').waitFor();
    expect(await page.getByTestId('chat-settings-save').isEnabled()).toBe(true);
  });

  it('can be seen and used, light or dark, on a desk or a phone', async () => {
    const { page } = await open();
    await page.keyboard.press('Alt+s');
    await page.getByTestId('chat-settings-instructions').fill('Answer in French.');
    await page.getByText('Sampling and length').click();
    await page.getByTestId('chat-settings-temperature').fill('3');
    await page.getByText('Enter a number from 0 to 2.').waitFor();
    expect(await page.getByTestId('chat-settings-save').isDisabled()).toBe(true);
    await shoot(page, 'chat-settings');
    expect(await violationsInBoth(page)).toEqual([]);
    expect(await tooWide(page)).toEqual([]);
    await page.getByTestId('chat-settings-temperature').fill('0.5');
    await page.getByTestId('chat-settings-save').click();
    await sign(page).waitFor();
    await shoot(page, 'chat-sign');
    expect(await tooWide(page)).toEqual([]);
  });
});
