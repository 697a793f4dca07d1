import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BrowserContext, Page } from 'playwright';
import { describe, expect, it } from 'vitest';
import { budget } from '../../fixtures/budget.ts';
import { zipOf } from '../../fixtures/code.ts';
import { linesOfPdf, pdfOf } from '../../fixtures/pdf.ts';
import { send, usePlayground } from '../../tools/browsers/playground.ts';
import { violationsInBoth } from '../../tools/screens/look.ts';

const { open: openPage, newContext, shoot } = usePlayground();

/** Opens the playground, with the knowledge beside the chat. */
async function open(how: Parameters<typeof openPage>[0] = {}): Promise<{ page: Page; problems: string[] }> {
  const opened = await openPage(how);
  await opened.page.getByTestId('chat-menu').click();
  await opened.page.getByRole('menuitem', { name: 'Show the files beside the chat' }).click();
  await opened.page.getByTestId('knowledge-panel').waitFor();
  return opened;
}

const file = (page: Page, name: string) => page.locator(`[data-testid=knowledge-file][data-name="${name}"]`);
const ready = (page: Page, name: string) => file(page, name).and(page.locator('[data-state=ready]')).waitFor();

async function give(page: Page, ...files: readonly (readonly [name: string, text: string])[]): Promise<void> {
  await page.getByTestId('knowledge-input').setInputFiles(
    files.map(([name, text]) => ({ name, mimeType: '', buffer: Buffer.from(text) })),
  );
}

/** Drops a file from outside. */
async function drop(page: Page, name: string, text: string): Promise<void> {
  const dataTransfer = await page.evaluateHandle(([fileName, content]) => {
    const transfer = new DataTransfer();
    transfer.items.add(new File([content], fileName));
    return transfer;
  }, [name, text] as const);
  await page.getByTestId('knowledge').dispatchEvent('dragover', { dataTransfer });
  await page.getByTestId('knowledge').dispatchEvent('drop', { dataTransfer });
}

const paragraphs = (count: number): string =>
  Array.from({ length: count }, (_, at) => `Paragraph ${at} speaks of subject${at}. ${'words '.repeat(150)}`).join(
    '\n\n',
  );

