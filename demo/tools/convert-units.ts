/** The tool that converts units. */

import * as v from 'valibot';
import { defineTool, type Tool } from '../../src/index.ts';

const largest = 1e100;

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
    execute: async (input) => (await import('./convert.ts')).convertUnits(input), // the units are fetched with the first call
  });
}
