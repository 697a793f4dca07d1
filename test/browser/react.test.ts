import { createElement } from 'react';
import { createRoot } from 'react-dom/client';
import { expect, it } from 'vitest';
import { type UsedInbox, useInbox } from '../../adapters/react.ts';
import { PinnaceError } from '../../src/index.ts';
import type { InboxChange, InboxDecision, InboxItem } from '../../src/runtime/index.ts';

const item = (id: string) => ({ id, seen: `seen-${id}` } as InboxItem); // all that the hook reads

function inboxOf(watched: () => Promise<ReadableStream<InboxChange>>) {
  const decided: InboxDecision[] = [];
  const signals: (AbortSignal | undefined)[] = [];
  const inbox = {
    watch: ({ signal }: { signal?: AbortSignal | undefined } = {}) => (signals.push(signal), watched()),
    decide: (decisions: readonly InboxDecision[]) => {
      decided.push(...decisions);
      return Promise.resolve(decisions.map(({ id }) => ({ id, state: 'stored' as const })));
    },
  };
  return { source: { inbox }, decided, signals };
}

function mounted(first: Parameters<typeof useInbox>[0]) {
  const shown: UsedInbox[] = [];
  const App = ({ source }: { source: typeof first }) => (shown.push(useInbox(source)), null);
  const root = createRoot(document.createElement('div'));
  const render = (source: typeof first) => root.render(createElement(App, { source }));
  render(first);
  return { root, render, last: () => shown.at(-1)! };
}

it('useInbox shows a snapshot and its changes, decides as listed, and leaves with its component', async () => {
  const { readable, writable } = new TransformStream<InboxChange, InboxChange>();
  const writer = writable.getWriter();
  const { source, decided, signals } = inboxOf(() => Promise.resolve(readable));
  const { root, render, last } = mounted(source);
  await expect.poll(() => signals.length).toBe(1);
  expect(last()).toMatchObject({ items: [], isLoading: true, error: undefined });
  const shows = async (...ids: string[]) => await expect.poll(() => last().items.map(({ id }) => id)).toEqual(ids);
  await writer.write({ type: 'snapshot', items: [item('a')] });
  await shows('a');
  await writer.write({ type: 'opened', item: item('b') });
  await shows('a', 'b');
  expect(last().isLoading).toBe(false);
  expect(await last().decide(item('b'), { approved: false, reason: 'no' })).toEqual({ id: 'b', state: 'stored' });
  expect(decided).toEqual([{ id: 'b', seen: 'seen-b', approved: false, reason: 'no' }]);
  await writer.write({ type: 'settled', id: 'a' });
  await shows('b');
  const other = inboxOf(() => Promise.reject(new PinnaceError('forbidden', 'Not for you')));
  render(other.source);
  await shows();
  await expect.poll(() => last().error).toMatchObject({ code: 'forbidden' });
  expect(signals[0]?.aborted).toBe(true);
  root.unmount();
  await expect.poll(() => other.signals[0]?.aborted).toBe(true);
});
