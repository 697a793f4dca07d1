import { stepsOf } from '../tools/steps.ts'; // before the code that it counts
import { describe, expect, it } from 'vitest';
import { compileJsonSchema } from '../../src/tools/json-schema/json-schema.ts';
import { share } from '../fixtures/budget.ts';
import { attackOf, redosPatterns } from '../fixtures/hostile/redos-patterns.ts';

describe('compileJsonSchema', () => {
  it('tests each of 500 patterns that keep other engines busy against 20,000 characters in 100 steps each', async () => {
    for (const one of share(redosPatterns, 2)) {
      const check = compileJsonSchema({ type: 'string', pattern: one.pattern });
      const text = attackOf(one, 20_000);
      expect(await stepsOf(() => check(text)), one.pattern).toBeLessThan(100 * 20_000);
    }
  });

  it('refuses a short value of a schema whose references double at each level in 2,000,000 steps', async () => {
    const half = (at: number) => ({ $ref: `#/$defs/d${at + 1}` });
    const doubling = Array.from({ length: 30 }, (_, at) => [`d${at}`, { allOf: [half(at), half(at)] }] as const);
    const $defs = { ...Object.fromEntries(doubling), d30: { type: 'string' } };
    const check = compileJsonSchema({ $defs, properties: { q: { $ref: '#/$defs/d0' } } });
    expect(check({ q: 'x' })).toMatchObject([{ message: expect.stringMatching(/^takes too many steps/) as string }]);
    expect(await stepsOf(() => check({ q: 'x' }))).toBeLessThan(2_000_000);
  });
});
