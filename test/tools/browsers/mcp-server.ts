/** What a person does in the playground to let an agent use an MCP server. */

import type { Page } from 'playwright';

/** Writes in the fields of the open form, also in those that are folded. */
export async function fillRecord(page: Page, fields: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, value] of Object.entries(fields)) {
    const field = page.getByTestId(`field-${name}`);
    await field.waitFor({ state: 'attached' });
    for (let tries = 0; tries < 5 && !await field.isVisible(); tries++) { // a form that is still loading folds itself again
      await page.locator('details', { has: field }).locator('summary').click();
      await field.waitFor({ state: 'visible', timeout: 2_000 }).catch(() => undefined);
    }
    await field.fill(value);
  }
}

/** Saves the open form. */
export async function saveRecord(page: Page): Promise<void> {
  await page.getByTestId('record-save').click();
  await page.getByTestId('record-page').waitFor();
}

/** Opens the form of a new server, on a phone too, and fills it in. */
export async function startServer(page: Page, fields: Readonly<Record<string, string>>): Promise<void> {
  await page.keyboard.press('Control+k');
  await page.getByTestId('switcher-query').fill('agents, tools');
  await page.keyboard.press('Enter');
  await page.getByTestId('registry-tab-mcpServer').click();
  await page.getByTestId('record-new').click();
  await fillRecord(page, fields);
}

/** Validates the open server, and shows what it offers. */
export async function reviewServer(page: Page): Promise<void> {
  await page.getByTestId('mcp-validate').click();
  await page.getByTestId('mcp-report').waitFor();
}

/** Approves what is shown, with these tools as ones that only read. */
export async function approveServer(page: Page, reads: readonly string[] = []): Promise<void> {
  for (const name of reads) await page.getByLabel(`What ${name} does`).selectOption('read');
  await page.getByTestId('mcp-approve').click();
  await page.getByTestId('mcp-approved').waitFor();
}

/** Lets the navigator use an approved server. Its record is open then. */
export async function letAgentUse(page: Page, server: string): Promise<void> {
  await page.getByTestId('agents-back').click();
  await page.getByTestId('registry-tab-agent').click();
  await page.locator('[data-testid=registry-row][data-id=navigator]').click();
  await page.getByTestId('record-edit').click();
  await fillRecord(page, { mcp: server });
  await saveRecord(page);
}

interface UseServerOptions {
  readonly id: string;
  /** The same as the id where absent. */
  readonly alias?: string;
  readonly url: string;
  readonly reads: readonly string[];
  readonly apps?: boolean;
  /** Before the approval. */
  readonly onReview?: () => Promise<void>;
}

/** All of it: registers the server, approves it, and lets the navigator use it. The chat is open then. */
export async function useServer(
  page: Page,
  { id, alias = id, url, reads, apps = false, onReview }: UseServerOptions,
): Promise<void> {
  await startServer(page, { id, alias, url });
  if (apps) await page.getByTestId('field-apps').selectOption('yes');
  await saveRecord(page);
  await reviewServer(page);
  await onReview?.();
  await approveServer(page, reads);
  await letAgentUse(page, id);
  for (let i = 0; i < 2; i++) await page.getByTestId('agents-back').click(); // to the list, then to the chat
}
