/** A chat of 5,000 messages: opened, scrolled through, written in. */

import type { Page } from 'playwright';
import { keepLongChat } from '../../tools/browsers/long-chat.ts';
import type { Row } from '../measure.ts';
import { measurePage } from './probe.ts';
import { type Bench, frameRows, interactionRow, msRow, workRows } from './rows.ts';
import { slowDown, slowness } from './slow-cpu.ts';

const count = 5000;

/** Returns the figures. */
export async function measureLongChat({ browser, url }: Bench): Promise<Row[]> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  await page.goto(url);
  await page.getByTestId('composer').waitFor();
  await keepLongChat(page, count);
  const opening = await measurePage(page, async () => {
    await page.locator('.chat-open').click();
    await page.locator(`[data-id=m-${count - 1}] [data-testid=answer-footer]`).waitFor();
    await page.waitForTimeout(500);
  });
  const nodes = await page.evaluate(() => document.querySelectorAll('*').length);
  const scrolling = await measurePage(page, () => scroll(page));
  const jumping = await measurePage(page, () => jump(page));
  const typing = await measurePage(page, async () => {
    await page.getByTestId('composer').focus();
    await page.keyboard.type('A word after five thousand messages, typed by hand.', { delay: 20 });
  });
  await slowDown(page);
  const slowly = await measurePage(page, () => scroll(page));
  await context.close();
  return [
    msRow(`A chat of ${count} messages: from the click to its end`, opening.tookMs - 500),
    ...workRows('Opening it', opening, 50),
    { figure: 'Elements of the page then', value: String(nodes), bar: '<= 3000', met: nodes <= 3000 },
    ...workRows('Scrolling through it', scrolling, 50),
    ...frameRows('Scrolling through it', scrolling),
    ...workRows('Jumping to its beginning and end', jumping, 50),
    interactionRow('Typing in it', typing, 50),
    ...frameRows(`Scrolling through it, the CPU ${slowness} times slower`, slowly, 50),
  ];
}

/** As with a wheel, up and down again. */
async function scroll(page: Page): Promise<void> {
  await page.mouse.move(700, 400);
  for (let i = 0; i < 120; i++) {
    await page.mouse.wheel(0, i < 80 ? -300 : 450);
    await page.evaluate(() => new Promise(requestAnimationFrame));
  }
}

async function jump(page: Page): Promise<void> {
  const thread = page.getByTestId('thread');
  for (const share of [0, 0.5, 0.25, 0.75, 1]) {
    await thread.evaluate((element, at) => (element.scrollTop = element.scrollHeight * at), share);
    await page.waitForTimeout(200);
  }
}
