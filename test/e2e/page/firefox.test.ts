/** What the playground promises, in the Firefox of the system: one walk. Every other end-to-end test runs there by `E2E_BROWSER=firefox`. */

import type { Page } from 'playwright';
import { describe, expect, inject, it } from 'vitest';
import { chooseEndpoint, serveWithEndpoint } from '../../tools/servers/endpoint-page.ts';
import { startFaultServer } from '../../tools/servers/fault-server.ts';
import { startFileServer } from '../../tools/servers/file-server.ts';
import { firefoxPath } from '../../tools/browsers/firefox.ts';
import { send, usePlayground } from '../../tools/browsers/playground.ts';
import { happened, takeStop } from '../../tools/browsers/tour.ts';

const skipped = firefoxPath === undefined && 'skipped: there is no Firefox here (apt-get install firefox-esr)';
if (skipped) console.warn(`End-to-end tests in Firefox are ${skipped}`);

const answered = (page: Page, text: string) =>
  page.locator('[data-testid=message][data-role=assistant]').last().getByText(text).first().waitFor();
const row = (page: Page, name: string) => page.getByRole('treeitem', { name }).first();

async function ask(page: Page, question: string, answer: string): Promise<void> {
  await send(page, question);
  await answered(page, answer);
  await page.getByTestId('send').waitFor();
}

async function isTooWide(page: Page): Promise<boolean> {
  return await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
}

async function connectModel(page: Page, url: string): Promise<void> {
  await page.getByTestId('model-badge').click();
  await page.getByTestId('settings-endpoint').check();
  await page.getByTestId('settings-base-url').fill(url);
  await page.getByTestId('settings-model').fill('text');
  await page.getByTestId('settings-key').fill('sk-SECRET-0123456789');
  await page.getByTestId('settings-save').click();
  await page.getByTestId('settings-dialog').waitFor({ state: 'detached' });
}

async function openVault(page: Page): Promise<void> {
  await page.getByTestId('registry-tab-vault').click();
  await page.getByTestId('vault-passphrase').fill('correct horse');
  await page.getByTestId('vault-unlock').click();
  await page.getByTestId('vault-name').waitFor();
}

/** Creates a code tool that throws, fixes it, and calls it again. */
async function makeCodeTool(page: Page): Promise<void> {
  await page.getByTestId('make-code').click();
  await page.getByTestId('code-editor').waitFor();
  await page.getByTestId('field-name').fill('double');
  await page.getByTestId('field-description').fill('Doubles a text');
  await page.getByTestId('param-add').click();
  await page.getByTestId('code-editor').fill('const { input1 } = input;\n  missing();');
  await page.getByTestId('trial-call').click();
  await page.getByTestId('code-mark').getByText('Line 2, column 3').waitFor();
  await page.getByTestId('code-editor').fill('return input.input1 + input.input1;');
  await page.getByTestId('trial-call').click();
  await page.locator('[data-testid=trial-result][data-ok=true]').getByText('texttext').waitFor();
  await page.getByTestId('record-save').click();
  await page.getByTestId('chosen-tool').getByText('double').waitFor();
}

/** Makes a tool that asks this server, and tries it. */
async function makeHttpTool(page: Page, url: string): Promise<void> {
  await page.getByTestId('make-http').click();
  await page.getByTestId('http-url').waitFor();
  await page.getByTestId('field-name').fill('tides');
  await page.getByTestId('field-description').fill('Tells the tides of a port');
  await page.getByTestId('http-url').fill(`${url}/v1/{port}`);
  await page.getByTestId('trial-input').fill('{"port": "kiel"}');
  await page.getByTestId('trial-call').click();
  await page.locator('[data-testid=trial-result][data-ok=true]').getByText('06:12').first().waitFor();
  await page.getByTestId('record-save').click();
  await page.getByTestId('chosen-tool').getByText('tides').waitFor();
}

