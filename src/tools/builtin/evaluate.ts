/** Evaluates an arithmetic expression: a Pratt parser that calculates as it reads. */

import { calculationError } from './calculation-error.ts';
import { type CalculatorFunction, constants, factorial, functions } from './functions.ts';
import { suggest } from '../../base/suggest.ts';
import { type Token, tokenize } from './tokenize.ts';

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
export function evaluate(expression: string): number {
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
