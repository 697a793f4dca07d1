import { describe, expect, it } from 'vitest';
import { convertUnitsTool } from '../../../demo/tools/convert-units.ts';
import { outcomeOf } from '../../fixtures/tools/tool-call.ts';
import conversions from '../../fixtures/vectors/units.json' with { type: 'json' };

const tool = convertUnitsTool();

async function convert(value: unknown, from: unknown, to: unknown): Promise<Record<string, unknown>> {
  return await outcomeOf(tool, { value, from, to });
}

describe('convert_units', () => {
  it.each(conversions as [number, string, string, number][])(
    'finds %d %s in %s to be %d',
    async (value, from, to, result) => {
      expect(await convert(value, from, to)).toMatchObject({ result });
    },
  );

  it('gives no negative zero', async () => {
    expect(Object.is((await convert(-0, 'm', 'km'))['result'], 0)).toBe(true);
  });
});
