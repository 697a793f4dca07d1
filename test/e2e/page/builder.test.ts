import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { type EndpointProcess, startEndpoint } from '../../tools/servers/endpoint.ts';
import { fillRecord } from '../../tools/browsers/mcp-server.ts';
import { send, usePlayground } from '../../tools/browsers/playground.ts';

const { open, newContext, shoot } = usePlayground();
let endpoint: EndpointProcess;
beforeAll(async () => {
  endpoint = await startEndpoint();
});
afterAll(() => endpoint.stop());

const asked = (path: string, init: RequestInit = {}): Promise<Response> =>
  fetch(`${endpoint.url}${path}`, {
    ...init,
    headers: { authorization: `Bearer ${endpoint.token}`, 'content-type': 'application/json' },
  });

/** Makes an HTTP tool in the builder, and tries it. */
async function makeTides(page: Page): Promise<void> {
  await page.getByTestId('make-http').click();
  await page.getByTestId('http-url').waitFor();
  await page.getByTestId('field-name').fill('tides');
  await page.getByTestId('field-description').fill('Tells the tides of a port');
  await page.getByTestId('http-url').fill('https://tides.example.com/v1/{port}');
  await page.getByTestId('http-fields').fill('high');
  await page.getByTestId('trial-input').fill('{"port": "kiel"}');
  await page.getByTestId('trial-preview').click();
  await page.getByTestId('trial-request').getByText('GET https://tides.example.com/v1/kiel').waitFor();
  await page.getByTestId('trial-call').click();
  await page.locator('[data-testid=trial-result][data-ok=true]').getByText('"noise"').waitFor();
}

describe('an own agent in the built playground', () => {
  it('is made with an HTTP tool, tried, imported by an endpoint as it is, and taken in elsewhere by its link', async () => {
    const context = await newContext({ height: 1000 });
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await context.route('https://tides.example.com/**', (route) =>
      route.fulfill({
        json: { high: '06:12', noise: 'x'.repeat(40) },
        headers: { 'access-control-allow-origin': '*' },
      }));
    const { page, problems } = await open({ context });
    await shoot(page, 'builder-welcome');
    await page.getByTestId('new-agent').click();
    await page.getByTestId('field-name').fill('Harbour master');
    await page.getByTestId('field-instructions').fill('You tell people about tides. Use the tool tides.');
    await shoot(page, 'builder-about');
    await page.getByTestId('tool-query').fill('calculator');
    await page.locator('[data-testid=pick][data-id=calculator]').click();
    await shoot(page, 'builder-tools');
    await makeTides(page);
    await page.getByTestId('trial').scrollIntoViewIfNeeded();
    await shoot(page, 'builder-http');
    await page.getByTestId('record-save').click();
    await page.getByTestId('chosen-tool').getByText('tides').waitFor();
    await fillRecord(page, { 'limits.steps': '5' });
    await shoot(page, 'builder-limits');
    await page.getByTestId('record-save').click();
    await page.locator('[data-testid=share][data-ready=true]').waitFor();
    await shoot(page, 'builder-try');
    const download = page.waitForEvent('download');
    await page.getByTestId('share-file').click();
    const file = await readFile(await (await download).path(), 'utf8');
    await page.getByTestId('share-link').click();
    await page.getByTestId('share-link').getByText('Copied').waitFor();
    const link = await page.evaluate(() => navigator.clipboard.readText());
    await page.getByTestId('record-chat').click();
    await send(page, 'Call tides with port "kiel"');
    await page.getByTestId('answer-footer').waitFor();
    await page.locator('[data-testid=message][data-role=assistant]').getByText('06:12').first().waitFor();

    const imported = await asked('/v1/import', { method: 'POST', body: file });
    expect([imported.status, await imported.json()]).toMatchObject([200, { created: 2, updated: 0 }]);
    expect(await (await asked('/v1/agents/harbour-master')).json()).toMatchObject({ limits: { steps: 5 } });

    const { page: elsewhere, problems: others } = await open({
      width: 360,
      height: 740,
      dark: true,
      url: `${inject('playground')}${new URL(link).hash}`,
      ready: 'link-accept',
    });
    await shoot(elsewhere, 'builder-link-narrow');
    expect(await elsewhere.getByTestId('link-host').textContent()).toContain('https://tides.example.com');
    const widths = await elsewhere.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
    expect(widths[0]).toBeLessThanOrEqual(widths[1] ?? 0);
    await elsewhere.getByTestId('link-accept').click();
    await elsewhere.locator('[data-testid=agent-card][data-agent=harbour-master][data-chosen=true]').waitFor();
    expect([...problems, ...others]).toEqual([]);
  });

  it('has a code tool that says where it threw', async () => {
    const { page, problems } = await open({ width: 360, height: 900 });
    await page.getByTestId('new-agent').click();
    await page.getByTestId('make-code').scrollIntoViewIfNeeded();
    await shoot(page, 'builder-tools-narrow');
    await page.getByTestId('make-code').click();
    await page.getByTestId('code-editor').waitFor();
    await page.getByTestId('field-name').fill('double');
    await page.getByTestId('field-description').fill('Doubles a text');
    await page.getByTestId('param-add').click();
    await page.getByTestId('code-editor').fill('const { input1 } = input;\n  missing();');
    await page.getByTestId('trial-call').click();
    await page.getByTestId('code-mark').getByText('Line 2, column 3').waitFor();
    expect(await page.getByTestId('trial-thrown').textContent()).toContain('missing is not defined');
    await page.getByTestId('code-editor').scrollIntoViewIfNeeded();
    await shoot(page, 'builder-code-narrow');
    await page.getByTestId('code-editor').fill('return input.input1 + input.input1;');
    await page.getByTestId('trial-call').click();
    await page.locator('[data-testid=trial-result][data-ok=true]').getByText('texttext').waitFor();
    expect(problems).toEqual([]);
  });
});
