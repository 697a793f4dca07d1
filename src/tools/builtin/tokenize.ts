/** Cuts an arithmetic expression into its words. */

import { calculationError } from './calculation-error.ts';

/** One word of an expression and its place, counted from 1. */
export type Token =
  | { readonly type: 'number'; readonly value: number; readonly position: number }
  | { readonly type: 'name'; readonly name: string; readonly position: number }
  | { readonly type: 'symbol'; readonly symbol: string; readonly position: number }
  | { readonly type: 'end'; readonly position: number };

const space = /\s*/y;
const number = /(?:\d+(?:_\d+)*(?:\.(?:\d+(?:_\d+)*)?)?|\.\d+(?:_\d+)*)(?:[eE][+-]?\d+)?/y;
const name = /[A-Za-z][A-Za-z0-9]*|π/y;
const symbol = /\*\*|[-+*/%^!(),×÷·−]/y;

/** Alternative characters that people type, with their meaning. */
const sameSymbol: Readonly<Record<string, string>> = { '**': '^', '×': '*', '·': '*', '÷': '/', '−': '-' };

/**
 * Returns the tokens, an `end` last. Numbers are written `12`, `1.5`, `.5`, `1e3` or `1_000`; digits are those of ASCII.
 *
 * @throws PinnaceError `invalid_argument` for a character that has no meaning here and a number that is out of range.
 */
export function tokenize(expression: string): Token[] {
  const tokens: Token[] = [];
  let at = skipSpace(expression, 0);
  while (at < expression.length) {
    const { token, length } = tokenAt(expression, at);
    tokens.push(token);
    at = skipSpace(expression, at + length);
  }
  tokens.push({ type: 'end', position: expression.length + 1 });
  return tokens;
}

function skipSpace(expression: string, at: number): number {
  return at + (match(space, expression, at)?.length ?? 0);
}

function tokenAt(expression: string, at: number): { token: Token; length: number } {
  const position = at + 1;
  const digits = match(number, expression, at);
  if (digits !== undefined) return { token: numberToken(digits, position), length: digits.length };
  const letters = match(name, expression, at);
  if (letters !== undefined) return { token: nameToken(letters, position), length: letters.length };
  const sign = match(symbol, expression, at);
  if (sign === undefined) throw calculationError('there is a character that is not used here', { position });
  return { token: { type: 'symbol', symbol: sameSymbol[sign] ?? sign, position }, length: sign.length };
}

function match(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0];
}

function numberToken(digits: string, position: number): Token {
  const value = Number(digits.replaceAll('_', ''));
  if (!Number.isFinite(value)) throw calculationError('the number is too large', { position });
  if (/^0\d/.test(digits)) {
    const expected = 'a number that does not begin with 0, such as 1000 or 1_000 (a comma separates arguments)';
    throw calculationError(`expected ${expected}`, { position, expected });
  }
  return { type: 'number', value, position };
}

/** "15% of 80" reads as a product. */
function nameToken(letters: string, position: number): Token {
  const lower = letters.toLowerCase();
  if (lower === 'of') return { type: 'symbol', symbol: '*', position };
  return { type: 'name', name: lower === 'π' ? 'pi' : lower, position };
}
