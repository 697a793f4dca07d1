import { describe, expect, it, vi } from 'vitest';
import { untilAborted } from '../../../src/base/until-aborted.ts';
import { PinnaceError } from '../../../src/base/errors.ts';

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

  it('rejects with its own reason, also when the work receives the abort too', async () => {
    const stop = new AbortController();
    const listening = (): Promise<never> =>
      new Promise((_, reject) => {
        stop.signal.addEventListener('abort', () => reject(new DOMException('private', 'AbortError')));
      });
    const given = untilAborted(listening, { signal: stop.signal, action });
    const late = new PinnaceError('deadline_exceeded', 'too late');
    stop.abort(late);
    await expect(given).rejects.toBe(late);
  });

  it('leaves nothing on a signal that lives on', async () => {
    const { signal } = new AbortController();
    const [added, removed] = [vi.spyOn(signal, 'addEventListener'), vi.spyOn(signal, 'removeEventListener')];
    await untilAborted(async () => 1, { signal, action });
    await untilAborted(() => Promise.reject(new Error('mine')), { signal, action }).catch(() => undefined);
    expect(removed.mock.calls.map(([, listener]) => listener)).toEqual(
      added.mock.calls.map(([, listener]) => listener),
    );
    expect(added).toHaveBeenCalledTimes(2);
  });
});
