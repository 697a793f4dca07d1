import type { Page } from 'playwright';
import { describe, expect, inject, it, vi } from 'vitest';
import { send, usePlayground } from '../../tools/browsers/playground.ts';

const { newContext, open } = usePlayground();

const hashOf = (page: Page): string => new URL(page.url()).hash;
const isAt = (page: Page, hash: string | RegExp): Promise<unknown> =>
  vi.waitFor(() => typeof hash === 'string' ? expect(hashOf(page)).toBe(hash) : expect(hashOf(page)).toMatch(hash));

async function ask(page: Page, text: string): Promise<void> {
  await send(page, text);
  await page.getByTestId('answer-footer').last().waitFor();
}

const titleOf = (page: Page) => page.locator('.top-chat');

describe('addresses of the playground', () => {
  it('go back and forward among chats, and back to the new one', async () => {
    const { page, problems } = await open();
    await ask(page, 'What is 6 * 7?');
    await isAt(page, /^#\/c\/[\w-]+$/);
    const first = hashOf(page);
    await page.getByTestId('new-chat').click();
    await page.getByTestId('welcome').waitFor();
    await isAt(page, '');
    await ask(page, 'What is 20 + 22?');
    await page.goBack();
    await titleOf(page).getByText('6 * 7').waitFor();
    expect(hashOf(page)).toBe(first);
    await page.goForward();
    await titleOf(page).getByText('20 + 22').waitFor();
    expect(problems).toEqual([]);
  });

  it('restore a chat with what lies over it after a reload', async () => {
    const { page } = await open();
    await ask(page, 'What is 6 * 7?');
    await page.getByTestId('inspect').click();
    await page.getByTestId('run-tab-events').click();
    await isAt(page, /^#\/runs\/[0-9a-f]{32}\/events\?chat=/);
    await page.reload();
    await page.getByTestId('run-view').waitFor();
    expect(await page.getByTestId('run-tab-events').getAttribute('aria-selected')).toBe('true');
    await page.keyboard.press('Escape');
    await titleOf(page).getByText('6 * 7').waitFor();
    await isAt(page, /^#\/c\//);
  });

  it('close a page over the chat by going back, and open it again by going forward', async () => {
    const { page } = await open();
    await page.getByTestId('open-agents').click();
    await isAt(page, '#/agents');
    await page.getByTestId('registry-tab-tool').click();
    await isAt(page, '#/agents/tool');
    await page.getByTestId('registry-row').first().click();
    await isAt(page, /^#\/agents\/tool\/\w+$/);
    const record = hashOf(page);
    await page.goBack();
    await isAt(page, '#/agents/tool');
    await page.getByTestId('registry-tab-tool').waitFor();
    await page.goBack();
    await page.goBack();
    await page.getByTestId('agents').waitFor({ state: 'detached' });
    for (let i = 0; i < 3; i++) await page.goForward();
    await isAt(page, record);
    await page.getByTestId('record-page').waitFor();
    expect(hashOf(page)).toBe(record);
  });

  it('leave no entry behind of what was closed by its own button', async () => {
    const { page } = await open();
    await ask(page, 'What is 6 * 7?');
    const chat = hashOf(page);
    const entries = await page.evaluate(() => history.length);
    await page.getByTestId('open-agents').click();
    await page.getByTestId('agents-back').click();
    await isAt(page, chat);
    await page.getByTestId('open-settings').click();
    await page.getByTestId('settings-page-back').click();
    await isAt(page, chat);
    expect(await page.evaluate(() => history.length)).toBeLessThanOrEqual(entries + 1);
  });

  it('do not lose what is sent while a dialog closes', async () => {
    const { page } = await open({ context: await newContext({ reducedMotion: 'no-preference' }) });
    await page.getByTestId('model-badge').click();
    await isAt(page, '#/?over=model');
    await page.getByTestId('settings-cancel').click();
    await ask(page, 'What is 6 * 7?');
    await isAt(page, /^#\/c\/[\w-]+$/);
    expect(await titleOf(page).textContent()).toContain('6 * 7');
  });

  it.each(
    [
      ['#/agents/agent/navigator', 'record-page'],
      ['#/agents/vault', 'registry-tab-vault'],
      ['#/agents/provider/default/edit', 'record-form'],
      ['#/settings', 'settings-page'],
      ['#/agents/agent/~new', 'record-form'],
      ['#/runs', 'runs-empty'],
      ['#/runs/tests', 'evals'],
      ['#/runs/plans', 'server-none'],
      ['#/agents?at=server', 'server-none'],
      ['#/?tree', 'tree-panel'],
      ['#/?files', 'knowledge-panel'],
      ['#/files', 'files'],
      ['#/?over=palette', 'switcher'],
      ['#/model', 'settings-dialog'],
      ['#/tour', 'tour'],
    ] as const,
  )('open %s directly', async (hash, testId) => {
    const { page, problems } = await open({ url: `${inject('playground')}${hash}`, ready: testId });
    await page.getByTestId(testId).last().waitFor();
    if (!['#/model', '#/tour'].includes(hash)) expect(hashOf(page)).toBe(hash);
    expect(problems).toEqual([]);
  });

  it.each(
    [
      ['#/registry/tool', 'registry-tab-tool', '#/agents/tool'],
      ['#/console', 'server-none', '#/agents?at=server'],
      ['#/console/audit', 'server-none', '#/runs/audit'],
      ['#/runs/evals', 'evals', '#/runs/tests'],
      ['#/privacy', 'settings-page', '#/settings'],
      ['#/?knowledge', 'knowledge-panel', '#/?files'],
    ] as const,
  )('lead from %s, an address of 0.2.0, to its place of today', async (hash, testId, now) => {
    const { page, problems } = await open({ url: `${inject('playground')}${hash}`, ready: testId });
    await isAt(page, now);
    expect(problems).toEqual([]);
  });

  it('say that a chat is not there, and show a new one', async () => {
    const { page } = await open({ url: `${inject('playground')}#/c/no-such-chat` });
    await page.getByTestId('nowhere-notice').getByText('is not in this browser').waitFor();
    await page.getByTestId('welcome').waitFor();
    await isAt(page, '');
    expect(await page.getByTestId('message').count()).toBe(0);
  });

  it.each([
    ['#/agent', 'agents', '#/agents'],
    ['#/schedules', 'runs', '#/runs/schedules'],
  ])('say that nothing is at %s, and offer the nearest', async (hash, screen, nearest) => {
    const { page } = await open({ url: `${inject('playground')}${hash}` });
    await page.getByTestId('nowhere-notice').getByText(`Nothing is at the address “${hash}”`).waitFor();
    await page.getByTestId('nowhere-nearest').click();
    await page.getByTestId(screen).waitFor();
    await isAt(page, nearest);
    await page.getByTestId(`${screen}-back`).click();
    expect(await page.getByTestId('nowhere-notice').count()).toBe(0);
  });

  it('open a chat at its older form', async () => {
    const { page } = await open();
    await ask(page, 'What is 6 * 7?');
    const id = hashOf(page).slice('#/c/'.length);
    await page.evaluate((hash) => (location.hash = hash), '#/agents');
    await page.getByTestId('agents').waitFor();
    await page.evaluate((hash) => (location.hash = hash), `#${id}`);
    await titleOf(page).getByText('6 * 7').waitFor();
    await isAt(page, `#/c/${id}`);
    expect(await page.getByTestId('agents').count()).toBe(0);
  });

  it('keep a form with changes where it is', async () => {
    const { page } = await open({ url: `${inject('playground')}#/agents/agent/navigator`, ready: 'record-page' });
    await page.getByTestId('record-edit').click();
    await isAt(page, '#/agents/agent/navigator/edit');
    await page.getByTestId('field-name').fill('Pilot');
    await page.goBack();
    await isAt(page, '#/agents/agent/navigator/edit');
    expect(await page.getByTestId('field-name').inputValue()).toBe('Pilot');
  });
});

describe('Back on a phone', () => {
  it('closes the drawer, a panel, a dialog, and never the page', async () => {
    const { page, problems } = await open({ width: 390, height: 844 });
    await ask(page, 'What is 6 * 7?');
    const chat = hashOf(page);
    for (
      const [button, shown] of [
        ['open-drawer', '.side-bar[data-open=true]'],
        ['chat-menu', '[data-testid=knowledge-panel]'],
        ['model-badge', '[data-testid=settings-dialog]'],
      ] as const
    ) {
      await page.getByTestId(button).click();
      if (button === 'chat-menu') await page.getByTestId('open-knowledge').click();
      await page.locator(shown).waitFor();
      await page.goBack();
      await page.locator(shown).waitFor({ state: 'detached' });
      expect(hashOf(page)).toBe(chat);
    }
    expect(problems).toEqual([]);
  });

  it('leads from a chat that was chosen in the drawer to the chat before', async () => {
    const { page } = await open({ width: 390, height: 844 });
    await ask(page, 'What is 6 * 7?');
    await page.getByTestId('open-drawer').click();
    await page.getByTestId('new-chat').click();
    await page.getByTestId('welcome').waitFor();
    await page.goBack();
    await titleOf(page).getByText('6 * 7').waitFor();
    expect(await page.locator('.side-bar').getAttribute('data-open')).toBe('false');
  });
});
