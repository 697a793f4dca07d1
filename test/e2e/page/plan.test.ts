import process from 'node:process';
import type { Locator, Page } from 'playwright';
import { describe, expect, it } from 'vitest';
import { send, usePlayground } from '../../tools/browsers/playground.ts';

const playground = usePlayground();
const { shoot } = playground;

async function open(look: Parameters<typeof playground.open>[0] = {}): ReturnType<typeof playground.open> {
  const opened = await playground.open({ height: 900, ...look });
  await opened.page.locator('[data-testid=agent-card][data-agent=commodore]').click();
  return opened;
}

const plan = (page: Page, state: string): Locator => page.locator(`[data-testid=plan][data-state=${state}]`);

describe('a plan in the built playground', () => {
  it('shows its tasks until they are done', async () => {
    const { page, problems } = await open();
    await send(page, 'Calculate 1250 * 12; convert 5 knots to km/h');
    await page.getByTestId('plan').waitFor();
    await plan(page, 'done').waitFor();
    await page.getByTestId('send').waitFor();
    await expect.poll(() => page.locator('[data-testid=plan-node][data-status=done]').count()).toBe(3);
    expect(await page.locator('[data-role=assistant]').textContent()).toMatch(/15,?000/);
    await shoot(page, 'plan-done');
    expect(problems).toEqual([]);
  });

  it('asks a person, still asks after a reload, and goes on in the same answer', async () => {
    const { page, problems } = await open({ width: 360, height: 740, dark: true });
    await send(page, 'Calculate 6 * 7; ask me which port we sail for');
    await plan(page, 'suspended').waitFor();
    await page.getByTestId('plan-question').waitFor();
    await page.getByTestId('send').waitFor();
    await shoot(page, 'plan-question-phone-dark');
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
    await page.reload();
    await page.getByTestId('plan-text').fill('Bergen');
    await page.keyboard.press('Enter');
    await plan(page, 'done').waitFor();
    await page.getByTestId('send').waitFor();
    await shoot(page, 'plan-answered-phone-dark');
    expect(await page.getByTestId('plan-said').textContent()).toContain('You answered: Bergen');
    await expect.poll(() => page.getByTestId('message').count()).toBe(2);
    expect(problems).toEqual([]);
  });

  it('draws parents and dependencies, and shows the chosen task', async () => {
    const { page, problems } = await open({ dark: true });
    await send(page, 'Calculate 6 * 7, then convert 5 knots to km/h, then convert 3 miles to km; calculate 8 * 9');
    await plan(page, 'done').waitFor();
    await page.getByTestId('send').waitFor();
    const ways = await page.getByTestId('plan-way').evaluateAll((all) =>
      all.map((way) => Object.values((way as SVGElement).dataset).slice(1, 4).join(' '))
    );
    expect(ways).toEqual(expect.arrayContaining(['parent 1 1-1', 'after 1-1 1-2', 'after 1-2 1-3', 'parent 1 1-4']));
    await page.locator('[data-testid=plan-node][data-address="1-1"]').focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    expect(await page.getByTestId('plan-chosen').textContent()).toMatch(/part-3 convert 3 miles to km.*after part-2/i);
    await shoot(page, 'plan-graph-dark');
    expect(problems).toEqual([]);
  });

  it('keeps two hundred tasks readable, in a frame that is scrolled', async () => {
    const { page } = await open();
    const goals = Array.from({ length: 199 }, (_, i) => `Calculate ${i} * ${i}`);
    await send(page, goals.join('; '));
    await page.locator('[data-testid=plan-node]').nth(199).waitFor();
    const frame = page.getByTestId('plan-graph');
    const height = await frame.evaluate(({ clientHeight, scrollHeight }) => [clientHeight, scrollHeight]);
    expect(height[0]).toBeLessThan(500);
    expect(height[1]).toBeGreaterThan(500);
    await page.locator('[data-testid=plan-node][data-look=done]').first().waitFor();
    await shoot(page, 'plan-two-hundred');
    await page.locator('[data-testid=plan-node][data-address="1-150"]').click();
    expect(await page.getByTestId('plan-chosen').textContent()).toContain('Calculate 149 * 149');
    await shoot(page, 'plan-two-hundred-chosen');
  });

  it("asks before a sub-agent's call that needs a person, and calls nothing that is denied", async () => {
    const { page, problems } = await open({ dark: true });
    await send(page, 'Add a note: "Throw me overboard"; calculate 6 * 7');
    await plan(page, 'done').waitFor();
    await page.getByTestId('send').waitFor();

    await send(page, 'Delete note-1; calculate 7 * 8');
    const question = page.locator('[data-testid=plan-question][data-kind=approval]');
    await question.waitFor();
    expect(await question.textContent()).toMatch(/Allow this call\?.*part-1 Delete note-1/s);
    expect(await page.getByTestId('plan-asked').textContent()).toBe(
      'Call Delete a note (notes_delete)\nPreview: “Throw me overboard”\n"noteId": "note-1"',
    );
    await shoot(page, 'plan-approval-dark');
    await page.getByTestId('deny-reason').fill('I still need it');
    await page.keyboard.press('Enter');
    await plan(page, 'done').nth(1).waitFor();
    await page.getByTestId('send').waitFor();
    expect(await page.getByTestId('plan-said').textContent()).toContain('You denied this call: I still need it');
    await shoot(page, 'plan-denied-dark');

    await send(page, 'Delete note-1; calculate 8 * 9');
    await page.getByTestId('approve').waitFor();
    await page.getByTestId('send').waitFor();
    await page.reload(); // the question waits
    await page.getByTestId('approve').click();
    await plan(page, 'done').nth(2).waitFor();
    await page.getByTestId('send').waitFor();
    await page.locator('[data-role=assistant]').last().getByText(/deleted/i).first().waitFor();
    await shoot(page, 'plan-approved-dark');
    expect(problems).toEqual([]);
  });
});

