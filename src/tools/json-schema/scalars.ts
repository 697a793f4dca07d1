/** The keywords of JSON Schema for numbers and texts. */

import type { Evaluation, Findings } from './findings.ts';

/** Evaluates a number by the keywords that are about numbers. */
export function evaluateNumber(value: number, findings: Findings): void {
  const { schema, context } = findings;
  const holds = (keyword: string, test: (bound: number) => boolean): void => {
    const bound = schema[keyword];
    if (typeof bound === 'number' && !test(bound)) findings.fail(keyword);
  };
  holds('minimum', (bound) => value >= bound);
  holds('maximum', (bound) => value <= bound);
  holds('exclusiveMinimum', (bound) => value > bound);
  holds('exclusiveMaximum', (bound) => value < bound);
  holds('multipleOf', (bound) => (context.spend(workOf(value, bound)), isMultipleOf(value, bound)));
}

/** In whole numbers: 0.3 is a multiple of 0.1, whatever the remainder of binary fractions. */
function isMultipleOf(value: number, divisor: number): boolean {
  if (!Number.isFinite(value) || divisor <= 0) return false;
  const [a, b] = [decimalOf(value), decimalOf(divisor)];
  const shift = a.exponent - b.exponent;
  if (shift >= 0) return (a.digits * 10n ** BigInt(shift)) % b.digits === 0n;
  return a.digits % (b.digits * 10n ** BigInt(-shift)) === 0n;
}

/** Whole numbers of many digits are slow. */
function workOf(value: number, divisor: number): number {
  return Math.abs(value) < 1e21 && divisor > 1e-21 ? 1 : 10;
}

function decimalOf(value: number): { readonly digits: bigint; readonly exponent: number } {
  const [coefficient = '0', exponent = '0'] = String(Math.abs(value)).split('e');
  const [whole = '0', fraction = ''] = coefficient.split('.');
  return { digits: BigInt(whole + fraction), exponent: Number(exponent) - fraction.length };
}

/** Evaluates a text by the keywords that are about texts. */
export function* evaluateString(value: string, findings: Findings): Evaluation<void> {
  const { schema: { minLength, maxLength, pattern, format }, context } = findings;
  if (isOpen(value, minLength, maxLength)) {
    const length = yield* lengthOf(value, context.spend);
    if (typeof minLength === 'number' && length < minLength) {
      findings.fail('minLength', `String is too short (${length} < ${minLength}).`);
    }
    if (typeof maxLength === 'number' && length > maxLength) {
      findings.fail('maxLength', `String is too long (${length} > ${maxLength}).`);
    }
  }
  if (typeof pattern === 'string' && !(yield* context.matcher(pattern).search(value, context.patternWork))) {
    findings.fail('pattern');
  }
  if (typeof format !== 'string') return;
  if (context.spend(value.length / 64)) yield;
  if (!context.isOfFormat(format, value)) findings.fail('format');
}

/** Whether the characters have to be counted: there are at most as many as code units, and at least half as many. */
function isOpen({ length }: string, least: unknown, most: unknown): boolean {
  return (typeof most === 'number' && length > most) || (typeof least === 'number' && length / 2 < least);
}

/** Characters, not code units. */
function* lengthOf(text: string, spend: (units: number) => boolean): Evaluation<number> {
  let length = 0;
  for (let at = 0; at < text.length; at++) {
    if (text.codePointAt(at)! > 0xffff) at++;
    length++;
    if (length % 64 === 0 && spend(1)) yield;
  }
  return length;
}
