import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { send, usePlayground } from '../../tools/browsers/playground.ts';
import { choose, ended } from '../../tools/screens/ways.ts';
import { chooseEndpoint, type Served, serveWithEndpoint } from '../../tools/servers/endpoint-page.ts';

const { newContext, open, shoot } = usePlayground();
let served: Served;

beforeAll(async () => {
  served = await serveWithEndpoint(inject('playgroundFolder'));
});

afterAll(() => served.stop());

// Both wait for the next minute.
describe.concurrent('schedules of a page', () => {
  it('repeat the request of a chat, once over two tabs, and show what was answered', async () => {
    const context = await newContext();
    const { page, problems } = await open({ context });
    await choose(page, 'navigator');
    await send(page, 'Calculate 6 * 7');
    await ended(page);
    await page.getByTestId('chat-item').first().hover();
    await page.getByTestId('chat-more').first().click();
    await page.getByTestId('repeat-chat').click();
    await page.getByTestId('repeat-next').getByRole('listitem').nth(2).waitFor();
    expect(await page.getByTestId('repeat-place').innerText()).toBe('Runs while this page is open.');
    expect(await page.getByTestId('repeat-message').inputValue()).toBe('Calculate 6 * 7');
    await shoot(page, 'schedule-repeat');
    await page.getByTestId('repeat-zone').fill('Europe/Atlantis');
    await page.getByTestId('repeat-next').getByText('No time matches this.').waitFor();
    await page.getByTestId('repeat-zone').fill('Europe/Berlin');
    await page.getByTestId('repeat-rhythm').selectOption('custom');
    await page.getByTestId('repeat-cron').fill('* * * * *');
    await page.getByTestId('repeat-save').click();
    await page.getByTestId('schedule').waitFor();
    const { page: other } = await open({ context });
    await other.getByTestId('open-runs').click();
    await other.getByTestId('runs-tab-schedules').click();
    await page.locator('[data-testid=schedule-last][data-state=completed]').waitFor({ timeout: 90_000 });
    await page.getByTestId('schedule-change').click();
    expect(await page.getByTestId('repeat-cron').inputValue()).toBe('* * * * *');
    await page.getByTestId('repeat-rhythm').selectOption('weekdays');
    await page.getByTestId('repeat-time').fill('07:30');
    await page.getByTestId('repeat-save').click();
    await page.getByTestId('schedule-next').getByText('07:30 (Europe/Berlin)').waitFor();
    await page.getByTestId('schedule-pause').click();
    await page.getByTestId('schedule-history').click();
    await page.getByTestId('schedule-answer').first().click();
    await page.locator('.schedule-answer').getByText('42').waitFor();
    await shoot(page, 'schedules');
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.setViewportSize({ width: 360, height: 740 });
    await shoot(page, 'schedules-phone-dark');
    await page.setViewportSize({ width: 1280, height: 800 });
    await other.getByTestId('schedule-history').click();
    const fires = other.getByTestId('schedule-fires').getByRole('listitem');
    await fires.first().waitFor();
    const times = await fires.allInnerTexts();
    expect(new Set(times).size).toBe(times.length);
    expect(times.length).toBeLessThan(3);
    await page.getByTestId('schedule-delete').click();
    await page.getByTestId('schedule-delete-sure').click();
    await page.getByTestId('schedules-empty').waitFor();
    expect(problems).toEqual([]);
    await context.close();
  }, 150_000);
});

describe.concurrent('schedules of an endpoint', () => {
  it('run while nobody looks, and show it to who comes later', async () => {
    const context = await newContext();
    const { page } = await open({ context, url: served.playground });
    await chooseEndpoint(page, served.endpoint);
    await choose(page, 'navigator');
    await send(page, 'Calculate 6 * 7');
    await ended(page);
    await page.getByTestId('chat-item').first().hover();
    await page.getByTestId('chat-more').first().click();
    await page.getByTestId('repeat-chat').click();
    expect(await page.getByTestId('repeat-place').innerText()).toBe('Runs on the server.');
    await page.getByTestId('repeat-rhythm').selectOption('custom');
    await page.getByTestId('repeat-cron').fill('* * * * *');
    await page.getByTestId('repeat-save').click();
    await page.getByTestId('schedule').waitFor();
    await page.close();
    const runs = () => served.process.output().split('navigator completed').length;
    const before = runs();
    await expect.poll(runs, { timeout: 90_000 }).toBeGreaterThan(before);
    const { page: later } = await open({ context, url: served.playground });
    await later.getByTestId('open-runs').click();
    await later.getByTestId('runs-tab-schedules').click();
    await later.getByTestId('schedule-history').click();
    await later.getByTestId('schedule-answer').last().click();
    await later.locator('.schedule-answer').getByText('42').waitFor();
    await shoot(later, 'schedules-server');
    await context.close();
  }, 150_000);
});
