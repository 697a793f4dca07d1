import type { Page } from 'playwright';
import { describe, expect, it } from 'vitest';
import { usePlayground } from '../../../tools/browsers/playground.ts';
import { tooWide, violationsInBoth } from '../../../tools/screens/look.ts';
import { zipOf } from '../../../fixtures/code.ts';
import { linesOfPdf, pdfOf } from '../../../fixtures/pdf.ts';

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

  it('may be PDF and Word, and one that is too large never ends the chat', async () => {
    const { page, problems } = await open();
    const word = '<w:document><w:body><w:p><w:r><w:t>The pilot boards at noon</w:t></w:r></w:p></w:body></w:document>';
    const docx = await zipOf({ 'word/document.xml': word, 'word/media/quay.png': 'picture' });
    await page.getByTestId('attach-input').setInputFiles([
      { name: 'tides.pdf', mimeType: 'application/pdf', buffer: Buffer.from(pdfOf(linesOfPdf('High water at noon'))) },
      { name: 'report.docx', mimeType: '', buffer: Buffer.from(docx) },
      { name: 'log.txt', mimeType: 'text/plain', buffer: Buffer.from('The wind is from the north. '.repeat(40_000)) },
    ]);
    const said = page.getByRole('status').filter({ hasText: '“log.txt” exceeds what this model takes by 134 %' });
    await said.waitFor();
    await page.getByRole('listitem').filter({ hasText: /^tides\.pdfPDF, \d+ bytes/ }).waitFor();
    await page.getByRole('listitem').filter({ hasText: /^report\.docxDocument, \d+ bytes, 1 part not read/ }).waitFor();
    expect(await look(page, 'files-too-large')).toEqual([]);
    await page.getByTestId('composer').fill('When does the pilot board?');
    await page.getByTestId('composer').press('Enter');
    await page.getByRole('heading', { name: /^The message exceeds what this model takes by \d+ %$/ }).waitFor();
    expect(await look(page, 'files-failed')).toEqual([]);
    await page.getByRole('button', { name: 'Remove the files' }).click();
    await page.getByTestId('answer-footer').waitFor();
    await page.getByTestId('composer').fill('hello?');
    await page.getByTestId('composer').press('Enter');
    await expect.poll(() => page.getByTestId('answer-footer').count()).toBe(2);
    expect(await page.getByTestId('error-callout').count()).toBe(0);
    expect(problems).toEqual([]);
  });
});
