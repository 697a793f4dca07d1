/** The steps of the walk: what a visitor tries first, in the order of the page. */

import type { Locator, Page } from 'playwright';
import { takeStop, titleOf } from '../../tools/browsers/tour.ts';
import type { Visitor } from './visitor.ts';

interface Step {
  readonly figure: string;
  /** The longest time, in seconds. */
  readonly bar?: number;
  /** Takes it; returns the milliseconds that the page took. */
  readonly act: (visitor: Visitor) => Promise<number>;
}

const answers = (page: Page): Locator => page.locator('[data-testid=message][data-role=assistant]');
const words = (page: Page): Promise<string> =>
  answers(page).last().locator('.markdown').allInnerTexts()
    .then((texts) => texts.join(' '));

/** Returns all steps; `url` is the address of the page. */
export function steps(url: string): readonly [Step, ...Step[]] {
  return [
    {
      figure: 'Usable: the composer takes text',
      bar: 1,
      async act({ page }) {
        await page.goto(url);
        await page.locator('[data-testid=composer]:enabled').waitFor();
        return await page.evaluate(() => performance.now());
      },
    },
    { figure: 'First answer, to “hello”', bar: 1, act: (visitor) => ask(visitor, 'hello', '.markdown') },
    {
      figure: 'First result of a tool, for 6 * 7',
      bar: 1,
      act: (visitor) => ask(visitor, 'What is 6 * 7?', '[data-testid=tool-card][data-state=result]'),
    },
    { figure: 'First approval, after a suggestion of the welcome', bar: 1, act: approval },
    { figure: 'An agent of one’s own, from a template to its first answer', act: ownAgent },
    { figure: 'The ways to connect a model', bar: 1, act: connect },
    { figure: 'A reload in mid-run: the answer is there and goes on', bar: 1, act: reload },
    { figure: 'The plug pulled in mid-plan: until the plan is complete', act: plug },
  ];
}

async function ask(visitor: Visitor, text: string, shows: string): Promise<number> {
  const { page } = visitor;
  const before = await answers(page).count();
  await visitor.write(page.getByTestId('composer'), text);
  await visitor.press('Enter');
  const ms = await visitor.waits(answers(page).nth(before).locator(shows).first());
  await ended(page);
  return ms;
}

async function approval(visitor: Visitor): Promise<number> {
  const { page } = visitor;
  await visitor.click(page.getByTestId('new-chat'));
  await visitor.click(page.getByTestId('suggestion').nth(1));
  const ms = await visitor.waits(page.getByTestId('approve'));
  await visitor.click(page.getByTestId('approve'));
  await ended(page);
  return ms;
}

async function ownAgent(visitor: Visitor): Promise<number> {
  const { page } = visitor;
  const from = performance.now();
  await visitor.click(page.getByTestId('new-chat'));
  await visitor.click(page.getByTestId('new-agent'));
  await visitor.click(page.getByTestId('template').first());
  await visitor.click(page.getByTestId('record-try'));
  await page.getByTestId('agents').waitFor({ state: 'detached' });
  await ask(visitor, 'What is 6 * 7?', '.markdown');
  return performance.now() - from;
}

async function connect(visitor: Visitor): Promise<number> {
  const { page } = visitor;
  await visitor.click(page.getByTestId('model-badge'));
  const ms = await visitor.waits(page.getByTestId('settings-dialog'));
  await page.keyboard.press('Escape');
  await page.getByTestId('settings-dialog').waitFor({ state: 'detached' });
  return ms;
}

/** Fails where the reload loses a word. */
async function reload(visitor: Visitor): Promise<number> {
  const { page } = visitor;
  await visitor.click(page.getByTestId('new-chat'));
  await visitor.write(page.getByTestId('composer'), 'Write 400 words about tides');
  await visitor.press('Enter');
  await answers(page).getByText(/(?:\w+\W+){40}/).first().waitFor();
  const before = (await words(page)).split(/\s+/).slice(0, 20).join(' ');
  const from = performance.now();
  await page.reload();
  await answers(page).getByText(before.slice(0, 40)).first().waitFor();
  const ms = performance.now() - from;
  await ended(page);
  const count = (await words(page)).split(/\s+/).length;
  if (count < 400) throw new Error(`The reload lost words: ${count} of 400`);
  return ms;
}

async function plug(visitor: Visitor): Promise<number> {
  const { page } = visitor;
  await visitor.click(page.getByTestId('new-chat'));
  await visitor.click(page.getByTestId('open-tour'));
  await visitor.click(page.getByTestId('tour-step').last());
  if (await titleOf(page) !== 'Pull the plug') throw new Error('The tour has another last stop');
  const from = performance.now();
  await takeStop(page);
  return performance.now() - from;
}

async function ended(page: Page): Promise<void> {
  await page.getByTestId('answer-footer').last().waitFor();
  await page.getByTestId('send').waitFor();
}
