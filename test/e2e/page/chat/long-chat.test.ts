import type { Page } from 'playwright';
import { beforeAll, describe, expect, it } from 'vitest';
import { keepLongChat } from '../../../tools/browsers/long-chat.ts';
import { usePlayground } from '../../../tools/browsers/playground.ts';

const { open, shoot } = usePlayground();
const count = 400;
let page: Page;
let problems: string[];

const message = (place: number) => page.locator(`[aria-posinset="${place + 1}"]`);
const drawn = () => page.locator('[data-testid=message]').count();
const top = (place: number) => message(place).evaluate((element) => element.getBoundingClientRect().top);
/** What is drawn has come to rest: nothing has moved for two frames. */
const rest = () =>
  page.evaluate(() =>
    new Promise<void>((done) => {
      const thread = document.querySelector('.thread');
      let before = NaN;
      const look = (): void => {
        const now = (thread?.scrollTop ?? 0) + (thread?.scrollHeight ?? 0);
        if (now === before) return done();
        before = now;
        requestAnimationFrame(() => requestAnimationFrame(look));
      };
      look();
    })
  );
const scrollTo = async (share: number) => {
  await page.getByTestId('thread').evaluate((thread, at) => void (thread.scrollTop = thread.scrollHeight * at), share);
  await rest();
};
/** It is drawn, and in the middle of the thread as far as its size lets it. */
const isInSight = async (place: number) => {
  await message(place).waitFor({ state: 'attached' });
  await rest();
  const [{ y, height } = { y: NaN, height: NaN }, thread] = await Promise.all([
    message(place).boundingBox().then((box) => box ?? undefined),
    page.getByTestId('thread').boundingBox(),
  ]);
  expect(Math.abs(y + height / 2 - (thread?.y ?? 0) - (thread?.height ?? 0) / 2)).toBeLessThan(3);
};

beforeAll(async () => {
  ({ page, problems } = await open());
  await keepLongChat(page, count);
  await page.locator('.chat-open').click();
});

describe('a chat of hundreds of messages', () => {
  it('opens at its end, draws what is in sight, and counts all for screen readers', async () => {
    await message(count - 1).getByTestId('answer-footer').waitFor();
    await rest();
    expect(await page.getByTestId('jump-to-latest').count()).toBe(0);
    expect(await page.getByTestId('thread').evaluate((t) => t.scrollHeight - t.scrollTop - t.clientHeight))
      .toBeLessThan(2);
    expect(await drawn()).toBeLessThan(40);
    expect(await message(count - 1).getAttribute('aria-setsize')).toBe(String(count));
    await shoot(page, 'long-chat');
  });

  it('leaves what is read where it is while messages above are drawn for the first time', async () => {
    await scrollTo(0.5);
    await page.mouse.move(640, 400);
    for (let i = 0; i < 8; i++) {
      const place = await page.evaluate(() => {
        const all = [...document.querySelectorAll('.thread [aria-posinset]')];
        return Number(all.find((one) => one.getBoundingClientRect().top > 60)?.getAttribute('aria-posinset')) - 1;
      });
      const before = await top(place);
      await page.mouse.wheel(0, -180);
      await page.waitForFunction(
        ([at, was]) =>
          (document.querySelector(`[aria-posinset="${at + 1}"]`)?.getBoundingClientRect().top ?? 0) > was + 100,
        [place, before] as const,
      );
      await rest();
      expect(Math.abs(await top(place) - before - 180)).toBeLessThan(3);
    }
  });

  it('leaves what is read where it is when something above grows, as a picture that has come', async () => {
    await scrollTo(0.5);
    const grown = await page.waitForFunction(() => {
      const thread = document.querySelector('.thread');
      if (!thread) return undefined;
      const all = [...thread.querySelectorAll<HTMLElement>('[aria-posinset]')];
      const first = all.findIndex((one) => one.getBoundingClientRect().bottom > thread.getBoundingClientRect().top);
      const [above, read] = [all[first - 1], all[first]];
      if (!above || !read) {
        thread.scrollBy(0, 100); // what is in sight reaches far up: on, to its end
        return undefined;
      }
      const before = read.getBoundingClientRect().top;
      above.style.minHeight = `${above.offsetHeight + 120}px`;
      return { place: Number(read.getAttribute('aria-posinset')) - 1, before };
    });
    const read = await grown.jsonValue();
    await rest();
    expect(Math.abs(await top(read?.place ?? NaN) - (read?.before ?? NaN))).toBeLessThan(3);
  });

  it('is read with the keys, message by message, each announced with its position', async () => {
    const focused = () => page.evaluate(() => Number(document.activeElement?.getAttribute('aria-posinset')) - 1);
    const isOn = (place: number) =>
      page.waitForFunction((at) => document.activeElement?.getAttribute('aria-posinset') === `${at + 1}`, place);
    await page.getByTestId('thread').focus();
    await page.keyboard.press('Home');
    await isOn(0);
    await page.keyboard.press('PageDown');
    await isOn(1);
    await rest();
    expect(await page.getByTestId('thread').evaluate(({ scrollTop }) => scrollTop)).toBeLessThan(400);
    await page.keyboard.press('End');
    await isOn(count - 1);
    await page.getByTestId('jump-to-latest').waitFor({ state: 'detached' });
    for (let i = 0; i < 12 && await focused() !== count - 3; i++) { // what is higher than the window is scrolled through first
      await page.keyboard.press('PageUp');
      await rest();
    }
    await isOn(count - 3);
    expect(await message(count - 3).getAttribute('aria-setsize')).toBe(String(count));
    expect(await message(0).count()).toBe(0);
  });

  it('keeps the message that has the focus, and goes to the newest', async () => {
    await scrollTo(0);
    await message(1).getByTestId('copy-answer').focus();
    await scrollTo(0.7);
    expect(await message(1).getByTestId('copy-answer').evaluate((button) => button === document.activeElement)).toBe(
      true,
    );
    expect(await message(20).count()).toBe(0);
    await page.getByTestId('jump-to-latest').click();
    await message(count - 1).getByTestId('answer-footer').waitFor();
    await page.getByTestId('jump-to-latest').waitFor({ state: 'detached' });
  });

  it.each(['no-preference', 'reduce'] as const)(
    'is searched with the browser’s keys, in what is not drawn, too, with motion: %s',
    async (reducedMotion) => {
      await page.emulateMedia({ reducedMotion });
      await page.keyboard.press('Control+f');
      for (const [query, place] of [['leg 10', 109], ['leg 30', 309]] as const) { // 10, and 100 to 109
        await page.getByTestId('find-query').fill(query);
        await page.getByTestId('find-count').getByText('11 of 11').waitFor();
        await isInSight(place);
      }
      await page.keyboard.press('Enter');
      await page.getByTestId('find-count').getByText('10 of 11').waitFor();
      await isInSight(308);
      expect(await page.evaluate(() => CSS.highlights.get('found-here')?.size)).toBe(1);
      await shoot(page, 'find-in-chat');
      await page.keyboard.press('Escape');
      await page.locator('[data-testid=composer]:focus').waitFor();
      expect(await page.getByTestId('find-bar').count()).toBe(0);
    },
  );

  it('is on paper whole', async () => {
    await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
    await message(0).waitFor({ state: 'attached' });
    expect(await drawn()).toBe(count);
    await page.evaluate(() => dispatchEvent(new Event('afterprint')));
    await page.waitForFunction(() => document.querySelectorAll('[aria-posinset]').length < 40);
    expect(problems).toEqual([]);
  });
});
