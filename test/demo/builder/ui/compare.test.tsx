import { afterEach, describe, expect, it, vi } from 'vitest';
import { mount, type Page } from '../../../fixtures/page/playground.tsx';
import { hostedRegistry } from '../../../fixtures/page/registry-host.ts';

let page: Page;
let host: ReturnType<typeof hostedRegistry>;

afterEach(() => page.unmount());

/** What is in a side; the page has two of each. */
function of(side: 'A' | 'B', testId: string): HTMLInputElement {
  const found = page.all(`side-${side}`)[0]?.querySelector(`[data-testid="${testId}"]`);
  if (!found) throw new Error(`There is no "${testId}" in ${side}`);
  return found as HTMLInputElement; // safe enough: what has no value fails the test
}

async function write(side: 'A' | 'B', testId: string, value: string): Promise<void> {
  const field = of(side, testId);
  field.value = value;
  field.dispatchEvent(new Event('change', { bubbles: true }));
}

async function openCompare(): Promise<void> {
  host = hostedRegistry();
  page = await mount({ registry: host.control });
  await page.click('compare');
  await vi.waitFor(() => expect(of('B', 'side-instructions').value).toContain('You are Navigator'));
}

async function send(text: string): Promise<readonly (string | undefined)[]> {
  const before = page.transport.sent.length;
  await page.type('compare-text', text);
  await vi.waitFor(() => expect(page.all('compare-send')[0]).toHaveProperty('disabled', false));
  await page.click('compare-send');
  await vi.waitFor(() => expect(page.transport.sent.length).toBe(before + 2));
  return page.transport.sent.slice(before).map(({ body }) => (body as { readonly agentId?: string }).agentId);
}

describe('two agents side by side', () => {
  it('get the same message at once, each in a chat of its own that is not stored', async () => {
    await openCompare();
    expect(await send('How far?')).toEqual(['navigator', 'navigator']);
    const [a, b] = page.transport.sent;
    expect(a?.chatId).not.toBe(b?.chatId);
    expect(page.playground.chats.list.value).toEqual([]);
    page.transport.write({ type: 'text-delta', id: 't', delta: 'Seven miles' });
    await vi.waitFor(() => expect(of('B', 'figures').dataset['running']).toBe('true'));
    await page.click('compare-stop');
    await vi.waitFor(() => expect(page.all('compare-send').length).toBe(1));
    expect([a?.signal?.aborted, b?.signal?.aborted]).toEqual([true, true]);
  });

  it('are two prompts of one agent, and the chosen one becomes an agent of its own', async () => {
    await openCompare();
    await write('B', 'side-instructions', 'You are a poet.');
    const [first, second = ''] = await send('How far?');
    expect(first).toBe('navigator');
    expect(second).toMatch(/^variant-/);
    expect((await host.catalog.agent(second))?.instructions).toBe('You are a poet.');
    expect(await host.control.get('agent', second)).toMatchObject({ ok: false }); // the registry knows nothing of it
    page.transport.write({ type: 'text-delta', id: 't', delta: 'Seven miles' }, {
      type: 'finish',
      finishReason: 'stop',
    });
    page.transport.close();
    await vi.waitFor(() => expect(of('B', 'side-keep').disabled).toBe(false));
    of('B', 'side-keep').click();
    await vi.waitFor(() => expect(page.all('compare-text')).toEqual([]));
    const chat = page.playground.chats.current.value;
    expect(page.playground.chats.list.value).toEqual([chat]);
    expect(chat.messages.value.length).toBe(2);
    expect(await host.control.get('agent', chat.agentId.value)).toMatchObject({
      value: {
        record: {
          name: 'Navigator B',
          instructions: 'You are a poet.',
          entryTools: expect.arrayContaining(['calculator']),
        },
      },
    });
  });

  it('start again where they were changed, and continue where they were not', async () => {
    await openCompare();
    await send('One');
    await page.click('compare-stop');
    await vi.waitFor(() => expect(page.all('compare-send').length).toBe(1));
    await write('B', 'side-model', 'large');
    await send('Two');
    const [a, b] = page.transport.sent.slice(2);
    expect([a?.chatId === page.transport.sent[0]?.chatId, b?.chatId === page.transport.sent[1]?.chatId]).toEqual([
      true,
      false,
    ]);
    expect(b?.messages.length).toBe(1);
  });

  it('say why a variant cannot be made', async () => {
    await openCompare();
    await write('A', 'side-model', 'large');
    host.control.varyAgent = () =>
      Promise.resolve({ ok: false, error: { code: 'not_found', message: 'It has gone', retryable: false } });
    await page.type('compare-text', 'One');
    await vi.waitFor(() => expect(page.all('compare-send')[0]).toHaveProperty('disabled', false));
    await page.click('compare-send');
    expect((await page.find('side-problem')).textContent).toBe('It has gone.');
    expect(page.transport.sent).toEqual([]);
  });
});
