import type { Page } from 'playwright';
import { describe, expect, it } from 'vitest';
import { usePlayground } from '../../../tools/browsers/playground.ts';
import { choose, ended } from '../../../tools/screens/ways.ts';

const { open, newContext, shoot } = usePlayground();

const program = (page: Page, state: string) => page.locator(`[data-testid=program][data-state=${state}]`);
const calls = (page: Page) => page.getByTestId('program').last().getByTestId('program-call');

/** Sends one of the agent's suggestions by a click in a new chat. */
async function suggest(page: Page, text: string): Promise<void> {
  await page.getByTestId('new-chat').click();
  await choose(page, 'quartermaster');
  await page.getByTestId('suggestion').getByText(text).click();
}

/** Adds the notes that the other programs read, with a program. */
async function addNotes(page: Page): Promise<void> {
  await suggest(page, 'Add a note "Buy rope and paint"');
  await ended(page);
}

describe('programs in the playground', () => {
  it('make several calls at once, shown as sentences, with their code and result folded', async () => {
    const { page, problems } = await open();
    await suggest(page, 'What time is it in Tokyo');
    await program(page, 'completed').waitFor();
    await ended(page);
    await expect.poll(() => calls(page).count()).toBe(4);
    expect(await calls(page).first().textContent()).toMatch(/^Current time: done in \d+ ms$/);
    expect(await page.getByTestId('program-summary').textContent()).toBe('4 calls');
    await shoot(page, 'program-done');
    expect(await page.locator('.code-block').count()).toBe(0);
    await page.getByTestId('program-code').click();
    await page.locator('.code-block').getByText('Promise.all').waitFor();
    await page.locator('.code-block .token-kwd').first().waitFor();
    await page.getByTestId('program-result').click();
    await page.locator('.json-view').getByText('42.164').waitFor();
    await shoot(page, 'program-open');
    await page.reload();
    await program(page, 'completed').waitFor();
    await expect.poll(() => calls(page).count()).toBe(4);
    expect(problems).toEqual([]);
  });

  it('loop over a list that the model never sees', async () => {
    const { page, problems } = await open();
    await addNotes(page);
    await page.getByTestId('program-summary').getByText('3 calls, 3 changes').waitFor();
    await suggest(page, 'Count the words of every note');
    await ended(page);
    await page.getByTestId('program-summary').getByText('7 calls').waitFor();
    expect(await page.getByTestId('message').last().textContent()).toContain('Coil the old rope');
    expect(problems).toEqual([]);
  });

  it('wait for decisions on their calls, go on with them, and say which were denied', async () => {
    const { page, problems } = await open();
    await addNotes(page);
    await suggest(page, 'Delete every note about "rope"');
    await program(page, 'suspended').waitFor();
    await page.getByTestId('approval').nth(1).waitFor();
    await page.getByTestId('program-summary').getByText('1 call, 2 waiting').waitFor();
    await shoot(page, 'program-suspended');
    await page.reload();
    await program(page, 'suspended').waitFor();
    await page.getByTestId('approve').first().click();
    await page.getByTestId('approval-answer').first().waitFor();
    await page.getByTestId('deny').first().click();
    await program(page, 'completed').waitFor();
    await ended(page);
    const states = await calls(page).evaluateAll((all) => all.map(({ dataset }) => dataset['state']));
    expect(states).toEqual(['replayed', 'done', 'denied']);
    await shoot(page, 'program-decided');
    expect(problems).toEqual([]);
  });

  it('run in the page of a shared worker', async () => {
    const { page, problems } = await open({ context: await newContext({ lasting: true }) });
    await suggest(page, 'What time is it in Tokyo');
    await program(page, 'completed').waitFor();
    await expect.poll(() => calls(page).count()).toBe(4);
    expect(problems).toEqual([]);
  });
});
