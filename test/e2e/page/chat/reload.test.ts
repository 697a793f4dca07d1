import type { Page } from 'playwright';
import { describe, expect, it } from 'vitest';
import { send, usePlayground } from '../../../tools/browsers/playground.ts';

const { newContext, open } = usePlayground();

const answer = (page: Page) => page.locator('[data-testid=message][data-role=assistant]').last();
const words = async (page: Page): Promise<number> => (await answer(page).innerText()).split(/\s+/).length;

/** A page whose agent has written some words of many. */
async function openWriting(lasting: boolean) {
  const context = await newContext({ lasting });
  const opened = await open({ context });
  await send(opened.page, 'Write 300 words about tides');
  await answer(opened.page).getByText(/(?:\w+\W+){20}/).first().waitFor();
  return { ...opened, context };
}

describe('a reload in the middle of a run', () => {
  it('loses nothing where the worker outlasts it: the same answer goes on to its end', async () => {
    const { page, problems, context } = await openWriting(true);
    await page.reload();
    await answer(page).waitFor();
    expect(await answer(page).getAttribute('data-outcome')).toBe('running');
    await page.getByTestId('answer-footer').waitFor();
    expect(await answer(page).getAttribute('data-outcome')).toBe('done');
    expect(await words(page)).toBeGreaterThanOrEqual(300);
    await expect.poll(() => page.getByTestId('message').count()).toBe(2);
    await page.reload();
    await page.getByTestId('answer-footer').waitFor();
    expect(await words(page)).toBeGreaterThanOrEqual(300);
    expect(problems).toEqual([]);
    await context.close();
  });

  it('can be stopped after it, and stays stopped', async () => {
    const { page, problems, context } = await openWriting(true);
    await page.reload();
    await page.getByTestId('stop').click();
    await page.getByTestId('stopped').getByText('You stopped').waitFor();
    const said = await words(page);
    await page.reload();
    await page.getByTestId('stopped').waitFor();
    expect(await words(page)).toBe(said);
    expect(problems).toEqual([]);
    await context.close();
  });

  it('goes on where the worker ends with its page: the next one continues the run', async () => {
    const { page, problems, context } = await openWriting(false);
    await page.reload();
    await page.getByTestId('answer-footer').waitFor();
    expect(await answer(page).getAttribute('data-outcome')).toBe('done');
    expect(await words(page)).toBeGreaterThanOrEqual(300);
    expect(await words(page)).toBeLessThan(400); // the half that was cut is not shown again
    expect(await page.getByTestId('message').count()).toBe(2);
    expect(problems).toEqual([]);
    await context.close();
  });

  it('goes on in another tab when its own is closed', async () => {
    const { page, problems, context } = await openWriting(false);
    const other = await open({ context });
    const address = page.url();
    await page.close();
    await other.page.goto(address);
    await answer(other.page).waitFor();
    await expect.poll(() => answer(other.page).getAttribute('data-outcome')).toBe('done');
    expect(await words(other.page)).toBeGreaterThanOrEqual(300);
    expect([...problems, ...other.problems]).toEqual([]);
    await context.close();
  });

  it('still asks what a person has to decide, and goes on', async () => {
    const context = await newContext({ lasting: true });
    const { page, problems } = await open({ context });
    await page.locator('[data-testid=agent-card][data-agent=logbook]').click();
    await page.getByTestId('suggestion').getByText('overboard').click();
    await page.getByTestId('approve').waitFor();
    await page.reload();
    await page.getByTestId('approve').click();
    await page.locator('[data-testid=tool-card][data-tool=notes_delete][data-state=result]').waitFor();
    await page.getByTestId('send').waitFor();
    expect(problems).toEqual([]);
    await context.close();
  });

  it('runs code tools in the page of a worker that outlasts it', async () => {
    const context = await newContext({ lasting: true });
    const { page, problems } = await open({ context });
    await page.reload();
    await page.getByTestId('new-agent').click();
    await page.getByTestId('make-code').click();
    await page.getByTestId('code-editor').waitFor();
    await page.getByTestId('field-name').fill('double');
    await page.getByTestId('field-description').fill('Doubles a text');
    await page.getByTestId('param-add').click();
    await page.getByTestId('code-editor').fill('const { input1 } = input;\n  missing();');
    await page.getByTestId('trial-call').click();
    await page.getByTestId('code-mark').getByText('Line 2, column 3').waitFor();
    await page.getByTestId('code-editor').fill('return input.input1 + input.input1;');
    await page.getByTestId('trial-call').click();
    await page.locator('[data-testid=trial-result][data-ok=true]').getByText('texttext').waitFor();
    expect(problems).toEqual([]);
    await context.close();
  });
});
