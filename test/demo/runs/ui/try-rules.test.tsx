import { render } from 'preact';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { type EventsOf, TryRules } from '../../../../demo/runs/ui/try-rules.tsx';
import type { ObservedEvent } from '../../../../src/contracts/event-sink.ts';

afterEach(() => render(null, document.body));

const call = (traceId: string, agent: string): ObservedEvent =>
  ({
    action: 'tool.call',
    status: 'ok',
    timestamp: '2026-01-01T00:00:00.000Z',
    traceId,
    actor: { type: 'agent', id: agent },
    target: { type: 'tool', id: 'send' },
    payloadSummary: 'acts=true read=tool:mail readers=tenant',
  }) as ObservedEvent; // the parts that rules are tried on

const runs = [
  { traceId: 'new', agentId: 'helper', startedAt: Date.now() },
  { traceId: 'old', agentId: 'clerk', startedAt: Date.now() - 2 * 86_400_000 },
];
const button = (testId: string) => document.querySelector<HTMLElement>(`[data-testid=${testId}]`);
const result = () => button('try-rules-result')?.textContent ?? '';
const choose = (testId: string, value: string): void => {
  const select = document.querySelector<HTMLSelectElement>(`[data-testid=${testId}]`)!; // it is rendered
  select.value = value;
  select.dispatchEvent(new Event('change', { bubbles: true }));
};

function show(eventsOf: EventsOf) {
  const onOpen = vi.fn<(traceId: string) => void>();
  const list = { titleOf: (id: string) => `Run ${id}`, nameOf: (id: string) => id, onOpen };
  render(<TryRules runs={runs} eventsOf={eventsOf} list={list} onClose={() => undefined} />, document.body);
  return onOpen;
}

describe('TryRules over many runs', () => {
  it('lists what would have been asked, of a period and an agent, and opens its run', async () => {
    const onOpen = show((id) => Promise.resolve([call(id, id === 'new' ? 'helper' : 'clerk')]));
    button('try-rules-run')?.click();
    await expect.poll(result).toContain('2 calls: 2 asks.');
    [...document.querySelectorAll<HTMLElement>('[data-decision=ask] button')].at(-1)?.click();
    expect(onOpen).toHaveBeenCalledWith('old');
    choose('try-rules-period', 'day');
    button('try-rules-run')?.click();
    await expect.poll(result).toContain('1 call: 1 asks.');
    choose('try-rules-agent', 'clerk');
    button('try-rules-run')?.click();
    await expect.poll(result).toContain('No tool was called.');
  });

  it('shows its progress, and stops', async () => {
    show((_, signal) =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('stopped'))))
    );
    button('try-rules-run')?.click();
    await expect.poll(result).toContain('Reading run 1 of 2');
    button('try-rules-stop')?.click();
    await expect.poll(() => document.querySelector('[role=alert]')?.textContent).toBe('Stopped');
    expect(button('try-rules-stop')).toBeNull();
  });
});
