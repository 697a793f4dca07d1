import { describe, expect, it, vi } from 'vitest';
import { nextFrame } from '../../../../demo/kit/hooks/frame-queue.ts';

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
