import { afterEach, describe, expect, it, vi } from 'vitest';
import { mount, type Page, send } from '../../../fixtures/page/playground.tsx';

let page: Page;

afterEach(() => page.unmount());

describe('an empty page', () => {
  it('says what Pinnace is, and how to connect a model', async () => {
    page = await mount();
    expect(page.all('welcome')[0]?.querySelector('h1')?.textContent).toBe('AI agents that run in your browser');
    expect(page.all('welcome')[0]?.textContent).toContain('an agent runtime in TypeScript');
    await page.click('welcome-connect');
    await page.find('settings-dialog');
  });

  it('is short once there is a chat', async () => {
    page = await mount();
    await send(page, 'Hi');
    await page.click('new-chat');
    await vi.waitFor(() => expect(page.all('welcome')[0]?.querySelector('h1')?.textContent).toMatch(/^Ask \w+/));
    expect(page.all('welcome')[0]?.textContent).not.toContain('no account');
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
});
