import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright';
import { describe, expect, it } from 'vitest';
import { violations } from '../../../tools/browsers/axe.ts';
import { send, usePlayground } from '../../../tools/browsers/playground.ts';
import { violationsInBoth } from '../../../tools/screens/look.ts';

const { newContext, open, shoot } = usePlayground();

const questions = (page: Page) => page.locator('[data-testid=message][data-role=user]');
const titles = (page: Page) => page.locator('.chat-title').allTextContents();

async function ask(page: Page, text: string): Promise<void> {
  const before = await page.getByTestId('answer-footer').count();
  await send(page, text);
  await page.getByTestId('answer-footer').nth(before).waitFor();
  await page.getByTestId('send').waitFor();
}

describe('the list of chats', () => {
  it('renames, pins, saves, deletes and brings back, and all of it is there after a reload', async () => {
    const { page, problems } = await open();
    await ask(page, 'What is 6 * 7?');
    await page.getByTestId('new-chat').click();
    await ask(page, 'Convert 26.2 miles to kilometers');
    await page.getByTestId('chat-more').nth(1).click();
    await page.getByTestId('rename-chat').click();
    await page.getByTestId('chat-name').fill('Six times seven');
    await page.keyboard.press('Enter');
    await page.getByTestId('chat-more').nth(1).click();
    await page.getByTestId('pin-chat').click();
    await expect.poll(() => titles(page)).toEqual(['Six times seven', 'Convert 26.2 miles to kilometers']);
    await page.getByTestId('chat-more').first().click();
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByTestId('save-chat').click()]);
    expect(download.suggestedFilename()).toBe('six-times-seven.md');
    const text = await readFile(await download.path(), 'utf8');
    expect(text).toMatch(/^# Six times seven\n[^]*## You\n\nWhat is 6 \* 7\?[^]*42/);
    await page.getByTestId('chat-more').first().click();
    await shoot(page, 'chat-choices');
    await page.getByTestId('delete-chat').click();
    await expect.poll(() => titles(page)).toEqual(['Convert 26.2 miles to kilometers']);
    await shoot(page, 'chat-removed');
    await page.getByTestId('undo-delete').click();
    await expect.poll(() => titles(page)).toEqual(['Six times seven', 'Convert 26.2 miles to kilometers']);
    await page.reload();
    await page.getByTestId('composer').waitFor();
    expect(await titles(page)).toEqual(['Six times seven', 'Convert 26.2 miles to kilometers']);
    for (const _ of [1, 2]) {
      await page.getByTestId('chat-more').first().click();
      await page.getByTestId('delete-chat').click();
    }
    await page.getByTestId('open-settings').click();
    const deleted = page.getByTestId('deleted-chat');
    await deleted.nth(1).getByText('30 days left').waitFor();
    await deleted.first().getByTestId('purge-chat').click();
    await shoot(page, 'chats-deleted');
    expect(await violationsInBoth(page)).toEqual([]);
    await page.getByTestId('purge-chat-sure').click();
    await expect.poll(() => deleted.count()).toBe(1);
    await page.setViewportSize({ width: 390, height: 844 });
    await page.emulateMedia({ colorScheme: 'dark' });
    await shoot(page, 'chats-deleted-phone-dark');
    await deleted.getByTestId('restore-chat').click();
    await expect.poll(() => deleted.count()).toBe(0);
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.getByTestId('chat-item').getByText('Six times seven').click();
    await page.getByTestId('message').getByText('42').first().waitFor();
    expect(problems).toEqual([]);
  });
});

describe('a message', () => {
  it('is edited and answered anew, with a way back to what followed before, also after a reload', async () => {
    const { page, problems } = await open();
    await ask(page, 'What is 6 * 7?');
    await ask(page, 'What is 7 * 8?');
    await questions(page).first().hover();
    await page.getByTestId('edit-question').first().click();
    await page.getByTestId('edit-text').fill('What is 9 * 9?');
    await page.keyboard.press('Enter');
    await page.getByText('81').first().waitFor();
    await page.getByTestId('send').waitFor();
    await expect.poll(() => questions(page).count()).toBe(1);
    await page.getByTestId('version').getByText('2 / 2').waitFor();
    expect(await violations(page)).toEqual([]);
    await shoot(page, 'edited');
    await page.getByTestId('previous-version').click();
    await expect.poll(() => questions(page).allTextContents()).toEqual([
      expect.stringContaining('6 * 7'),
      expect.stringContaining('7 * 8'),
    ]);
    await page.reload();
    await page.getByTestId('version').getByText('1 / 2').waitFor();
    await expect.poll(() => questions(page).count()).toBe(2);
    expect(problems).toEqual([]);
  });

  it('that is half written is there after a reload, with its files', async () => {
    const context = await newContext({ lasting: true });
    const { page, problems } = await open({ context });
    await page.getByTestId('composer').fill('How is the ti');
    await page.getByTestId('attach-input').setInputFiles({
      name: 'log.txt',
      mimeType: 'text/plain',
      buffer: Buffer.from('Wind: 5 knots'),
    });
    await page.getByTestId('attached').waitFor();
    await page.reload();
    expect(await page.getByTestId('composer').inputValue()).toBe('How is the ti');
    expect(await page.getByTestId('attached').textContent()).toContain('log.txt');
    expect(problems).toEqual([]);
    await context.close();
  });

  it('are found by words, beginnings and slips, with the text around them, and vanish when deleted', async () => {
    const { page, problems } = await open();
    await send(page, 'Convert 26.2 miles to kilometers');
    await page.getByTestId('answer-footer').waitFor();
    await page.getByRole('button', { name: 'New chat' }).first().click();
    await send(page, 'Say: the grey whale dived twice');
    await page.getByTestId('answer-footer').waitFor();
    await page.keyboard.press('Control+k');
    const query = page.getByRole('combobox', { name: 'Search chats, files, agents and actions' });
    await page.getByText('Recent chats').waitFor();
    await shoot(page, 'search-empty');
    await query.fill('kilomters mile');
    const hit = page.getByRole('option', { name: /^Convert 26\.2 miles to kilometers/ }).filter({
      has: page.locator('mark', { hasText: 'kilometers' }),
    });
    await hit.waitFor();
    expect(await violationsInBoth(page)).toEqual([]);
    await shoot(page, 'search-hit');
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.setViewportSize({ width: 390, height: 844 });
    await shoot(page, 'search-phone-dark');
    await page.emulateMedia({ colorScheme: 'light' });
    await page.setViewportSize({ width: 1280, height: 720 });
    await hit.click();
    await page.locator('[data-testid=find-query]').waitFor();
    await page.keyboard.press('Control+k');
    await query.fill('konvert');
    await expect.poll(() => page.locator('.switcher-group').allInnerTexts()).toEqual([
      'Chats',
      'Runs',
      'Tools',
      'Guide',
    ]);
    await page.getByRole('option', { name: /^Unit converter/ }).click();
    await page.getByRole('heading', { name: 'Unit converter' }).waitFor();
    expect(problems).toEqual([]);
  });
});
