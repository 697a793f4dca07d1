import { describe, expect, it, vi } from 'vitest';
import { untilAborted } from '../../../src/base/until-aborted.ts';

const action = 'load the thing';

describe('untilAborted', () => {
  it('never starts work that was aborted before', async () => {
    const work = vi.fn<() => Promise<number>>();
    const gaveUp = untilAborted(work, { signal: AbortSignal.abort(), action });
    await expect(gaveUp).rejects.toMatchObject({ code: 'cancelled', message: expect.stringContaining(action) });
    expect(work).not.toHaveBeenCalled();
  });
});
