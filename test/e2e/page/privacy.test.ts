import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright';
import { describe, expect, it } from 'vitest';
import { startFaultServer } from '../../tools/servers/fault-server.ts';
import { send, usePlayground } from '../../tools/browsers/playground.ts';

const { newContext, open, shoot } = usePlayground();

describe('the policy of the built page', () => {
  it('allows no HTML from strings and no foreign scripts, in the page or in its worker', async () => {
    const { page, problems } = await open();
    const attempts = await page.evaluate(() => {
      const outcome = (attempt: () => unknown): string => {
        try {
          attempt();
          return 'done';
        } catch (error) {
          return (error as Error).name;
        }
      };
      return [
        outcome(() => (document.body.innerHTML += '<img src=x onerror=alert(1)>')),
        outcome(() => document.write('<script>alert(1)</script>')),
        outcome(() => new Worker('data:text/javascript,postMessage(1)')),
        outcome(() => Object.assign(document.createElement('script'), { text: 'alert(1)' })),
        outcome(() => document.createElement('iframe').setAttribute('srcdoc', '<script>alert(1)</script>')),
      ];
    });
    expect(attempts).toEqual(Array.from(attempts, () => 'TypeError'));
    expect(problems.length).toBeGreaterThan(0); // violations are reported: other tests find none
    problems.length = 0;
    const worker = page.workers().find((one) => one.url().includes('/worker-'))!; // safe: an agent has answered
    // In a task of its own: what the debugger evaluates is exempt.
    const compile = `try { new Function('return 1')(); resolve('done'); } catch ({ name }) { resolve(name); }`;
    const compiled = await worker.evaluate(`new Promise((resolve) => setTimeout(() => { ${compile} }))`);
    expect(compiled).toBe('EvalError');
    await expect.poll(() => problems).toEqual([expect.stringContaining('The policy was violated')]);
  });
});

const holdings = (page: Page): Promise<(string | null)[]> =>
  page.getByTestId('holding').evaluateAll((rows) => rows.map((row) => row.getAttribute('data-name')));
const ask = async (page: Page): Promise<void> => {
  await send(page, 'What is 6 * 7?');
  await page.getByTestId('answer-footer').waitFor();
  await page.getByTestId('send').waitFor();
};

describe('what the page keeps', () => {
  it('is listed, exported, erased and imported, in all tabs, and a working page is left each time', async () => {
    const context = await newContext({ offline: true });
    const { page, problems } = await open({ context });
    await page.evaluate(() => navigator.serviceWorker.ready.then(() => true));
    await ask(page);
    await page.getByTestId('open-settings').click();
    await page.getByTestId('theme-light').click();
    await page.getByTestId('settings-page-back').click();
    const other = await open({ context });
    await page.getByTestId('open-settings').click();
    await page.getByTestId('holding').first().waitFor();
    await expect.poll(() => holdings(page)).toEqual([
      'pinnace',
      'pinnace-playground',
      'pinnace-runs',
      'localStorage',
      expect.stringMatching(/^pinnace \/ [0-9a-f]{16}$/),
      'Service worker',
    ]);
    await shoot(page, 'privacy');
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByTestId('whole-export').click()]);
    const buffer = await readFile(await download.path());

    await page.getByTestId('erase').click();
    await shoot(page, 'privacy-erase');
    await page.getByTestId('erase-now').click();
    await page.getByTestId('agent-card').first().waitFor(); // the welcome
    await other.page.getByTestId('agent-card').first().waitFor();
    expect(await page.getByTestId('chat-item').count()).toBe(0);
    expect(await page.evaluate(() => localStorage.length)).toBe(0);
    await ask(page);

    await page.getByTestId('open-settings').click();
    await page.getByTestId('whole-file').setInputFiles({ name: 'all.json', mimeType: 'application/json', buffer });
    await page.getByTestId('whole-report').waitFor();
    const chats = page.locator('[data-testid=whole-room][data-room=Chats]');
    expect(await chats.textContent()).toBe('Chats1 new, 1 other kept');
    expect(await page.getByTestId('whole-setting').allTextContents()).toEqual(['Setting “theme”"light"']);
    await shoot(page, 'privacy-import');
    await page.getByTestId('whole-apply').click();
    await page.getByTestId('chat-item').nth(1).waitFor();
    expect(await page.locator('html').getAttribute('data-theme')).toBe('light');
    await ask(page);
    expect(problems).toEqual([]);
    await context.close();
  });
});

describe('whom the page talks to', () => {
  it('is empty until a model is connected, then its host', async () => {
    const faults = await startFaultServer();
    const { page, strangers } = await open();
    await ask(page);
    await page.getByTestId('open-settings').click();
    await page.getByTestId('contacts-none').waitFor();
    expect(strangers).toEqual([]);
    await page.getByTestId('settings-page-back').click();
    await page.getByTestId('model-badge').click();
    await page.getByTestId('settings-endpoint').check();
    await page.getByTestId('settings-base-url').fill(faults.url);
    await page.getByTestId('settings-model').fill('text');
    await page.getByTestId('settings-key').fill('sk-SECRET-0123456789');
    await page.getByTestId('settings-save').click();
    await send(page, 'Hello');
    await page.getByTestId('answer-footer').nth(1).waitFor();
    await page.getByTestId('open-settings').click();
    const contact = page.getByTestId('contact');
    await contact.waitFor();
    expect(await contact.getAttribute('data-origin')).toBe(new URL(faults.url).origin);
    expect(await contact.textContent()).toContain('1 requestThe model you connected');
    await page.context().close();
    await faults.close();
  });
});
