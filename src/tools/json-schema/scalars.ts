/** The keywords of JSON Schema for numbers and texts. */

import type { Findings } from './findings.ts';

/** Evaluates a number by the keywords that are about numbers. */
export function evaluateNumber(value: number, { schema, fail }: Findings): void {
  const holds = (keyword: string, test: (bound: number) => boolean): void => {
    const bound = schema[keyword];
    if (typeof bound === 'number' && !test(bound)) fail(keyword);
  };
  holds('minimum', (bound) => value >= bound);
  holds('maximum', (bound) => value <= bound);
  holds('exclusiveMinimum', (bound) => value > bound);
  holds('exclusiveMaximum', (bound) => value < bound);
  holds('multipleOf', (bound) => isMultipleOf(value, bound));
}

/** In whole numbers: 0.3 is a multiple of 0.1, whatever the remainder of binary fractions. */
function isMultipleOf(value: number, divisor: number): boolean {
  if (!Number.isFinite(value) || divisor <= 0) return false;
  const [a, b] = [decimalOf(value), decimalOf(divisor)];
  const shift = a.exponent - b.exponent;
  if (shift >= 0) return (a.digits * 10n ** BigInt(shift)) % b.digits === 0n;
  return a.digits % (b.digits * 10n ** BigInt(-shift)) === 0n;
}

function decimalOf(value: number): { readonly digits: bigint; readonly exponent: number } {
  const [coefficient = '0', exponent = '0'] = String(Math.abs(value)).split('e');
  const [whole = '0', fraction = ''] = coefficient.split('.');
  return { digits: BigInt(whole + fraction), exponent: Number(exponent) - fraction.length };
}

/** Evaluates a text by the keywords that are about texts. */
export function evaluateString(value: string, { schema, fail, context }: Findings): void {
  const { minLength, maxLength, pattern, format } = schema;
  if (typeof minLength === 'number' || typeof maxLength === 'number') {
    const length = lengthOf(value);
    if (typeof minLength === 'number' && length < minLength) {
      fail('minLength', `String is too short (${length} < ${minLength}).`);
    }
    if (typeof maxLength === 'number' && length > maxLength) {
      fail('maxLength', `String is too long (${length} > ${maxLength}).`);
    }
  }
  if (typeof pattern === 'string' && !context.matches(pattern, value)) fail('pattern');
  if (typeof format === 'string' && !context.isOfFormat(format, value)) fail('format');
}

/** Characters, not code units. */
function lengthOf(text: string): number {
  let length = 0;
  for (let at = 0; at < text.length; at++) {
    if (text.codePointAt(at)! > 0xffff) at++;
    length++;
  }
  return length;
}
