import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startEverythingServer } from '../../tools/servers/everything-server.ts';
import type { TestServer } from '../../tools/servers/http-server.ts';
import { fillRecord, saveRecord } from '../../tools/browsers/mcp-server.ts';
import { send, usePlayground } from '../../tools/browsers/playground.ts';

const { open, shoot } = usePlayground();
let everything: TestServer;
beforeAll(async () => {
  everything = await startEverythingServer();
});
afterAll(() => everything.close());

async function openSection(page: Page, section: string): Promise<void> {
  await page.getByTestId('open-agents').click();
  await page.getByTestId(`registry-tab-${section}`).click();
}

describe('the kinds of records in the built playground', () => {
  it('checks an MCP server, shows what it offers, approves it, and lets an agent call its tools', async () => {
    const { page, problems } = await open({ height: 1000 });
    await openSection(page, 'mcpServer');
    await page.getByTestId('registry-count').getByText('No MCP servers yet.').waitFor();
    await shoot(page, 'kinds-empty');
    await page.getByTestId('record-new').click();
    await shoot(page, 'mcp-connect');
    await fillRecord(page, { id: 'everything', alias: 'No good', url: 'nowhere' });
    await page.getByTestId('record-save').click();
    await page.getByTestId('help-alias').getByText('must be 1 to 24').waitFor();
    await shoot(page, 'kinds-mcp-form-wrong');
    await fillRecord(page, { alias: 'every', url: `${everything.url}/mcp` });
    await saveRecord(page);
    await shoot(page, 'kinds-mcp-pending');
    await page.getByTestId('mcp-report').waitFor(); // it was looked at when it was added
    await shoot(page, 'kinds-mcp-report');
    const wrong = await page.locator('[data-testid=mcp-finding][data-severity=error] strong').allTextContents();
    for (const name of new Set(wrong)) {
      await page.locator(`[data-testid=mcp-offer][data-tool="${name}"] [data-testid=mcp-leave-out]`).click();
      await page.locator(`[data-testid=mcp-offer][data-tool="${name}"][data-included=false]`).waitFor();
    }
    await page.getByLabel('What echo does').selectOption('read');
    await page.getByTestId('mcp-approve').click();
    await page.getByTestId('mcp-approved').waitFor();
    await expect.poll(() => page.getByTestId('mcp-pin').count()).toBe(14); // two of them for clients that answer questions
    await page.getByTestId('mcp-pinned').scrollIntoViewIfNeeded();
    await shoot(page, 'kinds-mcp-approved');
    await page.getByTestId('agents-back').click();
    await page.getByTestId('registry-tab-agent').click();
    await page.locator('[data-testid=registry-row][data-id=navigator]').click();
    await page.getByTestId('record-edit').click();
    await fillRecord(page, { mcp: 'everything: echo' });
    await saveRecord(page);
    for (let i = 0; i < 2; i++) await page.getByTestId('agents-back').click(); // to the list, then to the chat
    await send(page, 'Call every__echo with message "Ahoy"');
    await page.locator('[data-testid=message][data-role=assistant]').getByText('Echo: Ahoy').first().waitFor();
    await shoot(page, 'kinds-mcp-called');
    expect(problems).toEqual([]);
  });

  it('stores a secret in the vault, names it in a provider, and removes each provider that no agent names', async () => {
    const { page, problems } = await open();
    await openSection(page, 'vault');
    await page.getByTestId('vault-passphrase').fill('correct horse');
    await shoot(page, 'kinds-vault-locked');
    await page.getByTestId('vault-unlock').click();
    await page.getByTestId('vault-name').fill('lab-key');
    await page.getByTestId('vault-value').fill('sk-not-a-real-one-1');
    await page.getByTestId('vault-origins').fill('https://lab.example.com');
    await page.getByTestId('vault-set').click();
    await page.locator('[data-testid=vault-secret][data-id=lab-key]').waitFor();
    await shoot(page, 'kinds-vault-open');
    await page.getByTestId('registry-tab-provider').click();
    await page.getByTestId('record-new').click();
    await fillRecord(page, { id: 'lab', baseUrl: 'https://lab.example.com/v1', model: 'small' });
    await page.getByTestId('field-secret').selectOption('lab-key');
    await shoot(page, 'kinds-provider-form');
    await saveRecord(page);
    await shoot(page, 'kinds-provider');
    expect(await page.getByTestId('record-page').textContent()).not.toContain('sk-not');
    await page.getByTestId('record-remove').click();
    await shoot(page, 'kinds-removal');
    await page.getByTestId('removal-confirm').click();
    await page.getByTestId('registry-count').getByText('1 provider').waitFor();
    await page.locator('[data-testid=registry-row][data-id=default]').click();
    await page.getByTestId('record-remove').click();
    await page.getByTestId('removal-obstacle').waitFor();
    await shoot(page, 'kinds-provider-bound');
    expect(problems).toEqual([]);
  });

  it('moves the whole catalogue from one browser to another, after it has shown what that changes', async () => {
    const { page } = await open();
    await openSection(page, 'dataSource');
    await page.getByTestId('record-new').click();
    await fillRecord(page, { id: 'charts', name: 'Charts', description: 'Depths', config: '{"language": ' });
    await page.getByTestId('record-save').click();
    await page.getByTestId('help-config').getByText('must be JSON').waitFor();
    await fillRecord(page, { config: '{"language": "en"}' });
    await saveRecord(page);
    await page.getByTestId('agents-back').click();
    await page.getByTestId('registry-tab-transfer').click();
    const download = page.waitForEvent('download');
    await page.getByTestId('export').click();
    const path = await (await download).path();
    const changed = (await readFile(path, 'utf8')).replace('"name": "Failures"', '"name": "Drill master"');
    const { page: elsewhere, problems } = await open({ width: 360, height: 740, dark: true });
    await elsewhere.keyboard.press('Control+k');
    await elsewhere.getByTestId('switcher-query').fill('agents, tools');
    await elsewhere.keyboard.press('Enter');
    await elsewhere.getByTestId('registry-tab-transfer').click();
    await elsewhere.getByTestId('import-file').setInputFiles({
      name: 'catalog.json',
      mimeType: 'application/json',
      buffer: Buffer.from(changed),
    });
    await elsewhere.getByTestId('import-report').waitFor();
    expect(await elsewhere.getByTestId('import-change').allTextContents()).toEqual([
      expect.stringContaining('charts'),
      expect.stringMatching(/drill.*name.*Failures.*Drill master/),
    ]);
    await elsewhere.getByTestId('import-apply').scrollIntoViewIfNeeded();
    await shoot(elsewhere, 'kinds-import-narrow');
    await elsewhere.getByTestId('import-apply').click();
    await elsewhere.locator('[data-testid=import-report][data-dry-run=false]').waitFor();
    await elsewhere.getByTestId('registry-tab-dataSource').click();
    await elsewhere.locator('[data-testid=registry-row][data-id=charts]').click();
    await elsewhere.getByTestId('record-page').waitFor();
    await shoot(elsewhere, 'kinds-source-narrow');
    const widths = await elsewhere.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
    expect(widths[0]).toBeLessThanOrEqual(widths[1] ?? 0);
    expect(problems).toEqual([]);
  });
});
