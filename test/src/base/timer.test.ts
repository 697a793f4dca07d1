import { describe, expect, it } from 'vitest';
import { waitAtMost } from '../../../src/base/until-aborted.ts';

describe('waitAtMost', () => {
  it('resolves with the work, or when its time is over', async () => {
    await expect(waitAtMost(2 ** 40, Promise.resolve())).resolves.toBeUndefined();
    await expect(waitAtMost(0, new Promise(() => undefined))).resolves.toBeUndefined();
  });

  it('rejects when the work fails in time', async () => {
    await expect(waitAtMost(60_000, Promise.reject(new Error('broken')))).rejects.toThrow('broken');
  });
});
