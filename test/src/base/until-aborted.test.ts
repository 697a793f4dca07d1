import { describe, expect, it, vi } from 'vitest';
import { untilAborted } from '../../../src/base/until-aborted.ts';

const action = 'load the thing';

describe('untilAborted', () => {
  it('returns what the work returns, and throws what it throws', async () => {
    const { signal } = new AbortController();
    const mine = new Error('mine');
    expect(await untilAborted(async () => 1, { signal, action })).toBe(1);
    await expect(untilAborted(() => Promise.reject(mine), { signal, action })).rejects.toBe(mine);
    expect(await untilAborted(async () => 2, { signal: undefined, action })).toBe(2);
  });

  it('never starts work that was aborted before', async () => {
    const work = vi.fn<() => Promise<number>>();
    const gaveUp = untilAborted(work, { signal: AbortSignal.abort(), action });
    await expect(gaveUp).rejects.toMatchObject({ code: 'cancelled', message: expect.stringContaining(action) });
    expect(work).not.toHaveBeenCalled();
  });
});
