import type { BrowserContext, Page } from 'playwright';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { send, usePlayground } from '../../../tools/browsers/playground.ts';
import { type OAuthServers, startOAuthServers } from '../../../tools/servers/oauth-servers.ts';

const { open, newContext, shoot } = usePlayground();
let servers: OAuthServers;
beforeAll(async () => {
  servers = await startOAuthServers();
});
afterAll(() => servers.close());

async function fill(page: Page, fields: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, value] of Object.entries(fields)) await page.getByTestId(`field-${name}`).fill(value);
}

async function save(page: Page): Promise<void> {
  await page.getByTestId('record-save').click();
  await page.getByTestId('record-page').waitFor();
}

/** Validates the open server, and approves all that it shows. */
async function approve(page: Page): Promise<void> {
  await page.getByTestId('mcp-validate').click();
  await page.getByTestId('mcp-approve').click();
  await page.getByTestId('mcp-approved').waitFor();
}

/** Registers the server, and approves where people sign in to it. */
async function addServer(page: Page): Promise<void> {
  await page.getByTestId('open-registry').click();
  await page.getByTestId('registry-tab-mcpServer').click();
  await page.getByTestId('record-new').click();
  await fill(page, { 'id': 'docs', 'alias': 'docs', 'url': servers.mcpUrl, 'auth.issuer': servers.issuer });
  await shoot(page, 'sign-in-form');
  await save(page);
  await page.getByTestId('mcp-validate').click();
  await page.getByTestId('mcp-auth').waitFor();
  await shoot(page, 'sign-in-report');
  await page.getByTestId('mcp-approve').click();
  await page.getByTestId('mcp-approved').waitFor();
}

/** Opens the window by a click, and returns it. */
async function windowOf(context: BrowserContext, click: () => Promise<void>): Promise<Page> {
  const [window] = await Promise.all([context.waitForEvent('page'), click()]);
  return window;
}

/** Signs in at the authorization server, as a person does. A second time it knows the person. */
async function consent(window: Page): Promise<void> {
  const submit = window.locator('button[type=submit]');
  await submit.waitFor();
  expect(await window.evaluate(() => opener)).toBeNull(); // the site has no way back to the page
  if (await window.locator('input[name=login]').count() > 0) {
    await window.locator('input[name=login]').fill('ann');
    await window.locator('input[name=password]').fill('anything');
    await submit.click();
    await window.getByText('Authorize').first().waitFor();
  }
  await submit.click();
}

/** The tools are approved by someone who has signed in, and an agent may use them. */
async function prepare(page: Page, context: BrowserContext): Promise<void> {
  await addServer(page);
  await consent(await windowOf(context, () => page.getByTestId('mcp-sign-in-open').click()));
  await page.locator('[data-testid=mcp-sign-in][data-state=active]').waitFor();
  await page.getByLabel('What find does').selectOption('read'); // it was looked at again, with the sign-in
  await page.getByTestId('mcp-approve').click();
  await page.getByTestId('mcp-pin').waitFor();
  await shoot(page, 'sign-in-registry');
  await page.getByTestId('registry-back').click();
  await page.getByTestId('registry-tab-agent').click();
  await page.locator('[data-testid=registry-row][data-id=navigator]').click();
  await page.getByTestId('record-edit').click();
  await fill(page, { mcp: 'docs' });
  await save(page);
}

async function openVault(page: Page): Promise<void> {
  await page.getByTestId('registry-back').click();
  await page.getByTestId('registry-tab-vault').click();
  await page.getByTestId('vault').waitFor();
}

