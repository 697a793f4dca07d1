import type { Page } from 'playwright';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startFaultServer } from '../../tools/servers/fault-server.ts';
import { send, usePlayground } from '../../tools/browsers/playground.ts';

const { open, shoot } = usePlayground();
let faults: Awaited<ReturnType<typeof startFaultServer>>;

beforeAll(async () => {
  faults = await startFaultServer();
});

afterAll(() => faults.close());

const answer = (page: Page) => page.locator('[data-testid=message][data-role=assistant]').last();

describe('the built playground', () => {
  it('streams an answer from the worker and shows the tool call from its start to its end', async () => {
    const { page, problems } = await open();
    await shoot(page, 'welcome');
    await send(page, 'What is 6 * 7?');
    const card = page.locator('[data-testid=tool-card][data-tool=calculator]');
    await card.waitFor();
    await page.getByTestId('answer-footer').waitFor();
    expect(await card.getAttribute('data-state')).toBe('result');
    expect(await answer(page).textContent()).toContain('42');
    await shoot(page, 'answer');
    expect(problems).toEqual([]);
  });

  it('stops a long answer and keeps what was said', async () => {
    const { page, problems } = await open();
    await send(page, 'Write a long answer about tides');
    await page.getByTestId('stop').waitFor();
    await answer(page).getByText(/(?:\w+\W+){8}/).first().waitFor();
    await page.getByTestId('stop').click();
    await page.getByTestId('stopped').waitFor();
    await page.getByTestId('send').waitFor();
    expect((await answer(page).textContent())?.length).toBeGreaterThan(10);
    await shoot(page, 'stopped');
    expect(problems).toEqual([]);
  });

  it('keeps the chat over a reload', async () => {
    const { page } = await open();
    await send(page, 'What is 20 + 22?');
    await page.getByTestId('answer-footer').waitFor();
    await page.reload();
    await page.getByTestId('chat-item').first().getByRole('button').first().click();
    await page.getByTestId('answer-footer').waitFor();
    expect(await answer(page).textContent()).toContain('42');
  });

  it('says clearly that an endpoint refused the key, and keeps the key off the page', async () => {
    const { page } = await open();
    await page.getByTestId('model-badge').click();
    await page.getByTestId('settings-endpoint').check();
    await page.getByTestId('settings-base-url').fill(faults.url);
    await page.getByTestId('settings-model').fill('401');
    await page.getByTestId('settings-key').fill('sk-SECRET-0123456789');
    await shoot(page, 'settings');
    await page.getByTestId('settings-save').click();
    await send(page, 'Hello');
    const callout = page.getByTestId('error-callout');
    await callout.waitFor();
    expect(await callout.textContent()).toContain('refused the key');
    await shoot(page, 'wrong-key');
    expect(await page.content()).not.toContain('SECRET');
    expect(await page.evaluate(() => JSON.stringify(localStorage))).not.toContain('SECRET');
  });

  it('answers from an OpenAI-compatible endpoint as soon as one is connected', async () => {
    const { page, problems } = await open();
    await page.getByTestId('model-badge').click();
    await page.getByTestId('settings-endpoint').check();
    await page.getByTestId('settings-base-url').fill(faults.url);
    await page.getByTestId('settings-model').fill('text');
    await page.getByTestId('settings-key').fill('sk-SECRET-0123456789');
    await page.getByTestId('settings-save').click();
    await send(page, 'Hello');
    await page.getByTestId('answer-footer').waitFor();
    expect((await answer(page).textContent())?.length).toBeGreaterThan(3);
    expect(problems).toEqual([]);
  });

  it('shows the failures that the drill rehearses', async () => {
    const { page } = await open();
    await page.locator('[data-testid=agent-card][data-agent=drill]').click();
    await send(page, '/flaky {"mode": "error"}');
    await page.locator('[data-testid=tool-card][data-tool=flaky][data-state=error]').waitFor();
    await page.getByTestId('answer-footer').waitFor();
    expect(await answer(page).textContent()).toContain('failed');
    await shoot(page, 'failing-tool');
  });

  it('asks before a note is deleted, still asks after a reload, and goes on in the same answer', async () => {
    const { page, problems } = await open();
    await page.locator('[data-testid=agent-card][data-agent=logbook]').click();
    await page.getByTestId('suggestion').getByText('overboard').click();
    await page.getByTestId('approve').waitFor();
    await shoot(page, 'approval');
    await page.reload();
    await page.getByRole('heading', { name: 'Delete a note: “Throw me overboard”' }).waitFor();
    expect(await page.getByTestId('approval-facts').textContent()).toMatch(
      /Delete a note \(notes_delete\).*"noteId".*"note-1"/s,
    );
    await page.getByTestId('approve').focus();
    await page.keyboard.press('Enter');
    await page.locator('[data-testid=tool-card][data-tool=notes_delete][data-state=result]').waitFor();
    await answer(page).getByText('deleted').last().waitFor();
    await page.getByTestId('send').waitFor();
    await shoot(page, 'approved');
    await expect.poll(() => page.getByTestId('message').count()).toBe(2);
    await send(page, 'List my notes');
    await page.locator('[data-testid=tool-card][data-tool=notes_list][data-state=result]').waitFor();
    expect(problems).toEqual([]);
  });

  it('deletes nothing that was denied, and the agent receives the reason', async () => {
    const { page } = await open({ width: 360, height: 740, dark: true });
    await page.locator('[data-testid=agent-card][data-agent=logbook]').click();
    await page.getByTestId('suggestion').getByText('overboard').click();
    await page.getByTestId('deny-reason').fill('I still need it');
    await shoot(page, 'approval-phone-dark');
    await page.keyboard.press('Enter');
    await page.locator('[data-testid=tool-card][data-tool=notes_delete][data-state=denied]').waitFor();
    await answer(page).getByText('a person denied it: I still need it').waitFor();
    await page.getByTestId('send').waitFor();
    await shoot(page, 'denied-phone-dark');
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
    await send(page, 'Read note-1');
    await page.locator('[data-testid=tool-card][data-tool=notes_read][data-state=result]').waitFor();
  });

  it('finds, loads and calls one of 500 tools, and keeps it for the next message', async () => {
    const { page, problems } = await open();
    await page.locator('[data-testid=agent-card][data-agent=purser]').click();
    await page.getByTestId('suggestion').getByText('anchor winch').click();
    await page.locator('[data-testid=tool-card][data-tool=tool_find][data-state=result]').waitFor();
    await page.locator('[data-testid=tool-card][data-tool=tool_load][data-state=result]').waitFor();
    await page.locator('[data-testid=tool-card][data-tool=ticket_create][data-state=result]').waitFor();
    await page.getByTestId('answer-footer').waitFor();
    await shoot(page, 'discovery');
    await page.getByTestId('chat-more').click();
    await page.getByTestId('chat-usage').click();
    expect(await page.getByTestId('totals').textContent()).toMatch(/Saved by discoveryabout [\d,]+ input tokens/);
    await page.getByTestId('totals-close').click();
    await send(page, 'Create a ticket called "Leak in the hold"');
    await answer(page).getByText('ticket-2').first().waitFor();
    await page.getByTestId('send').waitFor();
    expect(await answer(page).locator('[data-tool=tool_load]').count()).toBe(0);
    expect(problems).toEqual([]);
  });

  it('says what to do where no issuer certifies the page for a Pinnace endpoint', async () => {
    const { page } = await open();
    await page.getByTestId('model-badge').click();
    await page.getByTestId('settings-pinnace').check();
    await page.getByTestId('settings-save').click();
    expect(await page.getByTestId('settings-failure').textContent()).toContain('npm start');
    await shoot(page, 'no-issuer');
  });
});
