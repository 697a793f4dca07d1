import { describe, expect, it } from 'vitest';
import { createCommitTick } from '../../../src/log/journal.ts';

describe('createCommitTick', () => {
  it('calls back all that wait in one turn, at a multiple of the spacing', async () => {
    const tick = createCommitTick(10, Date.now);
    const turns: unknown[] = [];
    let turn = {};
    const done = Promise.withResolvers<void>();
    for (let i = 0; i < 3; i++) {
      tick.wait(() => {
        turns.push(turn);
        queueMicrotask(() => (turn = {}));
        if (turns.length === 3) done.resolve();
      });
    }
    await done.promise;
    expect(new Set(turns).size).toBe(1);
  });
});