const nodes = (page: Page, status: string): Locator => page.locator(`[data-testid=plan-node][data-status=${status}]`);

/** A plan whose first task has acted, whose second writes, and whose third will act. */
async function openWorking(lasting = false) {
  const context = await playground.newContext({ lasting });
  const opened = await open({ context });
  await send(opened.page, 'Add a note: "Cast off", then write 150 words about tides, then add a note: "Moor"');
  await nodes(opened.page, 'done').waitFor();
  return { ...opened, context, address: opened.page.url() };
}

/** Waits for the end of the plan, in its answer, and checks that each of its tasks has acted once. */
async function expectWhole(page: Page): Promise<void> {
  await plan(page, 'done').waitFor();
  await page.getByTestId('send').waitFor();
  expect(await nodes(page, 'done').count()).toBe(4);
  expect(await page.getByTestId('message').count()).toBe(2);
  expect(await page.locator('[data-role=assistant]').getAttribute('data-outcome')).toBe('done');
  const { page: logbook } = await playground.open({ context: page.context() });
  await logbook.locator('[data-testid=agent-card][data-agent=logbook]').click();
  await send(logbook, 'Show me all my notes');
  await logbook.locator('[data-testid=tool-card][data-tool=notes_list][data-state=result]').waitFor();
  await logbook.getByTestId('send').waitFor();
  const said = await logbook.locator('[data-role=assistant]').innerText();
  for (const note of ['Cast off', 'Moor']) expect(said.match(new RegExp(`\t${note}\t`, 'g'))).toHaveLength(1);
}

describe('a plan at work whose page goes away', () => {
  it('goes on by itself after a reload, without a step twice', async () => {
    const { page, problems } = await openWorking();
    await page.reload();
    await plan(page, 'running').waitFor();
    await expectWhole(page);
    expect(problems).toEqual([]);
  });

  it('goes on while it is reloaded where its worker lasts', async () => {
    const { page, problems } = await openWorking(true);
    await page.reload();
    await expectWhole(page);
    expect(problems).toEqual([]);
  });

  it('asks a person after a reload who was not asked before', async () => {
    const { page } = await open();
    await send(page, 'Write 60 words about tides; ask me which port we sail for');
    await page.getByTestId('plan').waitFor();
    await page.reload();
    await plan(page, 'suspended').waitFor();
    await page.getByTestId('plan-text').fill('Bergen');
    await page.getByTestId('plan-send').click();
    await plan(page, 'done').waitFor();
    await expect.poll(() => page.getByTestId('message').count()).toBe(2);
    expect(await page.getByTestId('plan-said').textContent()).toContain('You answered: Bergen');
  });

  it('goes on in another tab that shows it, when its own is closed', async () => {
    const { page, context, address } = await openWorking();
    const other = await playground.open({ context });
    await other.page.goto(address);
    await plan(other.page, 'running').waitFor();
    await page.close();
    await expectWhole(other.page);
    expect(other.problems).toEqual([]);
  });

  it('goes on in the next page when its process has crashed', async () => {
    const { page, context, address } = await openWorking();
    await page.goto('chrome://crash').catch(() => undefined);
    const next = await playground.open({ context });
    await next.page.goto(address);
    await expectWhole(next.page);
    expect(next.problems).toEqual([]);
  });

  it.skipIf(process.env['E2E_BROWSER'] === 'firefox')(
    'waits for its page where that is frozen, and ends there',
    async () => {
      const { page, context, address, problems } = await openWorking();
      const devtools = await context.newCDPSession(page);
      await devtools.send('Page.setWebLifecycleState', { state: 'frozen' });
      const other = await playground.open({ context });
      await other.page.goto(address);
      await plan(other.page, 'running').waitFor();
      await devtools.send('Page.setWebLifecycleState', { state: 'active' });
      await expectWhole(page);
      await plan(other.page, 'done').first().waitFor();
      expect([...problems, ...other.problems]).toEqual([]);
    },
  );
});
