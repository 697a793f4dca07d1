import type { Page } from 'playwright';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { approveServer, reviewServer, saveRecord, startServer } from '../../../tools/browsers/mcp-server.ts';
import {
  callSignedIn,
  consent,
  openVault,
  signOut,
  useSignedInServer,
  windowOf,
} from '../../../tools/browsers/mcp-sign-in.ts';
import { usePlayground } from '../../../tools/browsers/playground.ts';
import { type OAuthServers, startOAuthServers } from '../../../tools/servers/oauth-servers.ts';

const { open, newContext, shoot } = usePlayground();
let servers: OAuthServers;
beforeAll(async () => {
  servers = await startOAuthServers();
});
afterAll(() => servers.close());

/** The tools are approved by someone who has signed in, and an agent may use them. */
async function prepare(page: Page): Promise<void> {
  await useSignedInServer(page, {
    url: servers.mcpUrl,
    issuer: servers.issuer,
    onStep: (step) => shoot(page, `sign-in-${step}`),
    onWindow: async (window) => {
      await window.locator('button[type=submit]').waitFor();
      expect(await window.evaluate(() => opener)).toBeNull(); // the site has no way back to the page
    },
  });
}

describe('a sign-in to an MCP server in the built playground', () => {
  it('is approved, made in a window, listed without its tokens, and ended', async () => {
    const context = await newContext();
    const { page, problems } = await open({ context, height: 1000 });
    await prepare(page);
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
    await prepare(page);
    await signOut(page);
    await callSignedIn(page);
    const card = page.getByTestId('sign-in');
    await card.waitFor();
    expect(await card.textContent()).toContain(new URL(servers.issuer).host);
    await page.getByTestId('sign-in-vault').waitFor();
    await shoot(page, 'sign-in-card');
    const before = servers.calls.length;
    const window = await windowOf(page, () => page.getByTestId('sign-in-open').click());
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
    await startServer(page, { 'id': 'docs', 'alias': 'docs', 'url': servers.mcpUrl, 'auth.issuer': servers.issuer });
    await saveRecord(page);
    await reviewServer(page);
    await approveServer(page);
    await shoot(page, 'sign-in-narrow');
    const start = page.getByTestId('mcp-sign-in-open');
    const denied = await windowOf(page, () => start.click());
    await denied.getByText('Cancel').first().click();
    await page.getByTestId('sign-in-problem').getByText('you did not allow access').waitFor();
    await denied.getByRole('heading', { name: 'You are not signed in' }).waitFor();
    expect(denied.url()).not.toContain('error');
    await shoot(denied, 'sign-in-callback-denied');
    await shoot(page, 'sign-in-narrow-denied');

    const closed = await windowOf(page, () => start.click());
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
    await consent(await windowOf(page, () => link.click()));
    await page.locator('[data-testid=mcp-sign-in][data-state=active]').waitFor();
  });

  it('can be left in the chat: the call is not made, and the agent goes on', async () => {
    const context = await newContext();
    const { page } = await open({ context });
    await prepare(page);
    await signOut(page);
    const before = servers.calls.length;
    await callSignedIn(page);
    await page.getByTestId('sign-in-decline').click();
    await page.getByTestId('answer-footer').waitFor();
    expect(await page.getByTestId('approval-answer').textContent()).toContain('You did not sign in');
    expect(servers.calls.length).toBe(before);
  });

  it('outlasts the visit with the vault, whose key seals the tokens, and only while it is open', async () => {
    const context = await newContext();
    const { page } = await open({ context });
    await page.getByTestId('open-agents').click();
    await page.getByTestId('registry-tab-vault').click();
    await page.getByTestId('vault-passphrase').fill('correct horse');
    await page.getByTestId('vault-unlock').click();
    await page.getByTestId('vault-name').waitFor();
    await page.getByTestId('agents-back').click();
    await prepare(page);
    await page.reload();
    await page.getByTestId('record-page').waitFor();
    await openVault(page);
    await page.locator('[data-testid=sign-in-row][data-state=locked]').waitFor();
    await shoot(page, 'sign-in-vault-locked');
    await page.getByTestId('vault-passphrase').fill('correct horse');
    await page.getByTestId('vault-unlock').click();
    await page.locator('[data-testid=sign-in-row][data-state=active]').waitFor();
    expect(await page.getByTestId('vault-secret').count()).toBe(0); // the key is none of the person's secrets
    await page.getByTestId('agents-back').click();
    await callSignedIn(page);
    await page.locator('[data-testid=message][data-role=assistant]').getByText('Found: Charts').first().waitFor();
  });
});
