import { describe, expect, it } from 'vitest';
import { createEventRing, type ObservedEvent } from '../../../src/index.ts';
import type { RingEvent } from '../../../src/events/index.ts';

function event(action: string, overrides: Partial<ObservedEvent> = {}): ObservedEvent {
  return {
    timestamp: '2026-11-21T00:00:00.000Z',
    traceId: '0af7651916cd43dd8448eb211c80319c',
    actor: { type: 'user', id: 'ann' },
    action,
    target: { type: 'tool', id: 'add' },
    status: 'ok',
    latency: 0,
    error: null,
    payloadSummary: '',
    ...overrides,
  };
}

const everyone = (): boolean => true;

/** Reads so many; what was not there yet is waited for. */
async function take(stream: ReadableStream<RingEvent>, count: number): Promise<readonly RingEvent[]> {
  const reader = stream.getReader();
  const seen: RingEvent[] = [];
  while (seen.length < count) {
    const { done, value } = await reader.read();
    if (done) break;
    seen.push(value);
  }
  reader.releaseLock();
  return seen;
}

const actionsOf = (seen: readonly RingEvent[]): string[] =>
  seen.map(({ seq, event: { action } }) => `${seq} ${action}`);

describe('createEventRing', () => {
  it('returns only matching and visible events', async () => {
    const ring = createEventRing();
    ring.observe(event('a'), 'other');
    ring.observe(event('a', { target: { type: 'tool', id: 'sub' } }), 't');
    ring.observe(event('a', { actor: { type: 'agent', id: 'helper' } }), 't');
    ring.observe(event('a'), undefined);
    const seen = await take(ring.watch((tenant) => tenant === 't', { after: 0 }), 2);
    expect(seen.map(({ seq }) => seq)).toEqual([2, 3]);
    const [mine] = await take(ring.watch(everyone, { after: 0, filter: { actor: 'helper', target: 'add' } }), 1);
    expect(mine?.seq).toBe(3);
  });

  it('reports dropped events to a slow subscriber, and waits for none', async () => {
    const ring = createEventRing({ capacity: 3 });
    const slow = ring.watch(everyone);
    for (let i = 1; i <= 10; i++) ring.observe(event(`e${i}`), 't');
    const seen = await take(slow, 3);
    expect(seen.map(({ seq, dropped }) => [seq, dropped])).toEqual([[8, 7], [9, undefined], [10, undefined]]);
  });

  it('starts with the oldest event for a number of another instance', async () => {
    const ring = createEventRing();
    ring.observe(event('a'), 't');
    expect(actionsOf(await take(ring.watch(everyone, { after: 5000 }), 1))).toEqual(['1 a']);
  });

  it('ends with the signal, also while it waits, and when it has aborted before', async () => {
    const ring = createEventRing();
    const stop = new AbortController();
    const waiting = take(ring.watch(everyone, { signal: stop.signal }), 1);
    stop.abort();
    expect(await waiting).toEqual([]);
    expect(await take(ring.watch(everyone, { after: 0, signal: stop.signal }), 1)).toEqual([]);
    const left = ring.watch(everyone);
    await left.cancel();
    ring.observe(event('a'), 't');
  });
});
