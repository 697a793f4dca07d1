import { afterEach, describe, expect, it, vi } from 'vitest';
import { mount, type Page, send } from '../../../fixtures/page/playground.tsx';

let page: Page | undefined;

afterEach(() => {
  page?.unmount();
  vi.useRealTimers();
});

const retry = {
  attempt: 2,
  of: 3,
  delayMs: 4000,
  providerId: 'p',
  modelId: 'small',
  code: 'rate_limited',
  reason: 'provider_rate_limited',
};

describe('a model call that is tried again', () => {
  it('counts down, is read out once, and ends with the next chunk', async () => {
    page = await mount();
    const { playground, transport } = page;
    await send(page, 'Hello');
    vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] });
    transport.write({ type: 'data-retry', data: { ...retry, retryAt: Date.now() + 4000 }, transient: true });
    const line = await page.find('retry-line');
    const text = () => line.querySelector('p')?.textContent.replace('\u00a0', ' ');
    await vi.waitFor(() => expect(text()).toMatch(/^The provider is busy\. Trying again in [34] sTry 2 of 3$/));
    const announced = playground.announcement.value;
    expect(announced).toBe('The provider is busy. Trying again in 4\u00a0s');
    await vi.advanceTimersByTimeAsync(2000);
    await vi.waitFor(() => expect(text()).toContain('Trying again in 2 s'));
    await vi.advanceTimersByTimeAsync(3000);
    await vi.waitFor(() => expect(text()).toBe('The provider is busy. Trying againTry 2 of 3'));
    expect(playground.announcement.value).toBe(announced);
    expect(line.closest('[aria-live]')).toBeNull();
    vi.useRealTimers();
    transport.write({ type: 'data-retry', data: { ...retry, attempt: 1, delayMs: 0, retryAt: 0, isFallback: true } });
    await vi.waitFor(async () => expect((await page?.find('retry-line'))?.textContent).toContain('Trying small'));
    transport.write({ type: 'text-delta', id: 't', delta: 'Here' });
    await vi.waitFor(() => expect(page?.all('retry-line')).toEqual([]));
  });

  it('can be stopped', async () => {
    page = await mount();
    await send(page, 'Hello');
    page.transport.write({ type: 'data-retry', data: { ...retry, retryAt: Date.now() + 4000 } });
    await page.click('retry-stop');
    expect((await page.find('stopped')).textContent).toBe('You stopped this answer.');
    expect(page.all('retry-line')).toEqual([]);
  });
});
