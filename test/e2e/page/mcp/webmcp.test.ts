import type { Page } from 'playwright';
import { describe, expect, it } from 'vitest';
import { send, usePlayground } from '../../../tools/browsers/playground.ts';

const { open, shoot } = usePlayground('chromium', ['--enable-features=WebMCP']);

/** Registers a tool in the page, as a script or an extension does. */
async function registerPaint(page: Page): Promise<void> {
  await page.evaluate(async () => {
    const { modelContext } = document as unknown as { modelContext: { registerTool(tool: object): Promise<void> } };
    await modelContext.registerTool({
      name: 'paint',
      description: 'Paints the page',
      inputSchema: { type: 'object', properties: { color: { type: 'string' } }, required: ['color'] },
      execute: ({ color }: { readonly color: string }) => {
        document.documentElement.dataset['painted'] = color;
        return Promise.resolve(`painted ${color}`);
      },
    });
  });
}

describe('WebMCP in the playground', () => {
  it('gives an agent the tools of the page that a person approved', async () => {
    const { page, problems, strangers } = await open({ height: 1000 });
    await registerPaint(page);
    await page.getByTestId('new-agent').click();
    await page.getByTestId('field-name').fill('Painter');
    await page.getByTestId('field-instructions').fill('Paint the page with page__paint.');
    await page.getByTestId('make-page-tools').scrollIntoViewIfNeeded();
    await shoot(page, 'webmcp-button');
    await page.getByTestId('make-page-tools').click();
    expect(await page.getByTestId('field-alias').inputValue()).toBe('page');
    await shoot(page, 'webmcp-server');
    await page.getByTestId('record-save').click();
    await page.getByTestId('mcp-approve').click();
    await page.getByTestId('mcp-approved').waitFor();
    await shoot(page, 'webmcp-approved');
    await page.getByTestId('mcp-use').click();
    await expect.poll(() => page.getByTestId('make-page-tools').count()).toBe(0);
    await page.getByTestId('record-try').click();
    await send(page, 'Call page__paint with color "red"');
    await page.getByTestId('approve').click();
    await expect.poll(() => page.evaluate(() => document.documentElement.dataset['painted'])).toBe('red');
    await page.locator('[data-testid=message][data-role=assistant]').getByText('painted red').first().waitFor();
    expect(problems).toEqual([]);
    expect(strangers).toEqual([]);
  });

  it('offers the tools of an agent to the browser once a person chose it, and asks before a call that deletes', async () => {
    const { page, problems, strangers } = await open({ height: 1000 });
    const names = async () => (await page.webmcp.tools()).map(({ name }) => name);
    expect(await names()).toEqual([]);
    await page.getByTestId('open-settings').click();
    await page.getByTestId('webmcp-agent').selectOption('logbook');
    await expect.poll(names).toContain('notes_delete');
    await shootInAll(page, 'webmcp-offer');
    expect(await page.webmcp.callTool('notes_add', { text: 'Check the anchor chain' })).toMatchObject({
      noteId: 'note-1',
    });
    for (const [button, left] of [['webmcp-deny', 1], ['webmcp-approve', 0]] as const) {
      const deleted = page.webmcp.callTool('notes_delete', { noteId: 'note-1' });
      await page.getByTestId('webmcp-question').waitFor();
      await shootInAll(page, 'webmcp-question');
      await page.getByTestId(button).click();
      await deleted;
      expect(await page.webmcp.callTool('notes_list', {})).toMatchObject({ notes: { length: left } });
    }
    await page.getByTestId('webmcp-agent').selectOption('');
    await expect.poll(names).toEqual([]);
    expect(problems).toEqual([]);
    expect(strangers).toEqual([]);
  });
});

/** In light and dark, and on a phone. */
async function shootInAll(page: Page, name: string): Promise<void> {
  await page.getByTestId('webmcp-agent').scrollIntoViewIfNeeded();
  await shoot(page, name);
  await page.emulateMedia({ colorScheme: 'dark' });
  await shoot(page, `${name}-dark`);
  await page.setViewportSize({ width: 390, height: 800 });
  await shoot(page, `${name}-phone`);
  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize({ width: 1280, height: 1000 });
}
