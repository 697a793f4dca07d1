/** Steps that many ways have in common. */

import type { Page } from 'playwright';

/** Starts a chat with one of the agents. */
export async function choose(page: Page, agent: string): Promise<void> {
  await page.locator(`[data-testid=agent-card][data-agent=${agent}]`).click();
}

/** Until the last answer has ended. */
export async function ended(page: Page): Promise<void> {
  await page.getByTestId('answer-footer').last().waitFor();
  await page.getByTestId('send').waitFor();
}

/** Connects a model of a server, with a key. */
export async function connectModel(
  page: Page,
  { baseUrl, model }: { readonly baseUrl: string; readonly model: string },
): Promise<void> {
  await page.getByTestId('model-badge').click();
  await page.getByTestId('settings-endpoint').check();
  await page.getByTestId('settings-base-url').fill(baseUrl);
  await page.getByTestId('settings-model').fill(model);
  await page.getByTestId('settings-key').fill('sk-0123456789abcdef');
  await page.getByTestId('settings-save').click();
  await page.getByTestId('settings-dialog').waitFor({ state: 'detached' });
}

/** Clicks, then waits until something is there. */
export function clicks(testId: string, ready: string): (page: Page) => Promise<void> {
  return async (page) => {
    await page.getByTestId(testId).first().click();
    await page.getByTestId(ready).first().waitFor();
  };
}
