/** What a person does to sign in to an MCP server. */

import type { Page } from 'playwright';
import { send } from './playground.ts';
import { approveServer, letAgentUse, reviewServer, saveRecord, startServer } from './mcp-server.ts';

/** Opens the window by a click, and returns it. */
export async function windowOf(page: Page, click: () => Promise<void>): Promise<Page> {
  const [window] = await Promise.all([page.context().waitForEvent('page'), click()]);
  return window;
}

/** Signs in at the authorization server. A second time it knows the person. */
export async function consent(window: Page): Promise<void> {
  const submit = window.locator('button[type=submit]');
  await submit.waitFor();
  if (await window.locator('input[name=login]').count() > 0) {
    await window.locator('input[name=login]').fill('ann');
    await window.locator('input[name=password]').fill('anything');
    await submit.click();
    await window.getByText('Authorize').first().waitFor();
  }
  await submit.click();
}

interface SignInOptions {
  readonly url: string;
  readonly issuer: string;
  /** With what is on the page at that time. */
  readonly onStep?: (step: 'form' | 'report' | 'approved') => Promise<void>;
  readonly onWindow?: (window: Page) => Promise<void>;
}

/** Registers the server, signs in, approves its tool, and lets the navigator use it. The agent's record is open then. */
export async function useSignedInServer(page: Page, options: SignInOptions): Promise<void> {
  const { url, issuer, onStep, onWindow } = options;
  await startServer(page, { id: 'docs', alias: 'docs', url, 'auth.issuer': issuer });
  await onStep?.('form');
  await saveRecord(page);
  await reviewServer(page);
  await page.getByTestId('mcp-auth').waitFor();
  await onStep?.('report');
  await approveServer(page);
  const window = await windowOf(page, () => page.getByTestId('mcp-sign-in-open').click());
  await onWindow?.(window);
  await consent(window);
  await page.locator('[data-testid=mcp-sign-in][data-state=active]').waitFor();
  await approveServer(page, ['find']); // it was looked at again, with the sign-in
  await page.getByTestId('mcp-pin').waitFor();
  await onStep?.('approved');
  await letAgentUse(page, 'docs');
}

/** Signs out of the open registry's only server, and goes back to the chat. */
export async function signOut(page: Page): Promise<void> {
  await openVault(page);
  await page.getByTestId('sign-out').click();
  await page.getByTestId('sign-in-row').waitFor({ state: 'detached' });
  await page.getByTestId('agents-back').click();
}

/** From a record of the registry. */
export async function openVault(page: Page): Promise<void> {
  await page.getByTestId('agents-back').click();
  await page.getByTestId('registry-tab-vault').click();
  await page.getByTestId('vault').waitFor();
}

/** Has the agent call the tool that needs the sign-in. */
export async function callSignedIn(page: Page): Promise<void> {
  await send(page, 'Call docs__find with title "Charts"');
}
