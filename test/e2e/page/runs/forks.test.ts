import type { Page } from 'playwright';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { send, usePlayground } from '../../../tools/browsers/playground.ts';
import { chooseEndpoint, type Served, serveWithEndpoint } from '../../../tools/servers/endpoint-page.ts';

const { open, shoot } = usePlayground();

const hashOf = (page: Page): string => new URL(page.url()).hash;
const steps = (page: Page) => page.getByTestId('step');
const texts = (page: Page, side: 'left' | 'right') => page.getByTestId(`fork-${side}`).getByTestId('fork-text');

async function openSteps(page: Page, text: string): Promise<void> {
  await send(page, text);
  await page.getByTestId('answer-footer').last().waitFor();
  await page.getByTestId('inspect').last().click();
  await page.getByTestId('run-tab-steps').click();
  await steps(page).first().waitFor();
}

async function startFork(page: Page): Promise<void> {
  await page.getByTestId('fork-start').click();
  await page.locator('[data-testid=fork-comparison][data-state=completed]').waitFor();
}

describe('forks in the inspector', () => {
  it('show both futures of a changed tool result side by side, and what they share once', async () => {
    const { page, problems } = await open();
    await openSteps(page, 'What is 6 * 7?');
    await expect.poll(() => steps(page).count()).toBe(2);
    await shoot(page, 'forks-steps');
    await steps(page).nth(1).getByTestId('fork-here').click();
    expect(await page.getByTestId('fork-instructions').inputValue()).toContain('You are Navigator');
    await page.getByTestId('fork-output').fill('{ not JSON');
    await page.getByTestId('fork-start').click();
    await page.getByTestId('fork-form').getByText('Enter JSON').waitFor();
    await page.getByTestId('fork-output').fill('{ "text": "6 * 7 = 99" }');
    await shoot(page, 'forks-form');
    await startFork(page);
    await page.getByTestId('fork-summary').getByText('Forked from step 2 with a different tool result. 1 step differs.')
      .waitFor();
    await expect.poll(() => page.getByTestId('fork-shared').count()).toBe(1);
    await expect.poll(() => page.getByTestId('fork-pair').count()).toBe(1);
    expect(await texts(page, 'left').textContent()).toContain('42');
    expect(await texts(page, 'right').textContent()).toContain('99');
    expect(await texts(page, 'right').locator('ins').allTextContents()).not.toEqual([]);
    await page.getByTestId('fork-right').getByText(/[\d,.]+ m?s · [\d,]+ tokens/).first().waitFor();
    await shoot(page, 'forks-comparison');
    await page.setViewportSize({ width: 390, height: 800 }); // on a phone one future is below the other
    const [left, right] = await Promise.all([
      page.getByTestId('fork-left').boundingBox(),
      page.getByTestId('fork-right').boundingBox(),
    ]);
    expect(right?.y).toBeGreaterThan((left?.y ?? 0) + (left?.height ?? 0) - 1);
    expect(problems).toEqual([]);
  });

  it('have an address: Back closes the comparison, Forward opens it, and a reload restores it', async () => {
    const { page } = await open();
    await openSteps(page, 'What is 6 * 7?');
    await steps(page).nth(1).getByTestId('fork-here').click();
    await startFork(page);
    await vi.waitFor(() => expect(hashOf(page)).toMatch(/^#\/runs\/[0-9a-f]{32}\/steps\/run_\w+\?chat=/));
    const address = hashOf(page);
    await page.goBack();
    await page.getByTestId('fork-row').waitFor();
    expect(await page.getByTestId('fork-comparison').count()).toBe(0);
    await page.goForward();
    await page.getByTestId('fork-pair').waitFor();
    await page.reload();
    await page.getByTestId('fork-pair').waitFor();
    expect(hashOf(page)).toBe(address);
    await page.getByTestId('fork-right').getByText(/[\d,.]+ m?s · [\d,]+ tokens/).first().waitFor();
    await page.keyboard.press('Escape');
    await page.getByTestId('fork-row').click();
    await page.getByTestId('fork-comparison').waitFor();
  });

  it('lead from the run of a fork back to its original', async () => {
    const { page } = await open();
    await openSteps(page, 'What is 6 * 7?');
    await steps(page).nth(1).getByTestId('fork-here').click();
    await startFork(page);
    await page.keyboard.press('Escape');
    await page.getByTestId('runs-back').click();
    await page.keyboard.press('Alt+r');
    await page.getByTestId('run-row').first().click();
    await page.getByTestId('run-tab-steps').click();
    await page.getByTestId('fork-parent').getByText('a fork from step 2').waitFor();
    await page.getByTestId('fork-compare').click();
    await page.getByTestId('fork-pair').first().waitFor();
    expect(hashOf(page)).toMatch(/\/steps\/run_\w+/);
  });
});

describe('forks of a run at an endpoint', () => {
  let served: Served;

  beforeAll(async () => {
    served = await serveWithEndpoint(inject('playgroundFolder'));
  });

  afterAll(() => served.stop());

  it('are made there, and restored from their address', async () => {
    const { page, problems } = await open({ url: served.playground });
    await chooseEndpoint(page, served.endpoint);
    await openSteps(page, 'What is 6 * 7?');
    await steps(page).nth(1).getByTestId('fork-here').click();
    await page.getByTestId('fork-output').fill('{ "text": "6 * 7 = 99" }');
    await startFork(page);
    expect(await texts(page, 'right').textContent()).toContain('99');
    await page.getByTestId('fork-right').getByText(/[\d,.]+ m?s · [\d,]+ tokens/).first().waitFor();
    expect(hashOf(page)).toContain('via=');
    await page.reload();
    await page.getByTestId('fork-pair').waitFor();
    expect(problems).toEqual([]);
  });

  it('say what is missing where the page may not change instructions', async () => {
    served.certifyAs({ scopes: ['run:create', 'run:read', 'admin'] });
    const { page } = await open({ url: served.playground });
    await chooseEndpoint(page, served.endpoint);
    await openSteps(page, 'What is 6 * 7?');
    await steps(page).first().getByTestId('fork-here').click();
    await page.getByTestId('fork-instructions').fill('Answer in French.');
    await page.getByTestId('fork-start').click();
    await page.getByTestId('fork-problem').getByText('registry:write').waitFor();
    await expect.poll(() => page.getByTestId('fork-form').count()).toBe(1);
    expect(await page.getByTestId('fork-comparison').count()).toBe(0);
  });
});
