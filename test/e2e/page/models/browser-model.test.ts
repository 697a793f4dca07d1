import type { Page } from 'playwright';
import { describe, expect, inject, it } from 'vitest';
import { send, usePlayground } from '../../../tools/browsers/playground.ts';
import { tooWide, violationsInBoth } from '../../../tools/screens/look.ts';
import { linkTo } from '../../../tools/screens/workshop-screens.ts';

const { newContext, open, shoot } = usePlayground();

/** An agent with few words: the model of the test Chromium reads 1000 signs. */
const short = {
  format: 'pinnace-catalog',
  formatVersion: 1,
  providers: [],
  agents: [{
    id: 'short',
    name: 'Short',
    providerId: 'default',
    instructions: 'Be kind.',
    entryTools: ['current_time'],
  }],
};

async function openShort(lasting = false): ReturnType<typeof open> {
  const context = await newContext({ lasting });
  const opened = await open({ context, url: inject('playground') + await linkTo(short), ready: 'link-accept' });
  await opened.page.getByTestId('link-accept').click();
  await opened.page.getByTestId('composer').waitFor();
  return opened;
}

/** Chooses the model that the test Chromium has: it repeats its input. */
async function connect(page: Page): Promise<void> {
  await page.getByTestId('model-badge').click();
  await page.getByTestId('settings-browser').check();
  await page.locator('[data-testid=browser-model][data-availability]').waitFor();
  const download = page.getByTestId('browser-download');
  if (await download.isVisible()) await download.click();
  await page.locator('[data-testid=browser-model][data-availability=available]').waitFor();
  await page.getByTestId('settings-save').click();
  await page.locator('[data-testid=model-badge][data-model=browser]').waitFor();
}

async function ask(page: Page, text: string): Promise<string> {
  await send(page, text);
  const message = page.locator('[data-testid=message][data-role=assistant]').last();
  await message.getByTestId('answer-footer').waitFor();
  return await message.textContent() ?? '';
}

describe('the browser’s own model', () => {
  it.each([['a dedicated', false], ['a shared', true]])(
    'is downloaded at a click and answers runs of %s worker, also after a reload',
    async (_, lasting) => {
      const { page, problems, strangers } = await openShort(lasting);
      await connect(page);
      expect(await ask(page, 'Repeat after me')).toContain('Repeat after me');
      await page.reload();
      await page.locator('[data-testid=model-badge][data-model=browser]').waitFor();
      expect(await ask(page, 'Once more')).toContain('Once more');
      expect(strangers).toEqual([]);
      expect(problems).toEqual([]);
    },
  );

  it('says what to do where a chat is too long for it', async () => {
    const { page } = await openShort();
    await connect(page);
    const said = await ask(page, 'many words '.repeat(200));
    expect(said).toContain('too long for the model');
    expect(said).toContain('New chat');
  });

  it('is stopped with its answer', async () => {
    const { page } = await openShort();
    await connect(page);
    await send(page, 'Repeat after me');
    await page.getByTestId('stop').dispatchEvent('click');
    await page.locator('[data-testid=message][data-outcome=stopped]').waitFor();
    expect(await ask(page, 'Go on')).toContain('Go on');
  });

  it('has a dialog that fits', async () => {
    const { page, problems } = await open();
    await page.getByTestId('model-badge').click();
    await page.getByTestId('settings-browser').check();
    await page.locator('[data-testid=browser-model][data-availability]').waitFor();
    await shoot(page, 'model-browser');
    expect(await violationsInBoth(page)).toEqual([]);
    expect(await tooWide(page)).toEqual([]);
    expect(problems).toEqual([]);
  });
});
