import { describe, expect, it } from 'vitest';
import { convertUnitsTool } from '../../../demo/tools/convert-units.ts';
import { units } from '../../../demo/tools/units.ts';
import { outcomeOf } from '../../fixtures/tools/tool-call.ts';

const tool = convertUnitsTool();

async function convert(value: unknown, from: unknown, to: unknown): Promise<Record<string, unknown>> {
  return await outcomeOf(tool, { value, from, to });
}

describe('convert_units', () => {
  it.each<[number, string, string, number]>([
    // length
    [1, 'mile', 'kilometers', 1.609344],
    [1, 'mile', 'kilometres', 1.609344],
    [26.2, 'miles', 'km', 42.1648128],
    [1, 'in', 'cm', 2.54],
    [0.1, 'inch', 'cm', 0.254],
    [6, 'feet', 'm', 1.8288],
    [100, 'yards', 'metres', 91.44],
    [1, 'nmi', 'm', 1852],
    [1, 'light-year', 'km', 9_460_730_472_580.8],
    [5, 'µm', 'nm', 5000],
    [3, 'm', 'm', 3],
    // mass
    [1, 'lb', 'g', 453.59237],
    [16, 'ounces', 'pound', 1],
    [11, 'stone', 'kg', 69.85322498],
    [1, 'tonne', 'kg', 1000],
    [1, 'short ton', 'lb', 2000],
    [1, 'long ton', 'lbs', 2240],
    [5, 'carats', 'g', 1],
    // temperature
    [0, '°C', '°F', 32],
    [100, 'celsius', 'fahrenheit', 212],
    [212, '°F', '°C', 100],
    [98.6, 'F', 'C', 37],
    [-40, 'degrees Celsius', 'degrees Fahrenheit', -40],
    [0, 'K', '°C', -273.15],
    [0, 'K', '°F', -459.67],
    [-459.67, '°F', 'K', 0],
    [25, '°C', 'K', 298.15],
    [273.15, 'kelvin', 'C', 0],
    [491.67, 'rankine', 'C', 0],
    [32, '℉', '℃', 0],
    // volume
    [1, 'gallon', 'litres', 3.785411784],
    [1, 'imperial gallon', 'l', 4.54609],
    [1, 'US pint', 'ml', 473.176473],
    [2, 'cups', 'fl oz', 16],
    [3, 'teaspoons', 'tablespoon', 1],
    [1, 'm³', 'L', 1000],
    [1, 'cu ft', 'in3', 1728],
    [1, 'barrel', 'gal', 42],
    // area
    [1, 'acre', 'm2', 4046.8564224],
    [1, 'ha', 'square meters', 10_000],
    [1, 'square mile', 'acres', 640],
    [1, 'sq ft', 'sq in', 144],
    [1, 'km^2', 'hectares', 100],
    // speed
    [100, 'km/h', 'mph', 62.137119223733],
    [36, 'kilometers per hour', 'm/s', 10],
    [1, 'knot', 'km/h', 1.852],
    [60, 'miles per hour', 'ft/s', 88],
    // time
    [90, 'minutes', 'hours', 1.5],
    [2, 'weeks', 'days', 14],
    [1, 'day', 's', 86_400],
    [1, 'year', 'days', 365.2425],
    [1, 'century', 'years', 100],
    // data
    [1, 'GB', 'MB', 1000],
    [1, 'GiB', 'MiB', 1024],
    [1, 'GiB', 'MB', 1073.741824],
    [8, 'Mb', 'MB', 1],
    [1, 'PiB', 'bits', 9_007_199_254_740_992],
    [1, 'byte', 'bits', 8],
    // pressure
    [1, 'atm', 'hPa', 1013.25],
    [1, 'bar', 'psi', 14.503773773021],
    [760, 'torr', 'atm', 1],
    [1, 'psi', 'Pa', 6894.7572931684],
    // energy
    [1, 'kWh', 'MJ', 3.6],
    [1, 'kcal', 'kJ', 4.184],
    [2000, 'Cal', 'kWh', 2.3244444444444],
    [1, 'BTU', 'J', 1055.05585262],
  ])('finds %d %s in %s to be %d', async (value, from, to, result) => {
    expect(await convert(value, from, to)).toMatchObject({ result });
  });

  it('names the units, however they were written', async () => {
    expect(await convert(5, 'MI', 'kilometer')).toEqual({
      value: 5,
      from: 'mile',
      result: 8.04672,
      to: 'kilometer',
      quantity: 'length',
      text: '5 miles = 8.04672 kilometers',
    });
    expect(await convert(1, ' square  Feet. ', 'cm²')).toMatchObject({
      text: '1 square foot = 929.0304 square centimeters',
    });
  });

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

  it.each([['1', 'm', 'km'], [NaN, 'm', 'km'], [Infinity, 'm', 'km'], [1, '', 'km'], [1, 'm', 'x'.repeat(65)], [
    1,
    5,
    'm',
  ]])(
    'has a bad input: %j %j %j',
    async (value, from, to) => {
      expect(await convert(value, from, to)).toMatchObject({
        code: 'invalid_argument',
        details: { reason: 'invalid_data' },
      });
    },
  );
});