describe('the files', () => {
  it('are a page: what was read, what was not, and each file beside the list, with addresses of their own', async () => {
    const { page, problems } = await openPage({ width: 1280, height: 800 });
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('button', { name: 'Files' }).click();
    await page.getByRole('heading', { level: 1, name: 'Files' }).waitFor();
    await give(page, ['tides.md', '# Tides\n\nHigh water at the northern quay is at noon.\n'], ['ship.xyz', '\u0000']);
    await ready(page, 'tides.md');
    await page.getByRole('button', { name: '1 could not be read' }).waitFor();
    await page.getByRole('button', { name: /^tides\.md/ }).click();
    await page.getByRole('region', { name: 'tides.md' }).getByText('High water').waitFor();
    expect(page.url()).toMatch(/#\/files\/tides\.md$/);
    expect(await file(page, 'tides.md').isVisible()).toBe(true);
    expect(await violationsInBoth(page)).toEqual([]);
    await page.reload();
    await page.getByRole('region', { name: 'tides.md' }).getByText('High water').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('region', { name: 'tides.md' }).waitFor({ state: 'detached' });
    await page.keyboard.press('Alt+k');
    await page.getByTestId('files').waitFor({ state: 'detached' });
    expect(problems).toEqual([]);
  });
});

describe('the knowledge beside the chat', () => {
  it('takes files that are chosen or dropped, shows them being indexed, and finds what is in them as one types', async () => {
    const { page, problems } = await open();
    await page.getByTestId('knowledge-empty').waitFor();
    await shoot(page, 'knowledge-empty');
    await give(page, ['tides.md', '# Tides\n\nHigh water at the northern quay is at noon.\n'], [
      'long.txt',
      paragraphs(1_500),
    ]);
    await page.getByTestId('knowledge-indexing').waitFor();
    await shoot(page, 'knowledge-indexing');
    await drop(page, 'crew.csv', 'name,task\nMia,splices ropes\n');
    await ready(page, 'crew.csv');
    await ready(page, 'long.txt');
    await page.getByTestId('knowledge-search').pressSequentially('high water noon');
    const first = page.getByTestId('knowledge-result').first();
    await first.and(page.locator('[data-file="tides.md"]')).waitFor();
    await page.getByTestId('knowledge-why').first().locator('summary').click();
    const why = await page.getByTestId('knowledge-why').first().textContent();
    expect(why).toContain('Words1BM25');
    expect(why).toContain('Similarity1cosine');
    // The results of what was typed first may still be shown.
    await expect.poll(() => first.locator('mark').allTextContents())
      .toEqual(expect.arrayContaining(['High', 'water', 'noon']));
    await shoot(page, 'knowledge-found');
    await page.getByTestId('knowledge-search').fill('xylophone qwzx');
    await page.getByText('No results. Try other words.').waitFor();
    expect(problems).toEqual([]);
  });

  it('reads PDF, office files and pictures, and says what of them was not read', async () => {
    const { page, problems } = await open();
    const word = '<w:document><w:body><w:p><w:r><w:t>The pilot boards at noon</w:t></w:r></w:p></w:body></w:document>';
    const png = await page.screenshot({ clip: { x: 0, y: 0, width: 240, height: 120 } });
    await page.getByTestId('knowledge-input').setInputFiles([
      { name: 'tides.pdf', mimeType: '', buffer: Buffer.from(pdfOf(linesOfPdf('High water at noon'))) },
      {
        name: 'report.docx',
        mimeType: '',
        buffer: Buffer.from(await zipOf({ 'word/document.xml': word, 'word/media/quay.png': 'picture' })),
      },
      { name: 'quay.png', mimeType: 'image/png', buffer: png },
    ]);
    await ready(page, 'tides.pdf');
    await ready(page, 'report.docx');
    await page.getByRole('button', { name: /^tides\.pdf \d+ bytes · 1 page · added/ }).waitFor();
    await shoot(page, 'files-read');
    await page.getByRole('button', { name: /^report\.docx .* · 5 words · not all of it read/ }).click();
    await page.getByText('1 picture: only text is read').waitFor();
    await page.getByText('The pilot boards at noon').waitFor();
    expect(await violationsInBoth(page)).toEqual([]);
    await shoot(page, 'files-report');
    await page.getByRole('button', { name: 'Back to the files' }).click();
    await page.getByRole('button', { name: /^quay\.png/ }).click();
    await expect.poll(() =>
      page.getByRole('img', { name: 'quay.png' }).evaluate((image: HTMLImageElement) => image.naturalWidth)
    ).toBe(240);
    await shoot(page, 'files-picture');
    expect(problems).toEqual([]);
  });

  it('opens what was found at the place, and reads on from there', async () => {
    const { page, problems } = await open();
    await give(page, ['long.txt', paragraphs(400)]);
    await ready(page, 'long.txt');
    await page.getByTestId('knowledge-search').fill('subject200');
    await page.getByTestId('knowledge-open').first().click();
    const place = page.locator('[data-testid=knowledge-part][data-place=true]');
    await place.locator('mark', { hasText: 'subject200' }).waitFor();
    await page.locator('[data-testid=knowledge-part][data-place=true]:focus').waitFor();
    await shoot(page, 'knowledge-reader');
    const reader = page.getByTestId('knowledge-reader');
    await reader.focus();
    const last = () => page.getByTestId('knowledge-part').last().getAttribute('data-piece');
    const before = Number(await last());
    await expect.poll(async () => {
      await page.keyboard.press('End');
      return Number(await last());
    }).toBeGreaterThan(before + 100);
    expect(await page.getByTestId('knowledge-part').count()).toBeLessThanOrEqual(100);
    await page.keyboard.press('Escape');
    await page.getByTestId('knowledge-results').waitFor();
    await page.locator('[data-testid=knowledge-open]:focus').waitFor();
    expect(problems).toEqual([]);
  });

  it('keeps everything over a reload, and goes on with what was being indexed', async () => {
    const context = await newContext();
    const { page } = await open({ context });
    await give(page, ['tides.md', 'High water is at noon'], ['long.txt', paragraphs(3_000)]);
    await ready(page, 'tides.md');
    await page.reload();
    await ready(page, 'long.txt');
    await page.getByTestId('knowledge-search').fill('subject2999');
    await page.getByTestId('knowledge-result').first().waitFor();
    expect(await page.getByTestId('knowledge-result').first().getAttribute('data-file')).toBe('long.txt');
  });

  it('shows in a second tab what is added, found and removed in the first', async () => {
    const context: BrowserContext = await newContext();
    const [{ page }, { page: other }] = [await open({ context }), await open({ context })];
    await give(page, ['tides.md', 'High water is at noon']);
    await ready(other, 'tides.md');
    await other.getByTestId('knowledge-search').fill('noon');
    await other.getByTestId('knowledge-result').first().waitFor();
    await file(page, 'tides.md').hover();
    await file(page, 'tides.md').getByTestId('knowledge-remove').click();
    await page.getByTestId('knowledge-remove-yes').click();
    await other.getByText('No files yet').waitFor();
    expect(await other.getByTestId('knowledge-result').count()).toBe(0);
  });

  it('takes a folder of code, without what was installed, and opens a symbol at its lines', async () => {
    const temporary = await mkdtemp(join(tmpdir(), 'knowledge-'));
    const folder = join(temporary, 'boat');
    await mkdir(join(folder, 'node_modules'), { recursive: true });
    await writeFile(join(folder, 'node_modules/oar.ts'), 'export const oar = 1;\n');
    await writeFile(join(folder, 'README.md'), '# Boat\n\nA boat with a mast.\n');
    await writeFile(
      join(folder, 'mast.ts'),
      `${'// rigging\n'.repeat(60)}export function raiseMast(height: number) {\n  return height;\n}\n`,
    );
    const { page, problems } = await open();
    await page.getByTestId('knowledge-folder-input').setInputFiles(folder);
    await ready(page, 'boat/mast.ts');
    await ready(page, 'boat/README.md');
    await expect.poll(() => page.getByTestId('knowledge-file').count()).toBe(2);
    await page.getByTestId('knowledge-search').fill('raiseMast');
    await page.getByTestId('knowledge-open').first().click();
    await page.locator('[data-place=true] [data-marked=true]', { hasText: 'raiseMast' }).waitFor();
    await shoot(page, 'knowledge-code');
    await rm(temporary, { recursive: true });
    expect(problems).toEqual([]);
  });

  it('stays quick with thousands of parts, and draws of the files those in sight', async () => {
    const { page, problems } = await open();
    await give(page, ['long.txt', paragraphs(budget({ short: 3_000, long: 10_000 }))]);
    await ready(page, 'long.txt');
    const many = Array.from({ length: 300 }, (_, at) => [`note-${at}.txt`, `Note ${at} is about rope${at}`] as const);
    await give(page, ...many);
    await page.getByTestId('knowledge-adding').waitFor({ state: 'detached' });
    await page.getByTestId('knowledge-indexing').waitFor({ state: 'detached' });
    expect(await page.getByTestId('knowledge-file').count()).toBeLessThan(60);
    await page.getByTestId('knowledge-search').fill('subject2876');
    await page.getByTestId('knowledge-result').first().waitFor();
    await page.getByTestId('knowledge-open').first().click();
    await page.locator('[data-place=true] mark').first().waitFor();
    await shoot(page, 'knowledge-many');
    expect(problems).toEqual([]);
  });

  it('opens what an answer cites at the place, also after a reload, and starts at 1 in each answer', async () => {
    const { page, problems } = await openPage({});
    await page.locator('[data-testid=agent-card][data-agent=almanac]').click();
    await page.getByTestId('knowledge-panel').waitFor();
    await send(page, 'What is an approval bound to?');
    await page.getByTestId('answer-footer').waitFor();
    const citation = page.getByTestId('citation').first();
    expect(await citation.getAttribute('aria-label')).toMatch(/^Source \d+: Approvals/);
    await citation.click();
    const place = page.locator('[data-testid=knowledge-part][data-place=true]');
    await place.getByText('An approval holds for one call').waitFor();
    expect(await page.getByTestId('knowledge-reader-name').textContent()).toBe('Pinnace guide/Approvals.md');
    await shoot(page, 'knowledge-cited');
    const numbers = () =>
      page.getByTestId('cited-source').evaluateAll((all) => all.map((one) => Number(one.dataset['n'])));
    const before = Math.max(...await numbers());
    await send(page, 'How many steps may a run have?');
    await page.getByTestId('answer-footer').nth(1).waitFor();
    expect(Math.max(...await numbers())).toBeGreaterThan(before);
    // The chat goes on counting; people see each answer start at 1.
    for (const answer of await page.locator('[data-testid=message][data-role=assistant]').all()) {
      expect(await answer.getByTestId('citation').first().textContent()).toBe('1');
    }
    await page.reload();
    await page.getByTestId('cited-source').first().click();
    await place.waitFor();
    await page.keyboard.press('Escape');
    await file(page, 'Pinnace guide/Approvals.md').hover();
    await file(page, 'Pinnace guide/Approvals.md').getByTestId('knowledge-remove').click();
    await page.getByTestId('knowledge-remove-yes').click();
    await file(page, 'Pinnace guide/Approvals.md').waitFor({ state: 'detached' });
    await page.getByTestId('citation').first().click();
    await page.getByText('Cannot open "Pinnace guide/Approvals.md": it was removed').waitFor();
    expect(problems).toEqual([]);
  });
});
