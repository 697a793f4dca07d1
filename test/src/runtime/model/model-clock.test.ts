import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { defaultLimits } from '../../../../src/index.ts';
import { ModelClock } from '../../../../src/runtime/run-clock.ts';

const limits = { stepMs: 1000, firstChunkMs: 300, reasoningMs: 200, chunkMs: 100 };

const timeout = (reason: string) => ({ code: 'deadline_exceeded', details: { reason } });

describe('ModelClock', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  function started() {
    const run = new AbortController();
    const clock = new ModelClock(limits, run.signal);
    clock.startStep();
    return { run, clock, signal: clock.signal };
  }

  it('waits for each next chunk from the one before on', () => {
    const { clock, signal } = started();
    clock.requested();
    for (let i = 0; i < 8; i++) {
      vi.advanceTimersByTime(99);
      clock.received('chunkMs');
    }
    vi.advanceTimersByTime(99);
    expect(signal.aborted).toBe(false);
    vi.advanceTimersByTime(1);
    expect(signal.reason).toMatchObject(timeout('chunk_timeout'));
  });

  it('waits longer for a model that reasons', () => {
    const { clock, signal } = started();
    clock.requested();
    clock.received('reasoningMs');
    vi.advanceTimersByTime(199);
    expect(signal.aborted).toBe(false);
    vi.advanceTimersByTime(1);
    expect(signal.reason).toMatchObject(timeout('reasoning_timeout'));
  });

  it('lets a model think silently for 90 seconds by default, before its answer and in it', () => {
    const clock = new ModelClock(defaultLimits, new AbortController().signal);
    clock.startStep();
    clock.requested();
    vi.advanceTimersByTime(90_000);
    clock.received('reasoningMs');
    vi.advanceTimersByTime(90_000);
    expect(clock.signal.aborted).toBe(false);
    clock.stop();
  });

  it('stops with the run, with its reason and without a timer, and ignores later signals', () => {
    const { run, clock, signal } = started();
    run.abort('user');
    expect(signal.reason).toBe('user');
    clock.startStep();
    clock.requested();
    clock.received('chunkMs');
    expect(vi.getTimerCount()).toBe(0);
    expect(new ModelClock(limits, run.signal).signal.reason).toBe('user');
  });

  it('never stops a model that has all the time of the world', () => {
    const clock = new ModelClock(
      { stepMs: 1e12, firstChunkMs: Infinity, reasoningMs: Infinity, chunkMs: Infinity },
      new AbortController().signal,
    );
    clock.startStep();
    clock.requested();
    vi.advanceTimersByTime(5_000_000_000);
    expect(clock.signal.aborted).toBe(false);
  });
});
