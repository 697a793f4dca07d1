import { describe, expect, it, vi } from 'vitest';
import { createFrameQueue, nextFrame } from '../../../../demo/kit/hooks/frame-queue.ts';

/** A schedule whose frames the test paints. */
function manual() {
  const waiting = new Set<() => void>();
  return {
    schedule: (callback: () => void) => {
      waiting.add(callback);
      return () => void waiting.delete(callback);
    },
    paint() {
      const now = [...waiting];
      waiting.clear();
      for (const callback of now) callback();
    },
    count: () => waiting.size,
  };
}

describe('createFrameQueue', () => {
  it('hands on once a frame what came in between, in order', () => {
    const frames = manual();
    const apply = vi.fn<(items: readonly number[]) => void>();
    const queue = createFrameQueue<number>(apply, frames);
    queue.push(1);
    queue.push(2);
    expect(apply).not.toHaveBeenCalled();
    frames.paint();
    queue.push(3);
    frames.paint();
    frames.paint();
    expect(apply.mock.calls).toEqual([[[1, 2]], [[3]]]);
  });

  it('hands on at once when flushed, and not again with the frame', () => {
    const frames = manual();
    const apply = vi.fn<(items: readonly number[]) => void>();
    const queue = createFrameQueue<number>(apply, frames);
    queue.push(1);
    queue.flush();
    expect(frames.count()).toBe(0);
    frames.paint();
    queue.flush();
    expect(apply.mock.calls).toEqual([[[1]]]);
  });
});

describe('nextFrame', () => {
  it('calls back once, also where no frame is painted', () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    vi.stubGlobal('requestAnimationFrame', () => 1);
    const cancel = vi.fn<(frame: number) => void>();
    vi.stubGlobal('cancelAnimationFrame', cancel);
    try {
      const callback = vi.fn<() => void>();
      nextFrame(callback);
      vi.advanceTimersByTime(1000);
      expect(callback).toHaveBeenCalledTimes(1);
      expect(cancel).toHaveBeenCalledWith(1);
      nextFrame(callback)();
      vi.advanceTimersByTime(1000);
      expect(callback).toHaveBeenCalledTimes(1);
    } finally {
      vi.useRealTimers();
      vi.unstubAllGlobals();
    }
  });
});
