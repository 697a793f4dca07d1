import type { Page } from 'playwright';
import { describe, expect, it } from 'vitest';
import { send, usePlayground } from '../../../tools/browsers/playground.ts';

const { open } = usePlayground();

const answers = (page: Page) => page.locator('[data-testid=message][data-role=assistant]');

describe('a message that is sent while an agent answers', () => {
  it('waits visibly in the composer, is answered next, and is there after a reload', async () => {
    const { page, problems } = await open();
    await send(page, 'Write 300 words about tides');
    await answers(page).getByText(/(?:\w+\W+){20}/).first().waitFor();
    await send(page, 'What is 6 * 7?');
    await page.getByTestId('queued').getByText('What is 6 * 7?').waitFor();
    expect(await page.getByTestId('queued').getAttribute('data-state')).toMatch(/^(?:sending|sent|next)$/);
    expect(await page.getByTestId('composer').inputValue()).toBe('');
    await answers(page).getByText('6 * 7 = 42').first().waitFor();
    await page.getByTestId('queued').waitFor({ state: 'detached' });
    await page.getByTestId('send').waitFor();
    expect((await answers(page).first().innerText()).split(/\s+/).length).toBeGreaterThan(300);
    await page.reload();
    await answers(page).getByText('6 * 7 = 42').first().waitFor();
    expect(problems).toEqual([]);
  });
});

describe('an answer that is generated once more', () => {
  it('leaves the earlier one a step away', async () => {
    const { page, problems } = await open();
    await send(page, 'What is 6 * 7?');
    await page.getByTestId('answer-footer').waitFor();
    await page.getByTestId('retry').click();
    await page.getByTestId('version').getByText('2 / 2').waitFor();
    await page.getByTestId('send').waitFor();
    await page.getByTestId('previous-version').click();
    await page.getByTestId('version').getByText('1 / 2').waitFor();
    await answers(page).getByText('6 * 7 = 42').waitFor();
    expect(problems).toEqual([]);
  });
});

describe('the reasoning of a model', () => {
  it('is folded above its answer, and opens by the keyboard', async () => {
    const { page, problems } = await open();
    await send(page, 'Think first: what is 2+2?');
    await page.getByTestId('answer-footer').waitFor();
    const reasoning = page.getByTestId('reasoning').first();
    const button = reasoning.getByRole('button', { name: 'Reasoning' });
    expect(await button.getAttribute('aria-expanded')).toBe('false');
    await button.press('Enter');
    expect(await button.getAttribute('aria-expanded')).toBe('true');
    expect(problems).toEqual([]);
  });
});
