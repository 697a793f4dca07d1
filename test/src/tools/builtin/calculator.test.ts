import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { calculatorTool } from '../../../../src/tools/builtin/calculator.ts';
import { runs } from '../../../fixtures/budget.ts';
import { type Ast, astOf, printAst, valueOf } from '../../../fixtures/chance/arithmetic.ts';
import { outcomeOf } from '../../../fixtures/tools/tool-call.ts';
import refusals from '../../../fixtures/vectors/calculator-refusals.json' with { type: 'json' };

const calculator = calculatorTool();

function calculate(expression: unknown): Promise<Record<string, unknown>> {
  return outcomeOf(calculator, { expression });
}

describe('calculator', () => {
  it.each<[string, number]>([
    // numbers
    ['7', 7],
    ['1.5', 1.5],
    ['.5', 0.5],
    ['5.', 5],
    ['0.25', 0.25],
    ['0', 0],
    ['1e3', 1000],
    ['1E3', 1000],
    ['2.5e-3', 0.0025],
    ['1e+2', 100],
    ['1_000', 1000],
    ['1_000_000.000_1', 1000000.0001],
    // sums and products
    ['1 + 2', 3],
    ['1+2+3', 6],
    ['10 - 4 - 3', 3],
    ['2 + 3 * 4', 14],
    ['(2 + 3) * 4', 20],
    ['2 * 3 + 4', 10],
    ['100 / 10 / 5', 2],
    ['100 / (10 / 5)', 50],
    ['6 / 4', 1.5],
    ['7 - 2 * 3', 1],
    ['2 * 3 * 4', 24],
    ['3 × 4', 12],
    ['12 ÷ 4', 3],
    ['3 · 4', 12],
    ['5 − 2', 3],
    [' \t1\n+\u00a01 ', 2],
    // signs
    ['-5', -5],
    ['+5', 5],
    ['--5', 5],
    ['-+-5', 5],
    ['3 - -2', 5],
    ['3 * -2', -6],
    ['-3 * 2', -6],
    ['-(1 + 2)', -3],
    ['-0', 0],
    ['0 * -1', 0],
    // powers
    ['2 ^ 10', 1024],
    ['2 ** 10', 1024],
    ['2 ^ 3 ^ 2', 512],
    ['(2 ^ 3) ^ 2', 64],
    ['-2 ^ 2', -4],
    ['(-2) ^ 2', 4],
    ['2 ^ -1', 0.5],
    ['2 ^ -2 ^ 2', 0.0625],
    ['2 * 3 ^ 2', 18],
    ['-2 ^ -2', -0.25],
    ['4 ^ 0.5', 2],
    ['0 ^ 0', 1],
    ['(-8) ^ 3', -512],
    // remainders and percentages
    ['17 % 5', 2],
    ['-17 % 5', -2],
    ['17 % 5 * 2', 4],
    ['17.5 % 5', 2.5],
    ['17 % (2 + 3)', 2],
    ['10 % pi', 10 % Math.PI],
    ['50%', 0.5],
    ['50% * 80', 40],
    ['200 * 15%', 30],
    ['15% of 80', 12],
    ['15% OF (40 + 40)', 12],
    ['200 + 10%', 200.1],
    ['50%%', 0.005],
    ['5% - 3', -2.95],
    ['-50%', -0.5],
    ['(1 + 1)%', 0.02],
    ['2 ^ 50%', Math.SQRT2],
    // factorials
    ['0!', 1],
    ['5!', 120],
    ['3!!', 720],
    ['-3!', -6],
    ['2 ^ 3!', 64],
    ['3! % 4', 2],
    ['20!', 2432902008176640000],
    ['170! / 169!', 170],
    // functions and constants
    ['pi', Math.PI],
    ['π', Math.PI],
    ['PI', Math.PI],
    ['e', Math.E],
    ['tau / 2', Math.PI],
    ['sqrt(16)', 4],
    ['SQRT(16)', 4],
    ['sqrt(2) ^ 2', Math.sqrt(2) ** 2],
    ['abs(-3)', 3],
    ['round(2.5)', 3],
    ['round(-2.5)', -3],
    ['round(1.005, 2)', 1.01],
    ['round(1234, -2)', 1200],
    ['round(1e21)', 1e21],
    ['round(1e-9, 3)', 0],
    ['floor(-1.5)', -2],
    ['ceil(1.2)', 2],
    ['min(3, 1, 2)', 1],
    ['max(3)', 3],
    ['max(1, 2 + 3, min(9, 8))', 8],
    ['sin(0)', 0],
    ['cos(0)', 1],
    ['tan(0)', 0],
    ['asin(1)', Math.PI / 2],
    ['acos(1)', 0],
    ['atan(1) * 4', Math.PI],
    ['ln(e)', 1],
    ['log(1000)', 3],
    ['log(8, 2)', 3],
    ['log(81, 3)', Math.log(81) / Math.log(3)],
    ['log2(1024)', 10],
    ['exp(0)', 1],
    ['-sqrt(4) ^ 2', -4],
    ['abs(-5)!', 120],
  ])('finds %j to be %d', async (expression, value) => {
    expect(await calculate(expression)).toMatchObject({ expression, value });
  });

  it('agrees with a reference on every expression that can be written', async () => {
    await fc.assert(
      fc.asyncProperty(astOf(), async (ast: Ast) => {
        const expression = printAst(ast);
        fc.pre(expression.length <= 1_000);
        const value = valueOf(ast);
        const result = await calculate(expression);
        const noNegativeZero = value === 0 ? 0 : value;
        expect(result).toMatchObject(value === undefined ? { code: 'invalid_argument' } : { value: noNegativeZero });
      }),
      { numRuns: runs(500) },
    );
  });

  it('answers any text with a value or with what is wrong at which position', async () => {
    const words = [
      '1',
      '2.5',
      '+',
      '-',
      '*',
      '/',
      '%',
      '^',
      '!',
      '(',
      ')',
      ',',
      'sin',
      'max',
      'pi',
      ' ',
      'x',
      '$',
      '٣',
    ];
    const text = fc.array(fc.constantFrom(...words), { minLength: 1, maxLength: 40 }).map((parts) => parts.join(''));
    await fc.assert(
      fc.asyncProperty(text, async (expression) => {
        const { value, code, details } = await calculate(expression);
        expect({ value, code, details }).toSatisfy(() =>
          code === undefined ? Number.isFinite(value) : JSON.stringify(details).includes('"position":')
        );
      }),
      { numRuns: runs(1_000) },
    );
  });
});

