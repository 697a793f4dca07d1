import type { Page } from 'playwright';
import { describe, expect, inject, it } from 'vitest';
import { fillRecord } from '../../tools/browsers/mcp-server.ts';
import { send, usePlayground } from '../../tools/browsers/playground.ts';

const { newContext, open, shoot } = usePlayground();

const questions = (page: Page) => page.locator('[data-testid=message][data-role=user]');
const answers = (page: Page) => page.locator('[data-testid=message][data-role=assistant]');
const answered = async (page: Page, count: number): Promise<void> => {
  await page.getByTestId('answer-footer').nth(count - 1).waitFor();
  await page.getByTestId('send').waitFor();
};

/** Sends; once more where the other tab has begun just before, and the text is still there. */
async function sendAnyway(page: Page, text: string): Promise<void> {
  const composer = page.getByTestId('composer');
  await send(page, text);
  while (await composer.inputValue() !== '') {
    await page.getByTestId('send').waitFor();
    await composer.press('Enter');
  }
}

/** Two tabs that show the same chat, begun in the first. */
async function openTwoTabs({ ready, begin }: { ready: string; begin: (page: Page) => Promise<void> }) {
  const context = await newContext({ height: 2400 }); // all messages are in sight
  const first = await open({ context });
  await begin(first.page);
  await first.page.getByTestId(ready).waitFor();
  const second = await open({ context, url: first.page.url(), ready });
  return { context, first: first.page, second: second.page, problems: [first.problems, second.problems] };
}

describe('two tabs on one chat', () => {
  it('follow each other, lose nothing when both send at once, and both show the deletion', async () => {
    const { context, first, second, problems } = await openTwoTabs({
      ready: 'answer-footer',
      begin: (page) => send(page, 'What is 6 * 7?'),
    });
    await send(first, 'What is 7 * 8?');
    await answered(second, 2);
    expect(await answers(second).last().textContent()).toContain('56');
    await Promise.all([sendAnyway(first, 'What is 8 * 9?'), sendAnyway(second, 'What is 9 * 10?')]);
    await Promise.all([answered(first, 4), answered(second, 4)]);
    const said = await questions(first).allTextContents();
    expect(said).toHaveLength(4);
    expect(await questions(second).allTextContents()).toEqual(said);
    const both = (await answers(first).allTextContents()).join();
    expect(both).toContain('72');
    expect(both).toContain('90');
    await first.reload();
    await answered(first, 4);
    expect(await questions(first).allTextContents()).toEqual(said);
    await first.getByTestId('chat-more').click();
    await first.getByTestId('delete-chat').click();
    await second.getByTestId('deleted-notice').waitFor();
    await shoot(second, 'deleted-elsewhere');
    expect(await second.getByTestId('chat-item').count()).toBe(0);
    expect(problems).toEqual([[], []]);
    await context.close();
  });

  it('show one approval, and what was decided in one of them in both', async () => {
    const { context, first, second, problems } = await openTwoTabs({
      ready: 'approve',
      async begin(page) {
        await page.locator('[data-testid=agent-card][data-agent=logbook]').click();
        await page.getByTestId('suggestion').getByText('overboard').click();
      },
    });
    await second.getByTestId('approve').click();
    const done = '[data-testid=tool-card][data-tool=notes_delete][data-state=result]';
    await Promise.all([first.locator(done).waitFor(), second.locator(done).waitFor()]);
    await Promise.all([answered(first, 1), answered(second, 1)]);
    expect(await first.getByTestId('approve').count()).toBe(0);
    expect(await answers(first).allTextContents()).toEqual(await answers(second).allTextContents());
    expect(problems).toEqual([[], []]);
    await context.close();
  });
});

