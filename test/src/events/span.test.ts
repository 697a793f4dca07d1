import { describe, expect, it } from 'vitest';
import { PinnaceError } from '../../../src/base/errors.ts';
import type { ObservedEvent } from '../../../src/contracts/event-sink.ts';
import { createEmit } from '../../../src/events/event-ring.ts';
import { readSummary, summaryOf } from '../../../src/events/payload-summary.ts';
import { startSpan, traceAt, within } from '../../../src/events/span.ts';

const facts = {
  traceId: '0af7651916cd43dd8448eb211c80319c',
  actor: { type: 'agent', id: 'helper' },
  action: 'tool.call',
  target: { type: 'tool', id: 'add' },
} as const;

function watched() {
  const events: ObservedEvent[] = [];
  let time = 1000;
  const now = () => time;
  const emit = createEmit({ sinks: [(event) => void events.push(event)], now });
  return { events, options: { emit, now }, pass: (ms: number) => time += ms };
}

describe('a span', () => {
  it('emits its start and its end with one span id', () => {
    const { events, options, pass } = watched();
    const span = startSpan({ ...facts, parentSpanId: '00f067aa0ba902b7', payload: { characters: 12 } }, options);
    pass(30);
    span.end({ status: 'ok', payload: { output: 3 } });
    const common = { ...facts, spanId: span.spanId, parentSpanId: '00f067aa0ba902b7', error: null };
    expect(events).toEqual([
      {
        ...common,
        timestamp: '1970-01-01T00:00:01.000Z',
        status: 'pending',
        latency: 0,
        payloadSummary: 'characters=12',
      },
      {
        ...common,
        timestamp: '1970-01-01T00:00:01.030Z',
        status: 'ok',
        latency: 30,
        payloadSummary: 'characters=12 output=3',
      },
    ]);
    expect(span.spanId).toMatch(/^[0-9a-f]{16}$/);
  });

  it('ends once, and never before its start', () => {
    const { events, options, pass } = watched();
    const span = startSpan(facts, options);
    pass(-500);
    span.end({ status: 'cancelled' });
    span.end({ status: 'ok' });
    expect(events.map(({ status, latency }) => [status, latency])).toEqual([['pending', 0], ['cancelled', 0]]);
  });

  it.each([
    [new PinnaceError('forbidden', 'Cannot add: not allowed'), 'denied', 'forbidden'],
    [new PinnaceError('cancelled', 'Cannot add: cancelled'), 'cancelled', 'cancelled'],
    [new Error('boom'), 'error', 'internal'],
  ])('ends with the work that throws %s', async (thrown, status, code) => {
    const { events, options } = watched();
    await expect(within(traceAt(facts, options), facts, () => Promise.reject(thrown))).rejects.toBe(thrown);
    expect(events.at(-1)).toMatchObject({ status, error: { code } });
  });

  it('ends with the work, and returns its result', async () => {
    const { events, options } = watched();
    expect(await within(traceAt(facts, options), facts, async () => 5)).toBe(5);
    expect(events.map(({ status }) => status)).toEqual(['pending', 'ok']);
  });
});

describe('a payload summary', () => {
  it('holds whole facts only, 512 characters at most', () => {
    const many = Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`key${at}`, 'v'.repeat(20)]));
    const text = summaryOf(many);
    expect(text.length).toBeLessThanOrEqual(512);
    expect(Object.values(readSummary(text)).every((value) => value === 'v'.repeat(20))).toBe(true);
  });

  it('is parsed from any source: badly quoted text is returned as it is, and any length is parsed in linear time', () => {
    expect(readSummary('a="\\x" b=1 c="open')).toEqual({ a: '"\\x"', b: 1, c: '"open' });
    expect(readSummary(`${'a'.repeat(200_000)} b=1`)).toEqual({ b: 1 });
  });

  it('passes over what is no pair', () => {
    expect(readSummary('run_1, 3 messages state=ok')).toEqual({ state: 'ok' });
  });
});
