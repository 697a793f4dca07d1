import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createStartGate } from '../../../src/runtime/start-gate.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Whether what waits has passed, now and after a time. */
function watched(waiting: Promise<void> | undefined) {
  const state = { passed: waiting === undefined };
  void waiting?.then(() => (state.passed = true));
  return state;
}

describe('the start gate', () => {
  it('is open while nothing starts, and opens when the last start is over, without a timer left', async () => {
    const gate = createStartGate(Date.now);
    expect(gate.pass()).toBeUndefined();
    const [first, second] = [gate.enter(), gate.enter()];
    const stream = watched(gate.pass());
    first();
    first();
    await vi.advanceTimersByTimeAsync(10);
    expect(stream.passed).toBe(false);
    second();
    await vi.advanceTimersByTimeAsync(0);
    expect(stream.passed).toBe(true);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('lets streams pass for half of the time, however long runs start', async () => {
    const gate = createStartGate(Date.now);
    const over = gate.enter();
    let [open, closed] = [0, 0];
    for (let ms = 0; ms < 2_000; ms += 10) {
      const waiting = gate.pass();
      if (waiting) closed += 1;
      else open += 1;
      await vi.advanceTimersByTimeAsync(10);
    }
    expect(open / (open + closed)).toBeGreaterThan(0.45);
    over();
    expect(gate.pass()).toBeUndefined();
  });

  it('never keeps a stream for longer than 100 ms, also when the clock is set back', async () => {
    let offset = 0;
    const gate = createStartGate(() => Date.now() + offset);
    gate.enter();
    const before = watched(gate.pass());
    await vi.advanceTimersByTimeAsync(100);
    expect(before.passed).toBe(true);
    offset = -300_000;
    const after = watched(gate.pass());
    await vi.advanceTimersByTimeAsync(100);
    expect(after.passed).toBe(true);
  });
});
