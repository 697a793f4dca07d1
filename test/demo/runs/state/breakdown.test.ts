import { describe, expect, it } from 'vitest';
import { breakdownOf } from '../../../../demo/runs/state/breakdown.ts';
import { spansOf } from '../../../../demo/runs/state/run-spans.ts';
import { emitter } from '../../../fixtures/run-events.ts';

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
