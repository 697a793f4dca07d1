import { describe, expect, it } from 'vitest';
import { around, moved, placeIn, ticksIn, zoomed } from '../../../../demo/runs/state/time-window.ts';

const endMs = 1000;

describe('a window on a run’s time', () => {
  it('zooms in around a place, and out to the whole at most', () => {
    expect(zoomed({ from: 0, to: 1000 }, { factor: 0.5, at: 0, endMs })).toEqual({ from: 0, to: 500 });
    expect(zoomed({ from: 0, to: 1000 }, { factor: 0.5, endMs })).toEqual({ from: 250, to: 750 });
    expect(zoomed({ from: 250, to: 750 }, { factor: 8, endMs })).toEqual({ from: 0, to: 1000 });
    expect(zoomed({ from: 900, to: 1000 }, { factor: 2, endMs })).toEqual({ from: 800, to: 1000 });
  });

  it('never shows less than a millisecond', () => {
    const { from, to } = zoomed({ from: 10, to: 11 }, { factor: 0.01, endMs });
    expect(to - from).toBe(1);
  });

  it('moves as far as the run goes', () => {
    expect(moved({ from: 100, to: 200 }, { by: 0.5, endMs })).toEqual({ from: 150, to: 250 });
    expect(moved({ from: 100, to: 200 }, { by: -5, endMs })).toEqual({ from: 0, to: 100 });
    expect(moved({ from: 800, to: 1000 }, { by: 1, endMs })).toEqual({ from: 800, to: 1000 });
  });

  it('goes around a span, also one that took no time', () => {
    expect(around({ startMs: 400, endMs: 500 }, { endMs })).toEqual({ from: 390, to: 510 });
    const { from, to } = around({ startMs: 400, endMs: 400 }, { endMs });
    expect(from).toBeLessThanOrEqual(400);
    expect(to).toBeGreaterThanOrEqual(400);
  });

  it('says where a time stands in it', () => {
    expect([200, 300, 400, 500].map((ms) => placeIn({ from: 300, to: 400 }, ms))).toEqual([-1, 0, 1, 2]);
  });

  it('has a few round times', () => {
    expect(ticksIn({ from: 0, to: 1000 }, 5)).toEqual([0, 200, 400, 600, 800, 1000]);
    expect(ticksIn({ from: 130, to: 170 }, 5)).toEqual([130, 140, 150, 160, 170]);
    expect(ticksIn({ from: 0, to: 0 }, 5)).toEqual([0]);
    for (const to of [1, 7, 60, 999, 123_456]) expect(ticksIn({ from: 0, to }, 5).length).toBeLessThanOrEqual(6);
  });
});
