import { describe, expect, it } from 'vitest';
import { calculatorTool } from '../../../../src/tools/builtin/calculator.ts';
import { outcomeOf } from '../../../fixtures/tools/tool-call.ts';
import refusals from '../../../fixtures/vectors/calculator-refusals.json' with { type: 'json' };

const calculator = calculatorTool();

function calculate(expression: unknown): Promise<Record<string, unknown>> {
  return outcomeOf(calculator, { expression });
}

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
