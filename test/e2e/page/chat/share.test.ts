import type { Page } from 'playwright';
import { describe, expect, inject, it, vi } from 'vitest';
import { violations } from '../../../tools/browsers/axe.ts';
import { send, usePlayground } from '../../../tools/browsers/playground.ts';
import { linkTo } from '../../../tools/screens/workshop-screens.ts';

const { open, shoot } = usePlayground();

const hashOf = (page: Page): string => new URL(page.url()).hash;

async function share(page: Page): Promise<string> {
  await send(page, 'Convert 26.2 miles to kilometers');
  await page.getByTestId('answer-footer').waitFor();
  await page.getByTestId('open-switcher').click();
  await page.getByTestId('switcher-query').fill('share this chat');
  await page.keyboard.press('Enter');
  return await page.getByTestId('chat-link').inputValue();
}

describe('a chat as a link', () => {
  it('is made from the palette by the keyboard, and Back closes the dialog', async () => {
    const { page, problems, strangers } = await open();
    const link = await share(page);
    expect(link.startsWith(`${inject('playground')}#chat=`)).toBe(true);
    expect(hashOf(page)).toMatch(/^#\/c\/[\w-]+\?over=share$/);
    expect(await violations(page)).toEqual([]);
    await page.getByTestId('share-results').check();
    await expect.poll(() => page.getByTestId('chat-link').inputValue().then((longer) => longer.length > link.length))
      .toBe(true);
    await page.goBack();
    await page.getByTestId('share-chat').waitFor({ state: 'detached' });
    await page.goForward();
    await page.getByTestId('share-chat').waitFor();
    await page.keyboard.press('Escape');
    await page.getByTestId('share-chat').waitFor({ state: 'detached' });
    expect([problems, strangers]).toEqual([[], []]);
  });

  it('is shown and kept by another person, with a phone', async () => {
    const { page: own } = await open();
    const link = await share(own);
    const { page, problems, strangers } = await open({ url: link, ready: 'shared-keep', width: 390, height: 844 });
    expect(await page.getByTestId('shared-messages').textContent()).toMatch(/Convert 26\.2 miles[^]*42\.16/);
    expect(await page.getByTestId('chat-item').count()).toBe(0);
    expect(await violations(page)).toEqual([]);
    await shoot(page, 'shared');
    await page.reload();
    await page.getByTestId('shared-keep').click();
    await page.getByTestId('message').nth(1).waitFor();
    await vi.waitFor(() => expect(hashOf(page)).toMatch(/^#\/c\/[\w-]+$/));
    expect(hashOf(page)).not.toBe(hashOf(own).replace('?over=share', ''));
    await page.reload();
    await page.getByTestId('message').nth(1).waitFor();
    await send(page, 'What is 6 * 7?');
    await page.getByText('42', { exact: false }).last().waitFor();
    expect([problems, strangers]).toEqual([[], []]);
  });

  it('leaves nothing behind when it is declined, and Back does not lead to it again', async () => {
    const { page: own } = await open();
    const link = await share(own);
    const { page } = await open();
    await page.evaluate((hash) => (location.hash = hash), new URL(link).hash);
    await page.getByTestId('shared-keep').waitFor();
    await page.getByTestId('shared-leave').click();
    await page.getByTestId('welcome').waitFor();
    expect(await page.getByTestId('chat-item').count()).toBe(0);
    expect(hashOf(page)).toBe('');
  });

  it('from a stranger runs nothing, asks no other host, and is refused where it is no chat', async () => {
    const hostile =
      '<img src=https://evil.example/a.png onerror=alert(1)> ![b](https://evil.example/b.png) [c](javascript:alert(1))';
    const document = {
      format: 'pinnace-chat',
      formatVersion: 1,
      title: '<script>alert(1)</script>',
      agent: { id: '__proto__', name: 'Drill' },
      messages: [{ role: 'user', text: hostile }, {
        role: 'assistant',
        model: 'm',
        parts: [{ type: 'text', text: hostile }, { type: 'tool', title: 'code_run', state: 'result', output: hostile }],
      }],
    };
    const { page, problems, strangers } = await open({
      url: `${inject('playground')}${await linkTo(document, '#chat=')}`,
      ready: 'shared-keep',
    });
    await page.locator('.tool-head').click();
    expect(await page.locator('[href^=javascript]').count()).toBe(0);
    await page.getByTestId('shared-keep').click();
    await page.getByTestId('message').nth(1).waitFor();
    expect([problems, strangers]).toEqual([[], []]);
    await page.evaluate((hash) => (location.hash = hash), `#chat=${'a'.repeat(70_000)}`);
    await page.getByTestId('shared-problem').getByText('too long').waitFor();
    await page.goBack();
    await page.getByTestId('message').nth(1).waitFor();
    expect([problems, strangers]).toEqual([[], []]);
  });
});
