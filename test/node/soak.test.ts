import process from 'node:process';
import { describe, expect, it } from 'vitest';
import { createChurn, kinds } from '../tools/churn.ts';

const expected: Readonly<Record<(typeof kinds)[number], string>> = {
  whole: 'finish',
  left: 'left',
  cancelled: 'cancelled',
  twice: 'finish',
  tool: 'finish',
  stranger: '401',
  nonsense: '400',
};

/** What keeps the process: timers, sockets and so on, by kind. */
function held(): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const kind of process.getActiveResourcesInfo()) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}

function more(after: Readonly<Record<string, number>>, before: Readonly<Record<string, number>>): number {
  return Object.entries(after).reduce((sum, [kind, count]) => sum + Math.max(0, count - (before[kind] ?? 0)), 0);
}

describe('an endpoint under churn', () => {
  it('ends each of 700 requests of every kind as it should, and keeps no timer and no socket of any', async () => {
    const before = held();
    const churn = createChurn();
    for (let round = 0; round < 5; round++) {
      const outcomes = await Promise.all(
        Array.from({ length: 140 }, async (_, at) => {
          const kind = kinds[at % kinds.length] ?? 'whole';
          return { kind, outcome: await churn.one(kind) };
        }),
      );
      expect(outcomes.filter(({ kind, outcome }) => outcome !== expected[kind])).toEqual([]);
    }
    await churn.settled(); // those that were left end after their grace
    expect(churn.open()).toBe(0);
    await churn.close();
    await expect.poll(() => more(held(), before)).toBeLessThan(5); // a runner has timers of its own; a leak has hundreds
  });

  it('completes 1,000 streams at once', async () => {
    const churn = createChurn({ everyMs: 1 });
    const outcomes = await Promise.all(Array.from({ length: 1_000 }, () => churn.one('whole')));
    expect(outcomes.filter((outcome) => outcome !== 'finish')).toEqual([]);
    expect(churn.open()).toBe(0);
    await churn.close();
  });
});
