import { describe, expect, it } from 'vitest';
import { convertUnitsTool } from '../../../demo/tools/convert-units.ts';
import { units } from '../../../demo/tools/units.ts';
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

  it('goes there and back for every pair of units of a quantity', async () => {
    for (const from of units) {
      const others = units.filter((unit) => unit.quantity === from.quantity);
      for (const to of others) {
        const there = await convert(12.5, from.name, to.plural);
        const back = await convert(there['result'], to.name, from.name);
        expect(Math.abs(Number(back['result']) - 12.5), `${from.name} and ${to.name}`).toBeLessThan(1e-8);
      }
    }
  });

  it('understands every name, plural, symbol and alias, unless several units share it', async () => {
    for (const unit of units) {
      for (const name of [unit.name, unit.plural, ...unit.aliases].filter((alias) => !/^tons?$/.test(alias))) {
        expect(await convert(300, name, unit.name), name).toMatchObject({ from: unit.name, result: 300 });
      }
    }
  });

  it('gives no negative zero', async () => {
    expect(Object.is((await convert(-0, 'm', 'km'))['result'], 0)).toBe(true);
  });
});

describe('convert_units, a conversion that cannot be', () => {
  it('names units that would have been compatible', async () => {
    expect(await convert(1, 'miles', 'kg')).toMatchObject({
      code: 'invalid_argument',
      message: expect.stringMatching(
        /^Cannot convert mile to kilogram: length is not mass; compatible units are meter, /,
      ),
      details: { reason: 'incompatible_units', compatible: expect.arrayContaining(['kilometer', 'light-year']) },
    });
  });

  it.each([
    ['killometers', ['kilometer']],
    ['mille', ['mile']],
    ['gramms', ['gram']],
    ['farenheit', ['degree Fahrenheit']],
    ['giggabyte', ['gigabyte']],
  ])('suggests for %j one of %j', async (from, suggestions) => {
    const error = await convert(1, from, 'm');
    expect(error).toMatchObject({
      code: 'invalid_argument',
      details: { reason: 'unknown_unit', suggestions: expect.arrayContaining(suggestions) },
    });
    expect(error['message']).toContain(`"from" is not a unit known here; did you mean "${suggestions[0]}"`);
  });

  it.each(['USD', 'euros', '€'])('says that %j is a currency, and suggests no unit', async (from) => {
    const error = await convert(100, from, 'gbp');
    expect(error['message']).toContain('"from" is a currency');
    expect(error['details']).toEqual({ reason: 'unknown_unit' });
  });

  it.each([
    ['ton', ['tonne', 'short ton', 'long ton']],
    ['gb', ['gigabit', 'gigabyte']],
  ])('asks which %j is meant', async (from, suggestions) => {
    expect(await convert(1, from, 'kg')).toMatchObject({
      code: 'invalid_argument',
      details: { reason: 'ambiguous_unit', suggestions },
    });
  });

  it.each(['parrots', '__proto__', 'constructor', 'ＡＢＣ', '🦜', ' '])('has the unknown unit %j', async (to) => {
    const error = await convert(1, 'm', to);
    expect(error).toMatchObject({ code: 'invalid_argument', details: { reason: 'unknown_unit' } });
    expect(error['message']).toContain('"to" is not a unit known here');
  });

  it.each([[-1, 'K'], [-274, '°C'], [-460, '°F']])('is below absolute zero: %d %s', async (value, from) => {
    expect(await convert(value, from, 'F')).toMatchObject(
      from === '°F' ? { result: value } : { code: 'invalid_argument', details: { reason: 'below_absolute_zero' } },
    );
  });
});