describe('calculatorTool', () => {
  it('is a read-only built-in tool whose input a model can read', () => {
    expect(calculator.definition).toMatchObject({
      id: 'calculator',
      type: 'builtin',
      annotations: { readOnlyHint: true, idempotentHint: true },
      keywords: expect.arrayContaining(['arithmetic']),
      paramsSchema: {
        type: 'object',
        required: ['expression'],
        additionalProperties: false,
        properties: {
          expression: { type: 'string', minLength: 1, maxLength: 1_000, description: expect.stringContaining('sqrt') },
        },
      },
    });
  });
});

describe('calculator, an expression that has no value', () => {
  it.each(refusals as [string, number, string][])(
    'says of %j at position %d: %s',
    async (expression, position, why) => {
      const result = await calculate(expression);
      expect(result).toMatchObject({
        code: 'invalid_argument',
        message: `Cannot calculate: at position ${position}, ${why}`,
        details: { reason: 'invalid_expression', position },
      });
    },
  );

  it('carries suggestions for a name', async () => {
    expect(await calculate('flor(2.5)')).toMatchObject({ details: { suggestions: ['floor'] } });
  });

  it.each([
    ['parentheses', '('.repeat(400) + '1' + ')'.repeat(400)],
    ['signs', `${'-'.repeat(900)}1`],
    ['powers', `1${'^1'.repeat(450)}`],
    ['calls', `${'abs('.repeat(150)}1${')'.repeat(150)}`],
  ])('is refused when it nests %s too deep', async (_, expression) => {
    expect(await calculate(expression)).toMatchObject({
      code: 'invalid_argument',
      message: expect.stringContaining('it is nested deeper than 100 levels'),
    });
  });

  it.each([
    ['10,000 parentheses', '('.repeat(10_000)],
    ['1,001 digits', '1'.repeat(1_001)],
    ['nothing', ''],
    ['no text', 5],
    ['a list', ['1+1']],
    ['null', null],
  ])('is refused before it is read: %s', async (_, expression) => {
    expect(await calculate(expression)).toMatchObject({
      code: 'invalid_argument',
      details: { reason: 'invalid_data' },
    });
  });

  it('is evaluated flat when it is only long', async () => {
    expect(await calculate(`1${'+1'.repeat(499)}`)).toMatchObject({ value: 500 });
    expect(await calculate(`1${'!'.repeat(999)}`)).toMatchObject({ value: 1 });
  });
});
