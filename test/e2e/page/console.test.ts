import type { Page } from 'playwright';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { send, usePlayground } from '../../tools/browsers/playground.ts';
import { chooseEndpoint, type Served, serveWithEndpoint } from '../../tools/servers/endpoint-page.ts';
import { choose } from '../../tools/screens/ways.ts';

const { open, shoot } = usePlayground();
let served: Served;

beforeAll(async () => {
  served = await serveWithEndpoint(inject('playgroundFolder'));
});

afterAll(() => served.stop());

/** Opens the playground and chooses the endpoint, which certifies the page so. */
async function openAtEndpoint(as: Parameters<Served['certifyAs']>[0] = {}): ReturnType<typeof open> {
  served.certifyAs(as);
  const opened = await open({ url: served.playground });
  await chooseEndpoint(opened.page, served.endpoint);
  return opened;
}

async function openTab(page: Page, tab: string): Promise<void> {
  if (tab === 'agents') return await page.getByTestId('open-agents').click();
  await page.getByTestId('open-runs').click();
  await page.getByTestId(`runs-tab-${tab}`).click();
}

const refusal = (page: Page) => page.getByTestId('console-refusal');

/** Moves through the first chart by the keyboard, and compares it with its table. */
async function moveThroughTime(page: Page): Promise<void> {
  const chart = page.getByTestId('console-chart').first();
  const plot = chart.getByTestId('console-plot');
  expect(await plot.getAttribute('aria-label')).toMatch(/ over time: \w+.*, latest [\d.,–]+/);
  await plot.focus();
  await plot.press('ArrowLeft');
  await chart.locator('.console-pointer').waitFor({ state: 'attached' });
  await chart.getByText('Show as table').click();
  await chart.locator('tbody tr').first().waitFor();
  const shown = await chart.getByTestId('console-chart-value').allTextContents();
  expect(await chart.locator('thead th').count()).toBe(1 + shown.length);
}

describe('the console of an endpoint', () => {
  it('pauses a plan, lets it go on and cancels it', async () => {
    const { page, problems } = await openAtEndpoint();
    await choose(page, 'commodore');
    await send(page, 'Calculate 6 * 7; ask me which port we sail for');
    await page.locator('[data-testid=plan][data-state=suspended]').waitFor();
    await openTab(page, 'plans');
    await page.getByTestId('console-plan').getByText('waiting for you').waitFor();
    expect(await page.getByTestId('console-plan').textContent()).toMatch(/^Calculate 6 \* 7; ask me/);
    await page.getByTestId('console-plan').first().click();
    const plan = page.getByTestId('console-plan-view');
    await plan.getByText('1 open question').waitFor();
    await page.getByTestId('console-pause').click();
    await plan.getByText('paused', { exact: true }).waitFor();
    await shoot(page, 'console-plan-paused');
    await page.getByTestId('console-pause').getByText('Resume').click();
    await page.getByTestId('console-pause').getByText('Pause').waitFor();
    await page.getByTestId('console-cancel-plan').click();
    await page.locator('[data-testid=console-plan-view][data-state=cancelled]').waitFor();
    await page.getByTestId('console-cancel-plan').waitFor({ state: 'detached' });
    await shoot(page, 'console-plan-cancelled');
    expect(problems).toEqual([]);
  });

  it('cancels a run, and leads to what it did', async () => {
    const { page, problems } = await openAtEndpoint();
    await send(page, 'Write a long answer about tides');
    await openTab(page, 'list');
    await page.getByTestId('run-cancel').first().click();
    const run = page.getByTestId('run-row').first();
    await run.and(page.locator('[data-run-state=stopped]')).waitFor();
    await run.click();
    await page.locator('[data-testid=run-view][data-live=false]').waitFor();
    await page.getByTestId('runs-back').click();
    await run.waitFor();
    expect(problems).toEqual([]);
  });

  it('edits the registry, which remembers it, and the audit holds it in an intact chain', async () => {
    const { page, problems } = await openAtEndpoint();
    await openTab(page, 'agents');
    await page.locator('[data-testid=registry-row][data-id=drill]').click();
    await page.getByTestId('record-edit').click();
    await page.getByTestId('field-description').fill('Shows what goes wrong');
    await page.getByTestId('record-save').click();
    await page.getByTestId('record-history').getByText('Shows what goes wrong').waitFor();
    await shoot(page, 'console-history');
    await openTab(page, 'audit');
    await page.getByTestId('console-audit-target').fill('drill');
    await page.getByTestId('console-audit-target').press('Enter');
    const entry = page.getByTestId('console-audit-entry');
    await entry.getByText('playground').first().waitFor();
    await page.getByTestId('console-verify').click();
    await page.getByTestId('console-verification').getByText('Intact').waitFor();
    await shoot(page, 'console-audit');
    await openTab(page, 'metrics');
    await page.getByTestId('console-plot').first().waitFor();
    await page.getByTestId('console-plot').first().hover();
    await shoot(page, 'console-metrics');
    await page.getByTestId('console-all').getByText('All metrics').click();
    await page.getByTestId('console-metric').first().waitFor();
    expect(problems).toEqual([]);
  });

  it('says what the certificate does not allow, and shows what it does', async () => {
    const { page } = await openAtEndpoint({ scopes: ['run:create', 'run:read', 'registry:read'] });
    await openTab(page, 'agents');
    await page.locator('[data-testid=registry-row][data-id=navigator]').click();
    await page.getByTestId('record-read-only').waitFor();
    expect(await page.getByTestId('share').count()).toBe(0);
    expect(await page.getByTestId('registry-switch').count()).toBe(0);
    await page.getByTestId('agents-back').click();
    for (const tab of ['list', 'plans', 'audit', 'metrics']) {
      await openTab(page, tab);
      await refusal(page).getByText('does not have the scope “admin”').waitFor();
    }
    expect(await refusal(page).getAttribute('data-code')).toBe('forbidden');
  });

  it('distinguishes an endpoint that does not know the page from one that is down, and retries', async () => {
    const { page } = await openAtEndpoint({ isKnown: false });
    await openTab(page, 'audit');
    await refusal(page).getByText('The endpoint does not trust this page’s issuer').waitFor();
    await shoot(page, 'console-unknown');
    const known = await openAtEndpoint();
    await openTab(known.page, 'metrics');
    await known.page.getByTestId('console-chart').first().waitFor();
    await moveThroughTime(known.page);
    await known.page.route(`${served.endpoint}/**`, (route) => route.abort());
    await openTab(known.page, 'audit');
    await refusal(known.page).getByText('The endpoint did not respond').waitFor();
    await known.page.unrouteAll();
    await known.page.getByTestId('console-retry').click();
    await refusal(known.page).waitFor({ state: 'detached' });
    await expect.poll(() => known.page.getByTestId('console-audit').count()).toBe(1);
  });
});
