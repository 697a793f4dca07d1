import { afterEach, describe, expect, it, vi } from 'vitest';
import { PinnaceError } from '../../../../src/base/errors.ts';
import { fakeInspector } from '../../../fixtures/page/inspector.ts';
import { agents, answer, mount, type Page, send } from '../../../fixtures/page/playground.tsx';

let page: Page;

afterEach(() => page.unmount());

describe('a conversation', () => {
  it('shows the question, then the answer as it comes, and what it cost', async () => {
    page = await mount();
    await page.playground.settings.useEndpoint({ baseUrl: 'https://models.example/v1', model: 'small', apiKey: 'k' });
    await send(page, 'How is the tide?');
    expect((await page.find('message')).dataset['role']).toBe('user');
    page.transport.write({ type: 'text-delta', id: 't', delta: 'It is **hi' });
    await vi.waitFor(() => expect(page.all('message')[1]?.textContent).toContain('It is **hi'));
    page.transport.write(
      { type: 'text-delta', id: 't', delta: 'gh**.' },
      { type: 'data-usage', data: { steps: 2, toolCalls: 1, totalTokens: 1234, durationMs: 4200 } },
      { type: 'finish', finishReason: 'stop' },
    );
    page.transport.close();
    const footer = await page.find('answer-footer');
    expect(footer.textContent).toContain('4.2 s1,234 tokensmodels.example · small');
    await vi.waitFor(() => expect(page.all('message')[1]?.querySelector('strong')?.textContent).toBe('high'));
    await vi.waitFor(() => expect(page.all('announcement')[0]?.textContent).toBe('It is high.'));
    expect(page.all('composer')[0]).toHaveProperty('value', '');
  });

  it('says the level of a guarded agent, and what its chat has read of others', async () => {
    page = await mount({ agents: agents.map((agent) => ({ ...agent, trust: 'guarded' })) });
    expect((await page.find('trust')).textContent).toBe('Guarded');
    await send(page, 'What is in my mail?');
    page.transport.write(
      { type: 'data-run', id: 'r', data: { runId: 'r', state: 'completed', read: ['mcp:mail', 'data-source:wiki'] } },
      { type: 'finish', finishReason: 'stop' },
    );
    page.transport.close();
    expect((await page.find('has-read')).textContent).toContain('Has read: mail, wiki.');
  });

  it('shows the price of an answer, and the fallback that gave it', async () => {
    page = await mount();
    await page.playground.settings.useEndpoint({ baseUrl: 'https://models.example/v1', model: 'small', apiKey: 'k' });
    await send(page, 'How is the tide?');
    page.transport.write(
      { type: 'data-model', data: { providerId: 'spare', modelId: 'tiny' } },
      { type: 'text-delta', id: 't', delta: 'High.' },
      {
        type: 'data-usage',
        data: { steps: 1, totalTokens: 1234, estimated: true, cost: { amount: 0.0123, currency: 'USD' } },
      },
      { type: 'finish', finishReason: 'stop' },
    );
    page.transport.close();
    const footer = await page.find('answer-footer');
    expect(footer.textContent).toContain('about 1,234 tokens0.0123 USDtiny (fallback for models.example · small)');
  });

  it('sends with Enter, not with Shift and Enter, and not in the middle of a word being composed', async () => {
    page = await mount();
    await page.type('composer', 'Hi');
    (await page.find('composer')).focus();
    await vi.waitFor(() => expect(page.all('send')[0]).toHaveProperty('disabled', false));
    page.press('Enter', { shiftKey: true });
    page.press('Enter', { isComposing: true });
    expect(page.transport.sent).toHaveLength(0);
    page.press('Enter');
    await vi.waitFor(() => expect(page.transport.sent).toHaveLength(1));
  });

  it('is stopped by Esc', async () => {
    page = await mount();
    await send(page, 'Hi');
    await page.find('stop');
    page.press('Escape');
    expect((await page.find('stopped')).textContent).toContain('You stopped');
  });

  it('hands a message to the running agent, and shows where the agent read it', async () => {
    page = await mount();
    await send(page, 'Hi');
    page.transport.write({ type: 'data-run', id: 'run-1', data: { runId: 'run-1', state: 'running' } });
    await vi.waitFor(() =>
      expect(page.playground.chats.current.value.messages.value[1]).toHaveProperty('facts.value.run')
    );
    await page.type('composer', 'In metres');
    await page.click('send');
    await vi.waitFor(() => expect(page.all('queued')[0]?.textContent).toContain('Sent to the running agent'));
    expect(page.all('composer')[0]).toHaveProperty('value', '');
    const [{ id = '', ...steered } = {}] = page.transport.steered;
    expect(steered).toEqual({ runId: 'run-1', text: 'In metres' });
    page.transport.write({ type: 'steering-message', id, parts: [{ type: 'text', text: 'In metres' }] });
    expect((await page.find('steering')).textContent).toContain('In metres');
    await vi.waitFor(() => expect(page.all('queued')).toHaveLength(0));
    await answer(page, 'Two metres');
    await page.find('answer-footer');
    expect(page.transport.sent).toHaveLength(1);
  });

  it('sends a message that the running agent does not take as the next one', async () => {
    page = await mount();
    await send(page, 'Hi');
    page.transport.write({ type: 'data-run', id: 'run-1', data: { runId: 'run-1', state: 'running' } });
    await vi.waitFor(() =>
      expect(page.playground.chats.current.value.messages.value[1]).toHaveProperty('facts.value.run')
    );
    page.transport.refuseNext(new PinnaceError('conflict', 'The run has ended', { details: { reason: 'run_ended' } }));
    await page.type('composer', 'In metres');
    await page.click('send');
    await vi.waitFor(() => expect(page.all('queued')[0]?.textContent).toContain('as your next message'));
    await answer(page, 'Six feet');
    await vi.waitFor(() => expect(page.transport.sent).toHaveLength(2));
    expect(page.transport.sent[1]?.messages.at(-1)).toMatchObject({ role: 'user', parts: [{ text: 'In metres' }] });
  });

  it('returns a message to the composer that no agent has read when its answer is stopped', async () => {
    page = await mount();
    await send(page, 'Hi');
    await page.type('composer', 'In metres');
    await page.click('send');
    await page.find('queued');
    await page.click('stop');
    await page.find('stopped');
    await vi.waitFor(() => expect(page.all('composer')[0]).toHaveProperty('value', 'In metres'));
    expect(page.transport.sent).toHaveLength(1);
  });

  it('asks again for the last answer', async () => {
    page = await mount();
    await send(page, 'Hi');
    await answer(page, 'First');
    await page.click('retry');
    await vi.waitFor(() => expect(page.transport.sent).toHaveLength(2));
    await answer(page, 'Second');
    await vi.waitFor(() => expect(page.all('message')[1]?.textContent).toContain('Second'));
    expect(page.all('message')).toHaveLength(2);
  });

  it('copies the answer', async () => {
    const copied = vi.spyOn(navigator.clipboard, 'writeText').mockResolvedValue();
    page = await mount();
    await send(page, 'Hi');
    await answer(page, 'One **two**');
    await page.click('copy-answer');
    expect(copied).toHaveBeenCalledWith('One **two**');
    await vi.waitFor(() => expect(page.all('copy-answer')[0]?.textContent).toBe('Copied'));
  });

  it('shows what went wrong, with its code and what to do', async () => {
    page = await mount();
    await send(page, 'Hi');
    const error = {
      code: 'unavailable',
      message: 'The model endpoint refused the key',
      retryable: false,
      details: { reason: 'provider_auth' },
    };
    page.transport.write(
      { type: 'data-run', data: { runId: 'r', state: 'failed', error } },
      { type: 'error', errorText: error.message },
    );
    page.transport.close();
    const callout = await page.find('error-callout');
    expect(callout.dataset['code']).toBe('unavailable');
    expect(callout.getAttribute('role')).toBe('alert');
    expect(callout.textContent).toContain('The model server refused the key');
    expect(callout.textContent).toContain(error.message);
    await page.click('remedy-settings');
    await page.find('settings-dialog');
  });

  it('repeats what the provider said, and folds the code and the trace', async () => {
    const prompt = { spanId: 's', model: 'm', messages: [], tools: [], settings: {}, said: 'You exceeded your quota' };
    page = await mount({ inspector: fakeInspector({ prompts: [prompt] }).control });
    await send(page, 'Hi');
    const error = {
      code: 'rate_limited',
      message: 'The model endpoint takes no more requests for now',
      retryable: true,
      details: { reason: 'provider_rate_limited' },
    };
    page.transport.write(
      { type: 'data-run', data: { runId: 'r', traceId: 'trace-1', state: 'failed', error } },
      { type: 'error', errorText: error.message },
    );
    page.transport.close();
    expect((await page.find('callout-said')).textContent).toBe('The provider said: “You exceeded your quota”');
    await vi.waitFor(() =>
      expect(page.all('error-callout')[0]?.querySelector('h3')?.textContent).toBe('The account has no quota left')
    );
    const details = page.all('error-callout')[0]?.querySelector('details');
    expect(details?.open).toBe(false);
    expect(details?.textContent).toContain('rate_limited');
    expect(details?.textContent).toContain('trace-1');
  });

  it('shows sources that are safe as links and others as text', async () => {
    page = await mount();
    await send(page, 'Hi');
    page.transport.write(
      { type: 'source-url', sourceId: '1', url: 'https://example.org/', title: 'Almanac' },
      { type: 'source-url', sourceId: '2', url: 'javascript:alert(1)', title: 'Trap' },
    );
    await answer(page, 'See');
    await vi.waitFor(() => expect(document.querySelectorAll('.sources a')).toHaveLength(1));
    expect(document.querySelector('.sources')?.textContent).toContain('Trap');
  });
});