const where = `Firefox${skipped ? ` (${skipped})` : ''}`;
// Once more where it failed: the driver is young, and now and then loses sight of a page that loads on a busy machine.
describe.skipIf(skipped)(`the built playground in ${where}`, { retry: 1 }, () => {
  const { newContext, open, shoot } = usePlayground('firefox');

  it('answers within the page, sends no requests elsewhere, and allows no HTML from strings and no foreign scripts', async () => {
    const { page, problems, strangers } = await open();
    await ask(page, 'What is 6 * 7?', '42');
    await page.locator('[data-testid=tool-card][data-tool=calculator][data-state=result]').waitFor();
    await shoot(page, 'firefox-answer');
    expect([...problems, ...strangers]).toEqual([]);
    const attempts = await page.evaluate(() => {
      const refusalOf = (attempt: () => unknown): unknown => {
        try {
          return attempt();
        } catch (error) {
          return (error as Error).name;
        }
      };
      return [
        refusalOf(() => (document.body.innerHTML += '<img src=x onerror=alert(1)>')),
        refusalOf(() => new Worker('data:text/javascript,postMessage(1)')),
        refusalOf(() => Object.assign(document.createElement('script'), { text: 'alert(1)' })),
      ];
    });
    expect(attempts).toEqual(['TypeError', 'TypeError', 'TypeError']);
    await expect.poll(() => problems.filter((text) => text.includes('require-trusted-types-for')).length)
      .toBeGreaterThanOrEqual(attempts.length);
    await page.context().close();
  });

  // In each run Chromium takes the tour and fits a phone.
  it.runIf(inject('isLong'))('leads through the nine runs of the tour', async () => {
    const { page, problems } = await open();
    await page.getByTestId('open-tour').click();
    for (const [title, said] of happened) {
      expect(await takeStop(page)).toEqual([title, expect.stringMatching(said)]);
      await page.getByTestId('tour-next').click();
    }
    expect(problems).toEqual([]);
    await page.context().close();
  });

  it('makes an agent with a code tool and an HTTP tool, runs and exports it', async () => {
    const context = await newContext({ height: 1000 });
    await context.route(
      'https://tides.example.com/**',
      (route) => route.fulfill({ json: { high: '06:12' }, headers: { 'access-control-allow-origin': '*' } }),
    );
    const { page, problems } = await open({ context });
    await page.getByTestId('new-agent').click();
    await page.getByTestId('field-name').fill('Harbour master');
    await page.getByTestId('field-instructions').fill('You tell people about tides.');
    await makeCodeTool(page);
    await makeHttpTool(page, 'https://tides.example.com');
    await shoot(page, 'firefox-builder');
    await page.getByTestId('record-save').click();
    await page.locator('[data-testid=share][data-ready=true]').waitFor();
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByTestId('share-file').click()]);
    expect(download.suggestedFilename()).toContain('harbour-master');
    await page.getByTestId('record-chat').click();
    await ask(page, 'Call tides with port "kiel"', '06:12');
    await ask(page, 'Call double with input1 "ahoy"', 'ahoyahoy');
    expect(problems).toEqual([]);
    await context.close();
  });

  it('is the console of an endpoint, with signed requests', async () => {
    const served = await serveWithEndpoint(inject('playgroundFolder'));
    const { page, problems } = await open({ dark: true, url: served.playground });
    await chooseEndpoint(page, served.endpoint);
    await ask(page, 'What is 6 * 7?', '42');
    await page.getByTestId('open-agents').click();
    await page.locator('[data-testid=registry-row][data-id=navigator]').waitFor();
    await page.getByTestId('open-runs').click();
    await page.locator('[data-testid=run-row][data-run-state=done]').first().waitFor();
    await page.getByTestId('runs-tab-audit').click();
    await page.getByTestId('console-verify').click();
    await page.getByTestId('console-verification').getByText('Intact').waitFor();
    await page.getByTestId('runs-tab-metrics').click();
    await page.getByTestId('console-all').getByText('All metrics').click();
    await page.locator('[data-testid=console-metric][data-name=pinnace_runs_total]').waitFor();
    await shoot(page, 'firefox-console-dark');
    expect(problems).toEqual([]);
    await page.context().close();
    await served.stop();
  });

  it('keeps chats, the tree and a secret over a reload and in two tabs, lists them, and erases them', async () => {
    const context = await newContext();
    const { page, problems } = await open({ context });
    await ask(page, 'What is 6 * 7?', '42');
    await page.getByTestId('open-agents').click();
    await openVault(page);
    await page.getByTestId('vault-name').fill('lab-key');
    await page.getByTestId('vault-value').fill('sk-SECRET');
    await page.getByTestId('vault-origins').fill('https://lab.example.com');
    await page.getByTestId('vault-set').click();
    await page.locator('[data-testid=vault-secret][data-id=lab-key]').waitFor();
    await page.reload();
    await page.locator('[data-testid=vault-secret][data-id=lab-key]').waitFor();
    expect(await page.content()).not.toContain('SECRET');
    await page.getByTestId('agents-back').click();

    const { page: other } = await open({ context });
    for (const one of [page, other]) await one.keyboard.press('Alt+t');
    await row(page, 'Propulsion').click();
    await page.keyboard.press('F2');
    await page.getByTestId('tree-field').fill('Engines');
    await page.keyboard.press('Enter');
    await row(other, 'Engines').waitFor();
    await shoot(other, 'firefox-tree');

    await page.getByTestId('open-settings').click();
    await page.locator('[data-testid=holding][data-name=pinnace]').waitFor();
    await page.getByTestId('erase').click();
    await page.getByTestId('erase-now').click();
    for (const one of [page, other]) await one.getByTestId('agent-card').first().waitFor(); // the welcome
    expect(await page.getByTestId('chat-item').count()).toBe(0);
    expect(problems).toEqual([]);
    await context.close();
  });

  it('goes on with a run and with a plan whose page is reloaded, in their places and once', async () => {
    const { page, problems } = await open();
    await send(page, 'Write 100 words about tides');
    await answered(page, 'Its topic is tides');
    await page.reload();
    await page.locator('[data-testid=message][data-outcome=done]').waitFor();
    expect(await page.getByTestId('message').count()).toBe(2);
    const said = await page.getByTestId('message').last().innerText();
    expect(said.split('Its topic is tides')).toHaveLength(2); // the half that was cut is not shown again

    await page.getByTestId('new-chat').click();
    await page.locator('[data-testid=agent-card][data-agent=commodore]').click();
    await send(page, 'Calculate 6 * 7, then write 100 words about tides, then calculate 7 * 8');
    await page.locator('[data-testid=plan-node][data-status=done]').waitFor();
    await page.reload();
    await page.locator('[data-testid=plan][data-state=done]').waitFor();
    await page.getByTestId('send').waitFor();
    expect(await page.locator('[data-testid=plan-node][data-status=done]').count()).toBe(4);
    expect(await page.getByTestId('message').count()).toBe(2);
    expect(problems).toEqual([]);
    await page.context().close();
  });

  it.runIf(inject('isLong'))('fits a phone, in the dark, and names the host of a model that is connected', async () => {
    const faults = await startFaultServer();
    const { page, problems } = await open({ width: 360, height: 740, dark: true });
    await connectModel(page, faults.url);
    await ask(page, 'Hello', 'fault server');
    await shoot(page, 'firefox-phone-dark');
    expect(await isTooWide(page)).toBe(false);
    await page.keyboard.press('Control+k');
    await page.getByTestId('switcher-query').fill('privacy');
    await page.keyboard.press('Enter');
    await page.getByTestId('contact').waitFor();
    expect(await page.getByTestId('contact').getAttribute('data-origin')).toBe(new URL(faults.url).origin);
    await shoot(page, 'firefox-privacy-phone-dark');
    expect(await isTooWide(page)).toBe(false);
    expect(problems).toEqual([]);
    await page.context().close();
    await faults.close();
  });

  it('shares a chat as a link that another visitor reads, keeps and goes on with', async () => {
    const { page: own } = await open();
    await ask(own, 'Convert 26.2 miles to kilometers', '42.16');
    await own.getByTestId('chat-more').first().click();
    await own.getByTestId('share-chat-link').click();
    const link = await own.getByTestId('chat-link').inputValue();
    expect(link.startsWith(`${inject('playground')}#chat=`)).toBe(true);

    const { page, problems, strangers } = await open({ url: link, ready: 'shared-keep' });
    expect(await page.getByTestId('shared-messages').textContent()).toMatch(/Convert 26\.2 miles[^]*42\.16/);
    expect(await page.getByTestId('chat-item').count()).toBe(0); // nothing is kept before the person says so
    await shoot(page, 'firefox-shared');
    await page.getByTestId('shared-keep').click();
    await page.getByTestId('message').nth(1).waitFor();
    await page.reload();
    await page.getByTestId('message').nth(1).waitFor();
    await ask(page, 'What is 6 * 7?', '42');
    await expect.poll(() => page.getByTestId('chat-item').count()).toBe(1);
    expect([...problems, ...strangers]).toEqual([]);
    await Promise.all([own.context().close(), page.context().close()]);
  });

  it('works without a network after the first visit', async () => {
    const server = await startFileServer(inject('playgroundFolder'));
    const context = await newContext({ offline: true });
    const { page, problems } = await open({ context, url: server.url });
    await page.evaluate(async () => void await navigator.serviceWorker.ready);
    await page.reload(); // only now it is loaded through the service worker
    await page.getByTestId('composer').waitFor();
    await server.close();
    await page.reload();
    await ask(page, 'What is 6 * 7?', '42');
    await page.getByTestId('open-files').click();
    await page.getByTestId('knowledge-guide').click();
    await page.locator('[data-testid=knowledge-file][data-state=ready]').first().waitFor();
    // What a reload cut short is reported, too.
    expect(problems.filter((text) => !text.includes('A ServiceWorker intercepted the request'))).toEqual([]);
    await context.close();
  });
});
