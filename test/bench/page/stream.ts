/** An answer of 200 chunks a second beside a tree of a million nodes, and a person who goes on working. */

import type { Page } from 'playwright';
import type { Row } from '../measure.ts';
import { startFastModel } from './fast-model.ts';
import { type Measured, measurePage } from './probe.ts';
import { type Bench, frameRows, interactionRow, workRows } from './rows.ts';
import { slowDown, slowness } from './slow-cpu.ts';

const seconds = 10;
const perSecond = 200;
const keys = 40;

/** Returns the figures. */
export async function measureStream(bench: Bench): Promise<Row[]> {
  const what = `A stream of ${perSecond} chunks/s beside a million nodes`;
  const streaming = await stream(bench, async () => undefined);
  const slowly = await stream(bench, slowDown);
  return [
    interactionRow(what, streaming, 2 * keys),
    ...workRows(what, streaming, 50),
    ...frameRows(what, streaming),
    ...frameRows(`${what}, the CPU ${slowness} times slower`, slowly, 50),
  ];
}

async function stream({ browser, url }: Bench, prepare: (page: Page) => Promise<void>): Promise<Measured> {
  const model = await startFastModel({ perSecond, chunks: perSecond * seconds });
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  await page.goto(url);
  await page.getByTestId('composer').waitFor();
  await useEndpoint(page, model.url);
  await page.keyboard.press('Alt+t');
  await page.getByTestId('tree-million').click();
  await page.getByRole('treeitem', { name: 'The Northquay Group' }).first().waitFor();
  await page.getByTestId('tree-expand-all').click();
  await page.locator('[role=treeitem][aria-level="5"]').first().waitFor();
  await prepare(page);
  const streaming = await measurePage(page, async () => {
    await page.getByTestId('composer').fill('Tell me all about the stream');
    await page.getByTestId('composer').press('Enter');
    await page.locator('.markdown').first().waitFor();
    await page.getByTestId('composer').focus();
    await page.keyboard.type('x'.repeat(keys), { delay: 30 });
    await page.getByTestId('tree-list').focus();
    for (let i = 0; i < keys; i++) await page.keyboard.press(i % 10 === 9 ? 'PageDown' : 'ArrowDown', { delay: 30 });
    await page.getByTestId('answer-footer').waitFor();
  });
  await context.close();
  await model.close();
  return streaming;
}

async function useEndpoint(page: Page, baseUrl: string): Promise<void> {
  await page.getByTestId('model-badge').click();
  await page.getByTestId('settings-endpoint').check();
  await page.getByTestId('settings-base-url').fill(`${baseUrl}/v1`);
  await page.getByTestId('settings-model').fill('fast');
  await page.getByTestId('settings-keyless').check();
  await page.getByTestId('settings-save').click();
  await page.locator('dialog[open]').waitFor({ state: 'hidden' });
}