describe('two tabs on one plan', () => {
  it('show its question in both, and go on in both when one of them answers', async () => {
    const { context, first, second, problems } = await openTwoTabs({
      ready: 'plan-text',
      async begin(page) {
        await page.locator('[data-testid=agent-card][data-agent=commodore]').click();
        await send(page, 'Calculate 6 * 7; ask me which port we sail for');
      },
    });
    await second.getByTestId('plan-text').fill('Bergen');
    await second.keyboard.press('Enter');
    const done = '[data-testid=plan][data-state=done]';
    await Promise.all([first.locator(done).waitFor(), second.locator(done).waitFor()]);
    await Promise.all([answered(first, 1), answered(second, 1)]);
    expect(await first.getByTestId('plan-said').textContent()).toContain('Bergen');
    expect(await first.getByTestId('plan-text').count()).toBe(0);
    expect(problems).toEqual([[], []]);
    await context.close();
  });
});

describe('two tabs on one agent', () => {
  it('show its new name in both, and overwrite nothing that the other one has changed', async () => {
    const context = await newContext();
    const [first, second] = [(await open({ context })).page, (await open({ context })).page];
    const edit = async (page: Page): Promise<void> => {
      await page.getByTestId('open-agents').click();
      await page.locator('[data-testid=registry-row][data-id=navigator]').click();
      await page.getByTestId('record-edit').click();
    };
    await edit(first);
    await first.getByTestId('field-name').fill('Pilot');
    await first.getByTestId('record-save').click();
    await second.locator('[data-testid=agent-card][data-agent=navigator]').getByText('Pilot').waitFor();
    await edit(second);
    await second.getByTestId('field-name').fill('Helmsman');
    await first.getByTestId('record-edit').click();
    await fillRecord(first, { role: 'Finds the way' });
    await first.getByTestId('record-save').click();
    await first.getByTestId('record-edit').waitFor();
    await second.getByTestId('record-save').click();
    expect(await second.getByTestId('record-conflict').textContent()).toContain('Role');
    await context.close();
  });
});

describe('a full disk', () => {
  it('loses nothing that is on the page, says what helps, and stores all of it once there is room', async () => {
    const context = await newContext();
    const devtools = await context.newCDPSession(await context.newPage());
    const { origin } = new URL(inject('playground'));
    await devtools.send('Storage.overrideQuotaForOrigin', { origin, quotaSize: 1 });
    const { page } = await open({ context });
    await send(page, 'What is 6 * 7?');
    await page.getByTestId('storage-notice').waitFor();
    await page.getByTestId('remedy-room').waitFor();
    await expect.poll(() => questions(page).count()).toBe(1);
    await shoot(page, 'full-disk');
    await page.getByTestId('remedy-room').click();
    await page.getByTestId('holding').first().waitFor();
    await page.getByTestId('settings-page-back').click();
    await devtools.send('Storage.overrideQuotaForOrigin', { origin });
    await page.getByTestId('remedy-retry').click();
    await answered(page, 1);
    await page.getByTestId('storage-notice').waitFor({ state: 'detached' });
    await page.reload();
    await answered(page, 1);
    expect(await questions(page).textContent()).toContain('6 * 7');
    expect(await answers(page).textContent()).toContain('42');
    await context.close();
  });
});

describe('what a newer version of the page has stored', () => {
  it('is reported, and neither shown nor changed', async () => {
    const { page } = await open();
    await send(page, 'What is 6 * 7?');
    await answered(page, 1);
    const takeOver = (): Promise<number> =>
      page.evaluate(() => {
        const { promise, resolve, reject } = Promise.withResolvers<number>();
        const request = indexedDB.open('pinnace-playground', 1000);
        request.addEventListener('error', () => reject(new Error('It was not opened')));
        request.addEventListener('success', () => {
          const counting = request.result.transaction('entries').objectStore('entries').count();
          counting.addEventListener('success', () => {
            request.result.close();
            resolve(counting.result);
          });
        });
        return promise;
      });
    const entries = await takeOver();
    await send(page, 'What is 7 * 8?');
    await answered(page, 2); // it goes on in the open page
    expect(await page.getByTestId('storage-notice').textContent()).toContain('newer version');
    await shoot(page, 'newer-version');
    expect(await takeOver()).toBe(entries);
    await page.context().close();
  });
});
