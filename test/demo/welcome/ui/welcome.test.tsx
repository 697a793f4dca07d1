import { afterEach, describe, expect, it, vi } from 'vitest';
import { mount, type Page, send } from '../../../fixtures/page/playground.tsx';

let page: Page;

afterEach(() => page.unmount());

describe('an empty page', () => {
  it('shows the agents with their tools, and suggestions for the chosen one', async () => {
    page = await mount();
    expect(page.all('agent-card').map(({ dataset }) => [dataset['agent'], dataset['chosen']])).toEqual([
      ['navigator', 'true'],
      ['mate', 'false'],
      ['pilot', 'false'],
    ]);
    expect(page.all('agent-card')[0]?.textContent).toContain('+1');
    expect(page.all('suggestion')).toHaveLength(1);
  });

  it('sends the messages to the agent that was chosen', async () => {
    page = await mount();
    page.all('agent-card')[1]?.querySelector('input')?.click();
    await vi.waitFor(() => expect(page.all('agent-card')[1]?.dataset['chosen']).toBe('true'));
    expect(page.all('suggestion')).toHaveLength(0);
    await send(page, 'Hi');
    expect(page.transport.sent[0]?.body).toEqual({ agentId: 'mate' });
  });

  it('sends a suggestion when it is pressed', async () => {
    page = await mount();
    await page.click('suggestion');
    await vi.waitFor(() =>
      expect(page.transport.sent[0]?.messages).toMatchObject([{ parts: [{ text: 'How far is it?' }] }])
    );
  });

  it('cannot send nothing', async () => {
    page = await mount();
    expect(await page.find('send')).toHaveProperty('disabled', true);
    await page.type('composer', '  ');
    page.press('Enter');
    expect(page.transport.sent).toHaveLength(0);
  });
});
