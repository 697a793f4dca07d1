import type { Page } from 'playwright';
import { describe, expect, it } from 'vitest';
import { usePlayground } from '../../../tools/browsers/playground.ts';
import { tooWide, violationsInBoth } from '../../../tools/screens/look.ts';

const { open, shoot } = usePlayground();

/** An image of 160 by 100 pixels. */
const checkers =
  'iVBORw0KGgoAAAANSUhEUgAAAKAAAABkCAMAAAA2aMu9AAAABlBMVEXibjQXXnYjl7S6AAAAZ0lEQVR42u3ZMQ4AAAQDQP7/aR8wI3KdO1xqFN' +
  'Ekm1zqAQICAgICAgICAgL+AVoLEBAQEBAQEBAQEHATaFVAQEBAQEBAQEBAQH8S5wQEBAQEBAQEBAT0J7EqICAgICAgICAgIOB4rwDkbh9Bs4Tl' +
  'iQAAAABJRU5ErkJggg==';
const files = [
  { name: 'dot.png', mimeType: 'image/png', buffer: Buffer.from(checkers, 'base64') },
  { name: 'cities.csv', mimeType: 'text/csv', buffer: Buffer.from('city,degrees\nOslo,4\n') },
];

/** Looks at the page wide and narrow, in light and in dark. */
async function look(page: Page, name: string): Promise<string[]> {
  const found: string[] = [];
  for (const width of [1280, 320]) {
    await page.setViewportSize({ width, height: 720 });
    found.push(...await violationsInBoth(page), ...await tooWide(page));
    for (const colorScheme of ['dark', 'light'] as const) {
      await page.emulateMedia({ colorScheme });
      await shoot(page, `${name}-${width}-${colorScheme}`);
    }
  }
  await page.setViewportSize({ width: 1280, height: 720 });
  return found;
}

/** Whether the browser could show the image. */
const isDrawn = (page: Page) =>
  page.getByTestId('file-image').evaluate(async (image: HTMLImageElement) => {
    await image.decode();
    return image.naturalWidth > 0;
  });

describe('files in a chat', () => {
  it('are attached, sent, shown and named by the model, and are still there after a reload', async () => {
    const { page, problems, strangers } = await open();
    const chooser = page.waitForEvent('filechooser');
    await page.getByRole('button', { name: 'Attach file' }).press('Enter');
    await (await chooser).setFiles(files);
    await page.getByRole('button', { name: 'Remove cities.csv' }).waitFor();
    expect(await look(page, 'files-attached')).toEqual([]);
    await page.getByTestId('composer').fill('Say: thank you');
    await page.getByTestId('composer').press('Enter');
    await page.getByTestId('answer-footer').waitFor();
    const answer = page.locator('[data-testid=message][data-role=assistant]');
    expect(await answer.textContent()).toContain('I received dot.png, cities.csv.');
    expect(await isDrawn(page)).toBe(true);
    await page.reload();
    await page.getByTestId('answer-footer').waitFor();
    expect(await isDrawn(page)).toBe(true);
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: /^Download cities.csv/ }).click();
    expect((await download).suggestedFilename()).toBe('cities.csv');
    expect(await look(page, 'files-sent')).toEqual([]);
    expect([problems, strangers]).toEqual([[], []]);
  });
});
