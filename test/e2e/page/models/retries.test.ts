import type { Page } from 'playwright';
import { afterEach, describe, expect, it } from 'vitest';
import { send, usePlayground } from '../../../tools/browsers/playground.ts';
import { tooWide, violationsInBoth } from '../../../tools/screens/look.ts';
import { type ModelServer, startModelServer } from '../../../tools/servers/model-server.ts';

const { newContext, open, shoot } = usePlayground();
const servers: Pick<ModelServer, 'close'>[] = [];
afterEach(() => servers.splice(0).forEach((server) => server.close()));

const key = 'sk-busy-0123456789abc';

/** A page with a model that is busy for the first requests. */
async function openBusy(pauses: readonly number[]) {
  const context = await newContext();
  const server = await startModelServer({ pauses });
  servers.push(server);
  const opened = await open({ context });
  const { page } = opened;
  await page.getByTestId('model-badge').click();
  await page.getByTestId('settings-endpoint').check();
  await page.getByTestId('settings-base-url').fill(`${server.origin}/v1`);
  await page.getByTestId('settings-key').fill(key);
  await page.getByTestId('settings-model').fill('small');
  await page.getByTestId('settings-save').click();
  return { ...opened, server, context };
}

const line = (page: Page) => page.getByTestId('retry-line');
const asked = (server: ModelServer): number => server.requests.filter((one) => one.includes('completions')).length;

describe('a provider that is busy', () => {
  it('is waited for as it requests, with a countdown, twice; then its answer is there', async () => {
    const { page, server } = await openBusy([3, 2]);
    await send(page, 'Good morning');
    await line(page).getByText('The provider is busy. Trying again in 3 s').waitFor();
    await line(page).getByText('Try 2 of 3').waitFor();
    expect(await line(page).getByTestId('callout-said').textContent()).toBe(
      'The provider said: “Rate limit of small reached for key [key]”',
    );
    await line(page).getByText('Trying again in 2 s').waitFor();
    expect(asked(server)).toBe(1);
    await line(page).getByText('Try 3 of 3').waitFor();
    await page.getByTestId('answer-footer').waitFor();
    expect(await page.getByTestId('message').last().textContent()).toContain('small read');
    expect(await line(page).count()).toBe(0);
    expect(asked(server)).toBe(3);
  });

  it('can be seen and used, light or dark, on a desk or a phone', async () => {
    const { page } = await openBusy([50]);
    await send(page, 'Good morning');
    await line(page).getByTestId('callout-said').waitFor();
    await shoot(page, 'retry');
    expect(await violationsInBoth(page)).toEqual([]);
    expect(await tooWide(page)).toEqual([]);
  });
});
