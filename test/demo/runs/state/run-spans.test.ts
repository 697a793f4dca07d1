import { describe, expect, it } from 'vitest';
import { breakdownOf } from '../../../../demo/runs/state/breakdown.ts';
import { actionsOf, eventsThat, everyEvent } from '../../../../demo/runs/state/opened-run.ts';
import { createPlanViews } from '../../../../demo/runs/state/plan-views.ts';
import { type RunSpan, spansOf } from '../../../../demo/runs/state/run-spans.ts';
import { rowsOf } from '../../../../demo/runs/state/span-rows.ts';
import type { ObservedEvent } from '../../../../src/contracts/event-sink.ts';
import type { PlanView } from '../../../../src/planner/planner.ts';
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

describe('breakdownOf', () => {
  it('distinguishes the agents of a plan by their addresses', () => {
    const { events, start } = emitter();
    const run = start('run.start', { id: 'commodore' });
    for (const address of ['1', '1-2']) {
      const agent = start('agent.create', { parent: run, id: 'commodore', payload: { address } });
      start('step', { parent: agent, payload: { step: 1 } }).end();
      agent.end();
    }
    expect(breakdownOf(spansOf(events)).steps.map(({ name, address }) => [name, address])).toEqual([
      ['Step 1', '1'],
      ['Step 1', '1-2'],
    ]);
  });

  it('is nothing without events', () => {
    expect(breakdownOf(spansOf([]))).toMatchObject({ total: { modelCalls: 0, time: { totalMs: 0 } }, steps: [] });
  });
});

const plan = (planId: string) =>
  ({ planId, traceId: 't', state: 'running', by: 'ada', startedAt: '2026-11-25T10:00:00Z' }) as const;
// Only the id and the state are read here.
const viewOf = (planId: string, state: PlanView['state']) => ({ planId, state, goal: planId }) as PlanView;

describe('the views of the plans of an endpoint', () => {
  it('are read once for all changes of a pause, and no more after the end of a plan', async () => {
    const states: Record<string, PlanView['state']> = { p1: 'running', p2: 'done' };
    const requested: string[] = [];
    const pauses: (() => void)[] = [];
    const { views, read } = createPlanViews({
      plans: () => [plan('p1'), plan('p2')],
      viewOf: async (planId) => {
        requested.push(planId);
        return { ok: true, value: viewOf(planId, states[planId]!) };
      },
      pause: () => new Promise((resolve) => pauses.push(resolve)),
    });
    expect(requested).toEqual([]);
    const reading = read();
    await expect.poll(() => pauses.length).toBe(1);
    states['p1'] = 'done';
    await Promise.all([read(), read(), read()]);
    expect(requested).toEqual(['p1', 'p2']);
    pauses[0]!();
    await expect.poll(() => pauses.length).toBe(2);
    expect(requested).toEqual(['p1', 'p2', 'p1']);
    expect(views.value.get('p1')?.state).toBe('done');
    pauses[1]!();
    await reading;
    expect(requested).toHaveLength(3);
  });

  it('leave out the plans that the endpoint does not show', async () => {
    const { views, read } = createPlanViews({
      plans: () => [plan('p1')],
      viewOf: async () => ({ ok: false, error: { code: 'forbidden', message: 'No', retryable: false } }),
      pause: async () => undefined,
    });
    await read();
    expect(views.value.size).toBe(0);
  });
});

const events = emittedRun();
const found = (filter: Partial<typeof everyEvent>) =>
  eventsThat(events, { ...everyEvent, ...filter }).map((at) => events[at]);

describe('eventsThat', () => {
  it('finds all without a filter', () => {
    expect(eventsThat(events, everyEvent)).toEqual(events.map((_, at) => at));
  });

  it('finds by action', () => {
    expect(found({ action: 'tool.call' })).toHaveLength(4);
    expect(found({ action: 'tool.call' }).every((event) => event?.action === 'tool.call')).toBe(true);
  });
});

describe('actionsOf', () => {
  it('counts the events of each action', () => {
    expect(actionsOf(events)).toEqual([['model.call', 4], ['run.end', 1], ['run.start', 1], ['step', 4], [
      'tool.call',
      4,
    ]]);
  });
});
