import { describe, expect, it } from 'vitest';
import { actionsOf, eventsThat, everyEvent } from '../../../../demo/runs/state/opened-run.ts';
import { emittedRun } from '../../../fixtures/run-events.ts';

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
