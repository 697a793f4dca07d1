/** The tool that converts units. */

import * as v from 'valibot';
import { defineTool, PinnaceError, type Tool } from '../../src/index.ts';
import { findUnit } from './find-unit.ts';
import { type Unit, units } from './units.ts';

const largest = 1e100;
const absoluteZero = -273.15;

function unitOf(description: string) {
  return v.pipe(
    v.string(),
    v.minLength(1),
    v.maxLength(64),
    v.description(description),
    v.examples(['kilometers', 'mi', 'lb', '°C', 'GiB', 'km/h']),
  );
}

const Input = v.strictObject({
  value: v.pipe(v.number(), v.minValue(-largest), v.maxValue(largest), v.description('How many of the first unit')),
  from: unitOf('The unit of the value: name, plural or symbol'),
  to: unitOf('The unit to convert to, of the same quantity'),
});

/** Returns the tool `convert_units`. */
export function convertUnitsTool(): Tool {
  return defineTool({
    id: 'convert_units',
    title: 'Unit converter',
    description:
      'Converts a measure from one unit to another: length, mass or weight, temperature, volume, area, speed, duration, ' +
      'data sizes, pressure and energy. Miles to kilometers, pounds to kilograms, Fahrenheit to Celsius, GiB to MB and so on.',
    category: 'math',
    keywords: [
      'units',
      'conversion',
      'metric',
      'imperial',
      'how many',
      'kilometres',
      'pounds',
      'degrees',
      'gallons',
      'bytes',
    ],
    annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
    input: Input,
    execute: ({ value, from, to }) => describe(value, findUnit(from, { name: 'from' }), findUnit(to, { name: 'to' })),
  });
}

function describe(value: number, from: Unit, to: Unit): Record<string, unknown> {
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
