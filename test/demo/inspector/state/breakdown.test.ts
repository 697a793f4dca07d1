import { describe, expect, it } from 'vitest';
import { breakdownOf } from '../../../../demo/inspector/state/breakdown.ts';
import { spansOf } from '../../../../demo/inspector/state/run-spans.ts';
import { emittedRun, emitter } from '../../../fixtures/run-events.ts';

describe('breakdownOf', () => {
  it('adds up tokens, calls and failures', () => {
    const { total, steps } = breakdownOf(spansOf(emittedRun()));
    expect(total).toMatchObject({ inputTokens: 460, outputTokens: 60, modelCalls: 2, toolCalls: 2, failures: 1 });
    expect(steps[0]).toMatchObject({ inputTokens: 200, outputTokens: 20, firstChunkMs: 80, failures: 1 });
    expect(steps[1]).toMatchObject({ inputTokens: 260, toolCalls: 0, firstChunkMs: 90, agentId: 'navigator' });
  });

  it('counts what happens at once only once', () => {
    const { events, pass, start } = emitter();
    const run = start('run.start', { id: 'a' });
    const models = [start('model.call', { parent: run }), start('model.call', { parent: run })];
    const tool = start('tool.call', { parent: run });
    pass(100);
    for (const span of [...models, tool]) span.end();
    pass(50);
    run.end();
    expect(breakdownOf(spansOf(events)).total.time).toEqual({ modelMs: 100, toolMs: 0, waitMs: 50, totalMs: 150 });
  });

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
