/** The functions and constants of the calculator. Angles are in radians. */

/** A function and how many arguments it takes. */
export interface CalculatorFunction {
  readonly least: number;
  readonly most: number;
  /** Returns `NaN` or an infinity where there is no real result. */
  readonly apply: (...values: readonly number[]) => number;
}

type Unary = (value: number) => number;

const unary: Readonly<Record<string, Unary>> = {
  sqrt: Math.sqrt,
  abs: Math.abs,
  floor: Math.floor,
  ceil: Math.ceil,
  sin: Math.sin,
  cos: Math.cos,
  tan: Math.tan,
  asin: Math.asin,
  acos: Math.acos,
  atan: Math.atan,
  ln: Math.log,
  log2: Math.log2,
  exp: Math.exp,
};

/** The functions by name. */
export const functions: ReadonlyMap<string, CalculatorFunction> = new Map<string, CalculatorFunction>([
  ...Object.entries(unary).map(([name, apply]): [string, CalculatorFunction] => [
    name,
    { least: 1, most: 1, apply: (value = NaN) => apply(value) },
  ]),
  ['round', { least: 1, most: 2, apply: round }],
  ['log', { least: 1, most: 2, apply: log }],
  ['min', { least: 1, most: Infinity, apply: Math.min }],
  ['max', { least: 1, most: Infinity, apply: Math.max }],
]);

/** The constants by name. */
export const constants: ReadonlyMap<string, number> = new Map([
  ['pi', Math.PI],
  ['e', Math.E],
  ['tau', 2 * Math.PI],
]);

/** Returns n! for whole numbers from 0 to 170, beyond which no double holds it; else `NaN`. */
export function factorial(value: number): number {
  if (!Number.isInteger(value) || value < 0 || value > 170) return NaN;
  let product = 1;
  for (let factor = 2; factor <= value; factor++) product *= factor;
  return product;
}

/** Half away from zero, as people round; to so many decimals, which may be negative. */
function round(value = NaN, decimals = 0): number {
  if (!Number.isInteger(decimals) || Math.abs(decimals) > 20) return NaN;
  return Math.sign(value) * shift(Math.round(shift(Math.abs(value), decimals)), -decimals);
}

/** Moves the decimal point in the text of the number, where 1.005 is still 1.005. */
function shift(value: number, places: number): number {
  const [digits = '', exponent = '0'] = String(value).split('e');
  return Number(`${digits}e${Number(exponent) + places}`);
}

function log(value = NaN, base = 10): number {
  if (base === 10) return Math.log10(value);
  return base === 2 ? Math.log2(value) : Math.log(value) / Math.log(base);
}
