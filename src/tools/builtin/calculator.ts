/** The built-in tool `calculator`: exact enough arithmetic with units, without code of the model. */

import * as v from 'valibot';
import { PinnaceError } from '../../base/errors.ts';
import { defineValibotTool } from '../make-tool.ts';
import type { Tool } from '../tool.ts';
import { suggest } from '../../base/check-options.ts';

const Input = v.strictObject({
  expression: v.pipe(
    v.string(),
    v.minLength(1),
    v.maxLength(1_000),
    v.title('Expression'),
    v.description(
      'What to calculate, as text. Operators: + - * / ^ (or **), ! for factorials, parentheses. "%" before a value is the ' +
        'remainder (17 % 5), else a percentage (15% of 80). Functions: sqrt, abs, round(x, decimals), floor, ceil, min, max, ' +
        'sin, cos, tan, asin, acos, atan (radians), ln, log(x, base 10), log2, exp. Constants: pi, e, tau. ' +
        'Write 1000 or 1_000, with a point for decimals: a comma only separates arguments.',
    ),
    v.examples(['(2 + 3) * 4', '15% of 80', 'sqrt(2) ^ 3', 'round(10 / 3, 2)']),
  ),
});

/** Creates the tool `calculator`. It evaluates with a parser of its own and never runs code. */
export function calculatorTool(): Tool {
  return defineValibotTool({
    id: 'calculator',
    title: 'Calculator',
    type: 'builtin',
    description:
      'Calculates an arithmetic expression exactly as written: sums, products, powers, roots, percentages, logarithms, ' +
      'trigonometry. Use it for every calculation instead of working the number out yourself.',
    category: 'math',
    keywords: [
      'calculate',
      'compute',
      'arithmetic',
      'math',
      'sum',
      'plus',
      'minus',
      'times',
      'divide',
      'percent',
      'root',
    ],
    annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
    input: Input,
    execute({ expression }) {
      const value = evaluate(expression);
      return { expression, value, text: `${expression.trim()} = ${format(value)}` };
    },
  });
}

/** Fifteen digits hide what binary fractions add: 0.1 + 0.2 reads 0.3. */
function format(value: number): string {
  return Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(15)));
}

interface Parser {
  readonly tokens: readonly Token[];
  next: number;
  depth: number;
}

interface Operator {
  /** The higher, the tighter it binds. */
  readonly power: number;
  /** What its right side must at least bind with: its own power, if a row of them is read from the right. */
  readonly rightPower: number;
  readonly apply: (left: number, right: number) => number;
}

const operators: ReadonlyMap<string, Operator> = new Map([
  ['+', { power: 10, rightPower: 11, apply: (a, b) => a + b }],
  ['-', { power: 10, rightPower: 11, apply: (a, b) => a - b }],
  ['*', { power: 20, rightPower: 21, apply: (a, b) => a * b }],
  ['/', { power: 20, rightPower: 21, apply: (a, b) => a / b }],
  ['%', { power: 20, rightPower: 21, apply: (a, b) => a % b }],
  ['^', { power: 40, rightPower: 40, apply: (a, b) => a ** b }],
]);

/** A sign binds tighter than a product and looser than a power: -2^2 is -4. */
const signPower = 30;

/** The deepest nesting of parentheses, signs and powers, so that no input overflows the stack. */
const maxDepth = 100;

const operand = 'a number, a name or "("';

/**
 * Returns the value, which is finite.
 *
 * From loose to tight: `+ -`, `* / %`, signs, `^` (also `**`, from the right), then `!` and `%` behind a value. A `%` is the
 * remainder when a value follows, else a percentage.
 *
 * @throws PinnaceError `invalid_argument` with the place and what was expected there, and for what has no finite real result.
 */
function evaluate(expression: string): number {
  const parser = { tokens: tokenize(expression), next: 0, depth: 0 };
  const value = parseExpression(parser, 0);
  const token = peek(parser);
  if (token.type !== 'end') throw unexpected(token, 'an operator or the end');
  return value === 0 ? 0 : value; // no negative zero
}

function parseExpression(parser: Parser, leastPower: number): number {
  if (++parser.depth > maxDepth) {
    throw calculationError(`it is nested deeper than ${maxDepth} levels`, { position: peek(parser).position });
  }
  let value = parsePostfix(parser);
  for (let operator = peekOperator(parser); operator && operator.power >= leastPower; operator = peekOperator(parser)) {
    const token = take(parser);
    const right = parseExpression(parser, operator.rightPower);
    if (right === 0 && isSymbol(token, '/', '%')) throw calculationError('it divides by zero', token);
    value = finite(operator.apply(value, right), token);
  }
  parser.depth--;
  return value;
}

function peekOperator(parser: Parser): Operator | undefined {
  const token = peek(parser);
  if (token.type !== 'symbol' || (token.symbol === '%' && isPercent(parser))) return undefined;
  return operators.get(token.symbol);
}

function isPercent({ tokens, next }: Parser): boolean {
  const after = tokens[next + 1];
  return !after || after.type === 'end' || (after.type === 'symbol' && after.symbol !== '(');
}

function parsePostfix(parser: Parser): number {
  let value = parseOperand(parser);
  for (;;) {
    const token = peek(parser);
    if (isSymbol(token, '!')) value = finite(factorial(value), take(parser));
    else if (isSymbol(token, '%') && isPercent(parser)) value = take(parser) && value / 100;
    else return value;
  }
}

