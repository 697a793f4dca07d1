/** Converts a measure from one unit to another. */

import { PinnaceError } from '../../src/index.ts';
import { findUnit } from './find-unit.ts';
import { type Unit, units } from './units.ts';

const absoluteZero = -273.15;

/** What to convert: units by name, plural or symbol. */
export interface Conversion {
  readonly value: number;
  readonly from: string;
  readonly to: string;
}

/** Converts a measure, or throws what is wrong with it. */
export function convertUnits(input: Conversion): Record<string, unknown> {
  const { value } = input;
  const [from, to] = [findUnit(input.from, { name: 'from' }), findUnit(input.to, { name: 'to' })];
  if (from.quantity !== to.quantity) throw incompatible(from, to);
  const result = convert(value, from, to);
  return {
    value,
    from: from.name,
    result,
    to: to.name,
    quantity: from.quantity,
    text: `${count(value, from)} = ${count(result, to)}`,
  };
}

function convert(value: number, from: Unit, to: Unit): number {
  if (from === to) return value;
  const inBase = (value - from.zero) * from.factor;
  if (from.quantity !== 'temperature') return tidy(inBase / to.factor);
  if (inBase < absoluteZero - 1e-9) throw tooCold();
  return tidy(Number((inBase / to.factor + to.zero).toFixed(10))); // near a zero point, digits are lost by the subtraction
}

/** Fourteen digits hide what binary fractions add; whole numbers are exact as they are. */
function tidy(value: number): number {
  const tidied = Number.isInteger(value) ? value : Number(value.toPrecision(14));
  return tidied === 0 ? 0 : tidied;
}

function count(value: number, { name, plural }: Unit): string {
  return `${value} ${Math.abs(value) === 1 ? name : plural}`;
}

function incompatible(from: Unit, to: Unit): PinnaceError {
  const compatible = units.filter(({ quantity }) => quantity === from.quantity).map(({ name }) => name);
  return new PinnaceError(
    'invalid_argument',
    `Cannot convert ${from.name} to ${to.name}: ${from.quantity} is not ${to.quantity}; compatible units are ` +
      `${compatible.slice(0, 8).join(', ')}${compatible.length > 8 ? ' and others' : ''}`,
    { details: { reason: 'incompatible_units', compatible } },
  );
}

function tooCold(): PinnaceError {
  return new PinnaceError(
    'invalid_argument',
    'Cannot convert the temperature: it is below absolute zero (-273.15 °C)',
    {
      details: { reason: 'below_absolute_zero' },
    },
  );
}
