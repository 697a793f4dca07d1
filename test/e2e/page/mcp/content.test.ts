import type { Page } from 'playwright';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startEverythingServer } from '../../../tools/servers/everything-server.ts';
import type { TestServer } from '../../../tools/servers/http-server.ts';
import { useServer } from '../../../tools/browsers/mcp-server.ts';
import { usePlayground } from '../../../tools/browsers/playground.ts';

const { open, shoot } = usePlayground();
let everything: TestServer;
beforeAll(async () => {
  everything = await startEverythingServer();
});
afterAll(() => everything.close());

/** Approves the server, and gives it to the first agent. */
async function prepare(page: Page): Promise<void> {
  await useServer(page, {
    id: 'everything',
    alias: 'every',
    url: `${everything.url}/mcp`,
    reads: ['trigger-long-running-operation'],
    async onReview() {
      await page.getByTestId('mcp-content').scrollIntoViewIfNeeded();
      await shoot(page, 'mcp-content-report');
    },
  });
}

describe('prompts and resources of an MCP server in the composer', () => {
  it('are listed by "/", filled in with completions, inserted and attached', async () => {
    const { page, problems } = await open({ height: 1000 });
    await prepare(page);
    const composer = page.getByTestId('composer');
    await composer.fill('/');
    const command = page.getByTestId('command');
    await command.filter({ hasText: '/every.args-prompt' }).waitFor();
    await shoot(page, 'mcp-commands');
    await page.emulateMedia({ colorScheme: 'dark' });
    await shoot(page, 'mcp-commands-dark');
    await page.emulateMedia({ colorScheme: 'light' });
    await composer.fill('/every.compl');
    await expect.poll(() => command.count()).toBe(1);
    await composer.press('Enter');
    const department = page.getByTestId('command-department');
    await department.fill('E');
    await expect.poll(() => page.locator('#command-department option').count()).toBe(1);
    await page.getByTestId('command-finish').click();
    await page.getByText('Fill in “name”.').waitFor();
    await department.fill('Engineering');
    await page.getByTestId('command-name').fill('Ann');
    await shoot(page, 'mcp-command-form');
    await page.setViewportSize({ width: 390, height: 800 });
    await shoot(page, 'mcp-command-form-phone');
    await page.setViewportSize({ width: 1280, height: 1000 });
    await page.getByTestId('command-name').press('Enter');
    await expect.poll(() => composer.inputValue()).toMatch(/Ann.*Engineering|Engineering.*Ann/);
    await composer.fill('/dynamic');
    await command.filter({ hasText: 'resource/dynamic/text' }).click();
    await page.getByTestId('command-resourceId').fill('7');
    await page.getByTestId('command-finish').click();
    await page.getByTestId('attached').getByText('every: demo://resource/dynamic/text/7').waitFor();
    expect(await composer.inputValue()).toBe('');
    await composer.fill('Sum it up');
    await shoot(page, 'mcp-attached');
    await composer.press('Enter');
    await page.getByTestId('file-resource').waitFor();
    await page.locator('[data-testid=message][data-role=assistant]').first().waitFor();
    await expect.poll(() => page.getByTestId('stop').count()).toBe(0);
    await shoot(page, 'mcp-attached-sent');
    expect(problems).toEqual([]);
  });

  it('show the progress of a call on its card', async () => {
    const { page, problems } = await open({ height: 1000 });
    await prepare(page);
    await page.getByTestId('composer').fill('Call every__trigger-long-running-operation with duration 6 and steps 6');
    await page.getByTestId('composer').press('Enter');
    await page.getByTestId('tool-progress').first().waitFor();
    await shoot(page, 'mcp-progress');
    await page.getByTestId('stop').click();
    await expect.poll(() => page.getByTestId('stop').count()).toBe(0);
    expect(problems).toEqual([]);
  });

  it('leave "/" a text where an agent has none', async () => {
    const { page, problems } = await open();
    const composer = page.getByTestId('composer');
    await composer.fill('/no such command');
    await composer.press('Enter');
    await page.locator('[data-testid=message][data-role=user]').getByText('/no such command').waitFor();
    expect(problems).toEqual([]);
  });
});