function parseOperand(parser: Parser): number {
  const token = take(parser);
  switch (token.type) {
    case 'number':
      return token.value;
    case 'name':
      return parseName(parser, token);
    case 'symbol':
      return parsePrefix(parser, token);
    case 'end':
      throw unexpected(token, operand);
    default:
      return token satisfies never;
  }
}

function parsePrefix(parser: Parser, token: Token): number {
  if (isSymbol(token, '-')) return -parseExpression(parser, signPower);
  if (isSymbol(token, '+')) return parseExpression(parser, signPower);
  if (!isSymbol(token, '(')) throw unexpected(token, operand);
  const value = parseExpression(parser, 0);
  expectSymbol(parser, ')');
  return value;
}

function parseName(parser: Parser, token: Token & { readonly type: 'name' }): number {
  const constant = constants.get(token.name);
  if (constant !== undefined) return constant;
  const called = functions.get(token.name);
  if (called) return call(called, parseArguments(parser), token);
  const suggestions = suggest(token.name, [...functions.keys(), ...constants.keys()]);
  const hint = suggestions.length > 0 ? `; did you mean ${suggestions.map((name) => `"${name}"`).join(' or ')}?` : '';
  throw calculationError(`the name is neither a function nor a constant${hint}`.replace(/\?$/, ''), {
    position: token.position,
    suggestions,
  });
}

function parseArguments(parser: Parser): number[] {
  expectSymbol(parser, '(');
  const values = [parseExpression(parser, 0)];
  while (isSymbol(peek(parser), ',')) {
    take(parser);
    values.push(parseExpression(parser, 0));
  }
  expectSymbol(parser, ')');
  return values;
}

function call({ least, most, apply }: CalculatorFunction, values: readonly number[], token: Token): number {
  if (values.length >= least && values.length <= most) return finite(apply(...values), token);
  const expected = most === least ? `${least} argument` : `${least} to ${most} arguments`;
  throw calculationError(`expected ${expected}, found ${values.length}`, { position: token.position, expected });
}

function finite(value: number, { position }: Token): number {
  if (Number.isFinite(value)) return value;
  throw calculationError('there is no finite real result', { position });
}

function peek({ tokens, next }: Parser): Token {
  return tokens[Math.min(next, tokens.length - 1)] as Token; // safe: there is always an end
}

function take(parser: Parser): Token {
  const token = peek(parser);
  parser.next++;
  return token;
}

function isSymbol(token: Token, ...symbols: readonly string[]): boolean {
  return token.type === 'symbol' && symbols.includes(token.symbol);
}

function expectSymbol(parser: Parser, symbol: string): void {
  const token = take(parser);
  if (!isSymbol(token, symbol)) throw unexpected(token, `"${symbol}"`);
}

function unexpected(token: Token, expected: string): Error {
  const found = token.type === 'symbol' ? `"${token.symbol}"` : token.type === 'end' ? 'the end' : `a ${token.type}`;
  const hint = isSymbol(token, ',') ? '; write 1000 or 1_000, a comma only separates arguments' : '';
  return calculationError(`expected ${expected}, found ${found}${hint}`, { position: token.position, expected });
}

/** One word of an expression and its place, counted from 1. */
type Token =
  | { readonly type: 'number'; readonly value: number; readonly position: number }
  | { readonly type: 'name'; readonly name: string; readonly position: number }
  | { readonly type: 'symbol'; readonly symbol: string; readonly position: number }
  | { readonly type: 'end'; readonly position: number };

const space = /\s*/y;
const number = /(?:\d+(?:_\d+)*(?:\.(?:\d+(?:_\d+)*)?)?|\.\d+(?:_\d+)*)(?:[eE][+-]?\d+)?/y;
const namePattern = /[A-Za-z][A-Za-z0-9]*|π/y;
const symbol = /\*\*|[-+*/%^!(),×÷·−]/y;

/** Alternative characters that people type, with their meaning. */
const sameSymbol: Readonly<Record<string, string>> = { '**': '^', '×': '*', '·': '*', '÷': '/', '−': '-' };

/**
 * Returns the tokens, an `end` last. Numbers are written `12`, `1.5`, `.5`, `1e3` or `1_000`; digits are those of ASCII.
 *
 * @throws PinnaceError `invalid_argument` for a character that has no meaning here and a number that is out of range.
 */
function tokenize(expression: string): Token[] {
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
  const letters = match(namePattern, expression, at);
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

/** A function and how many arguments it takes. */
interface CalculatorFunction {
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
const functions: ReadonlyMap<string, CalculatorFunction> = new Map<string, CalculatorFunction>([
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
const constants: ReadonlyMap<string, number> = new Map([
  ['pi', Math.PI],
  ['e', Math.E],
  ['tau', 2 * Math.PI],
]);

/** Returns n! for whole numbers from 0 to 170, beyond which no double holds it; else `NaN`. */
function factorial(value: number): number {
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

/** Returns the error, with the position (counted from 1) and, in its details, what would have been right. */
function calculationError(
  why: string,
  { position, ...hints }: {
    readonly position: number;
    readonly expected?: string;
    readonly suggestions?: readonly string[];
  },
): PinnaceError {
  return new PinnaceError('invalid_argument', `Cannot calculate: at position ${position}, ${why}`, {
    details: { reason: 'invalid_expression', position, ...hints },
  });
}
