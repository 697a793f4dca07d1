import { describe, expect, it } from 'vitest';
import { type RunSpan, spansOf } from '../../../../demo/runs/state/run-spans.ts';
import { rowsOf } from '../../../../demo/runs/state/span-rows.ts';
import type { ObservedEvent } from '../../../../src/contracts/event-sink.ts';
import { emittedRun, emitter, longRun } from '../../../fixtures/run-events.ts';

/** `run > step > tool.call`, one line a span. */
function outline(spans: readonly RunSpan[], depth = 0): string[] {
  return spans.flatMap((
    { name, target, startMs, endMs, children },
  ) => [`${'  '.repeat(depth)}${name} ${target.id} ${startMs}-${endMs}`, ...outline(children, depth + 1)]);
}

/** Events of the run without those that this says. */
function without(action: string, status?: ObservedEvent['status']): readonly ObservedEvent[] {
  return emittedRun().filter((event) =>
    event.action !== action || (status !== undefined && (event.status === 'pending') !== (status === 'pending'))
  );
}

describe('spansOf', () => {
  it('gives each event its place, once', () => {
    const events = longRun(300);
    const places = [...spansOf(events).all.values()].flatMap((span) => span.events);
    expect(places.toSorted((a, b) => a - b)).toEqual(events.map((_, at) => at));
  });

  it('ends open spans at the last event, or now where the run continues', () => {
    const { events, pass, start } = emitter();
    const run = start('run.start', { id: 'navigator' });
    pass(100);
    start('tool.call', { parent: run, id: 'slow' });
    pass(100);
    start('tool.call', { parent: run, id: 'slower' });
    expect(outline(spansOf(events).roots)).toEqual([
      'run navigator 0-200',
      '  tool.call slow 100-200',
      '  tool.call slower 200-200',
    ]);
    const now = Date.parse(events[0]?.timestamp ?? '') + 5000;
    expect(outline(spansOf(events, { now }).roots)[1]).toBe('  tool.call slow 100-5000');
    expect(spansOf(events).roots[0]?.status).toBe('pending');
  });

  it('counts back from an end without a beginning', () => {
    const { roots } = spansOf(without('model.call', 'pending'));
    expect(outline(roots)).toContain('    model.call rehearsal 100-400');
  });

  it('puts what names an unknown parent at the top', () => {
    const { roots } = spansOf(without('step'));
    expect(roots.map(({ name }) => name)).toEqual(['run', 'model.call', 'tool.call', 'tool.call', 'model.call']);
  });

  it('puts what is its own ancestor at the top, and loses nothing', () => {
    const [event] = emittedRun();
    const span = (spanId: string, parentSpanId: string) => ({ ...event!, spanId, parentSpanId });
    const { roots, all } = spansOf([span('a', 'c'), span('b', 'a'), span('c', 'b'), span('d', 'd')]);
    expect(rowsOf(roots, new Set()).map((row) => [row.span.key, row.depth])).toEqual([
      ['a', 0],
      ['b', 1],
      ['c', 2],
      ['d', 0],
    ]);
    expect(all.size).toBe(4);
  });

  it('makes spans of events without span ids', () => {
    const { spanId: _, ...event } = { ...emittedRun()[3]!, latency: 250 };
    const { roots } = spansOf([event, event]);
    expect(roots.map(({ key }) => key)).toEqual(['event-0', 'event-1']);
  });

  it('reads what a stranger has written', () => {
    const [event] = emittedRun();
    const { roots } = spansOf([{ ...event!, payloadSummary: 'a="\\x" __proto__=1 constructor="y"' }]);
    expect(roots[0]?.facts).toMatchObject({ a: '"\\x"', constructor: 'y' });
  });

  it('is empty without events', () => {
    expect(spansOf([])).toMatchObject({ roots: [], startedAt: 0, endMs: 0 });
  });

  it('takes thousands, side by side and one inside the other', () => {
    const flat = spansOf(longRun(5000));
    expect(rowsOf(flat.roots, new Set()).length).toBe(flat.all.size);
    const [event] = emittedRun();
    const deep = spansOf(
      Array.from({ length: 20_000 }, (_, i) => ({ ...event!, spanId: `s${i}`, parentSpanId: `s${i - 1}` })),
    );
    expect(rowsOf(deep.roots, new Set()).at(-1)?.depth).toBe(19_999);
  });
});