describe('a sign-in to an MCP server in the built playground', () => {
  it('is approved, made in a window, listed without its tokens, and ended', async () => {
    const context = await newContext();
    const { page, problems } = await open({ context, height: 1000 });
    await prepare(page, context);
    await openVault(page);
    const row = page.getByTestId('sign-in-row');
    await row.waitFor();
    const text = await row.textContent();
    expect(text).toContain(servers.issuer);
    expect(text).toContain(servers.mcpUrl);
    expect(text).toContain('scopes: read');
    expect(text).toMatch(/token until \w+/);
    expect(text).not.toContain('eyJ');
    await shoot(page, 'sign-in-vault');
    const before = servers.revocations();
    await page.getByTestId('sign-out').click();
    await row.waitFor({ state: 'detached' });
    expect(servers.revocations()).toBe(before + 1);
    expect(problems).toEqual([]);
  });

  it('is asked for in the chat, and the call goes on by itself when it is done', async () => {
    const context = await newContext();
    const { page, problems } = await open({ context });
    await prepare(page, context);
    await openVault(page);
    await page.getByTestId('sign-out').click();
    await page.getByTestId('sign-in-row').waitFor({ state: 'detached' });
    await page.getByTestId('registry-back').click();
    await send(page, 'Call docs__find with title "Charts"');
    const card = page.getByTestId('sign-in');
    await card.waitFor();
    expect(await card.textContent()).toContain(new URL(servers.issuer).host);
    await page.getByTestId('sign-in-vault').waitFor();
    await shoot(page, 'sign-in-card');
    const before = servers.calls.length;
    const window = await windowOf(context, () => page.getByTestId('sign-in-open').click());
    await window.locator('button[type=submit]').waitFor();
    await page.locator('[data-testid=sign-in-step][data-step=waiting]').waitFor();
    await shoot(page, 'sign-in-waiting');
    await consent(window);
    await page.locator('[data-testid=message][data-role=assistant]').getByText('Found: Charts').first().waitFor();
    expect(servers.calls.length).toBe(before + 1);
    expect(await page.getByTestId('approval-answer').textContent()).toBe('You signed in');
    await shoot(page, 'sign-in-done');
    expect(problems).toEqual([]);
  });

  it('says in plain words that it was denied, closed, blocked or failed, and can be tried again or left', async () => {
    const context = await newContext({ width: 390, height: 844, dark: true });
    const { page } = await open({ context });
    await page.keyboard.press('Control+k');
    await page.getByTestId('switcher-query').fill('registry');
    await page.keyboard.press('Enter');
    await page.getByTestId('registry-tab-mcpServer').click();
    await page.getByTestId('record-new').click();
    await fill(page, { 'id': 'docs', 'alias': 'docs', 'url': servers.mcpUrl, 'auth.issuer': servers.issuer });
    await save(page);
    await approve(page);
    await shoot(page, 'sign-in-narrow');
    const start = page.getByTestId('mcp-sign-in-open');
    const denied = await windowOf(context, () => start.click());
    await denied.getByText('Cancel').first().click();
    await page.getByTestId('sign-in-problem').getByText('You did not allow access').waitFor();
    await denied.getByRole('heading', { name: 'You are not signed in' }).waitFor();
    expect(denied.url()).not.toContain('error');
    await shoot(denied, 'sign-in-callback-denied');
    await shoot(page, 'sign-in-narrow-denied');

    const closed = await windowOf(context, () => start.click());
    await closed.locator('input[name=login]').waitFor();
    await closed.close();
    await page.getByTestId('sign-in-step').getByText('was closed').waitFor();

    servers.failWith(500);
    await start.click();
    await page.getByTestId('sign-in-problem').waitFor();
    expect(await page.getByTestId('sign-in-problem').textContent()).not.toContain('CANARY');
    servers.failWith(undefined);

    await page.evaluate(() => Reflect.set(globalThis, 'open', () => null));
    await start.click();
    const link = page.getByTestId('sign-in-link');
    await link.waitFor();
    await shoot(page, 'sign-in-narrow-blocked');
    await consent(await windowOf(context, () => link.click()));
    await page.locator('[data-testid=mcp-sign-in][data-state=active]').waitFor();
  });

  it('can be left in the chat: the call is not made, and the agent goes on', async () => {
    const context = await newContext();
    const { page } = await open({ context });
    await prepare(page, context);
    await openVault(page);
    await page.getByTestId('sign-out').click();
    await page.getByTestId('sign-in-row').waitFor({ state: 'detached' });
    await page.getByTestId('registry-back').click();
    const before = servers.calls.length;
    await send(page, 'Call docs__find with title "Charts"');
    await page.getByTestId('sign-in-decline').click();
    await page.getByTestId('answer-footer').waitFor();
    expect(await page.getByTestId('approval-answer').textContent()).toContain('You did not sign in');
    expect(servers.calls.length).toBe(before);
  });

  it('outlasts the visit with the vault, whose key seals the tokens, and only while it is open', async () => {
    const context = await newContext();
    const { page } = await open({ context });
    await page.getByTestId('open-registry').click();
    await page.getByTestId('registry-tab-vault').click();
    await page.getByTestId('vault-passphrase').fill('correct horse');
    await page.getByTestId('vault-unlock').click();
    await page.getByTestId('vault-name').waitFor();
    await page.getByTestId('registry-back').click();
    await prepare(page, context);
    await page.reload();
    await page.getByTestId('record-page').waitFor();
    await openVault(page);
    await page.locator('[data-testid=sign-in-row][data-state=locked]').waitFor();
    await shoot(page, 'sign-in-vault-locked');
    await page.getByTestId('vault-passphrase').fill('correct horse');
    await page.getByTestId('vault-unlock').click();
    await page.locator('[data-testid=sign-in-row][data-state=active]').waitFor();
    expect(await page.getByTestId('vault-secret').count()).toBe(0); // the key is none of the person's secrets
    await page.getByTestId('registry-back').click();
    await send(page, 'Call docs__find with title "Charts"');
    await page.locator('[data-testid=message][data-role=assistant]').getByText('Found: Charts').first().waitFor();
  });
});
