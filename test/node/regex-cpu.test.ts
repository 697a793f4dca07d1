import { describe, expect, it } from 'vitest';
import { compileJsonSchema } from '../../src/tools/json-schema/json-schema.ts';
import { attackOf, redosPatterns } from '../fixtures/hostile/redos-patterns.ts';

describe('compileJsonSchema', () => {
  it(
    'tests each of 500 patterns that keep other engines busy against 100,000 characters in 50 ms of processor time',
    () => {
      for (const one of redosPatterns) {
        const check = compileJsonSchema({ type: 'string', pattern: one.pattern });
        const text = attackOf(one, 100_000);
        let cost = cpuMsOf(() => check(text));
        for (let again = 0; cost >= 50 && again < 2; again++) cost = cpuMsOf(() => check(text)); // the collector may run in one of them
        expect(cost, one.pattern).toBeLessThan(50);
      }
    },
    60_000,
  );

  it('refuses a short value of a schema whose references double at each level within half a second', () => {
    const half = (at: number) => ({ $ref: `#/$defs/d${at + 1}` });
    const doubling = Array.from({ length: 30 }, (_, at) => [`d${at}`, { allOf: [half(at), half(at)] }] as const);
    const $defs = { ...Object.fromEntries(doubling), d30: { type: 'string' } };
    const check = compileJsonSchema({ $defs, properties: { q: { $ref: '#/$defs/d0' } } });
    expect(check({ q: 'x' })).toMatchObject([{ message: expect.stringMatching(/^takes too many steps/) as string }]);
    expect(Math.min(...[0, 1, 2].map(() => cpuMsOf(() => check({ q: 'x' }))))).toBeLessThan(500);
  });
});

function cpuMsOf(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
