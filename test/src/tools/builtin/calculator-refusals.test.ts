import { describe, expect, it } from 'vitest';
import { calculatorTool } from '../../../../src/tools/builtin/calculator.ts';
import { outcomeOf } from '../../../fixtures/tools/tool-call.ts';

const calculator = calculatorTool();

function calculate(expression: unknown): Promise<Record<string, unknown>> {
  return outcomeOf(calculator, { expression });
}

describe('calculator, an expression that has no value', () => {
  it.each<[string, number, string]>([
    ['   ', 4, 'expected a number, a name or "(", found the end'],
    ['1 +', 4, 'expected a number, a name or "(", found the end'],
    ['* 2', 1, 'expected a number, a name or "(", found "*"'],
    ['1 2', 3, 'expected an operator or the end, found a number'],
    ['1.2.3', 4, 'expected an operator or the end, found a number'],
    ['2e', 2, 'expected an operator or the end, found a name'],
    ['2pi', 2, 'expected an operator or the end, found a name'],
    ['0x10', 2, 'expected an operator or the end, found a name'],
    ['2(3)', 2, 'expected an operator or the end, found "("'],
    ['pi(3)', 3, 'expected an operator or the end, found "("'],
    ['(1', 3, 'expected ")", found the end'],
    ['1)', 2, 'expected an operator or the end, found ")"'],
    ['()', 2, 'expected a number, a name or "(", found ")"'],
    ['sqrt 4', 6, 'expected "(", found a number'],
    ['max()', 5, 'expected a number, a name or "(", found ")"'],
    ['max(1,)', 7, 'expected a number, a name or "(", found ")"'],
    ['max(1 2)', 7, 'expected ")", found a number'],
    ['sin(1, 2)', 1, 'expected 1 argument, found 2'],
    ['round(1, 2, 3)', 1, 'expected 1 to 2 arguments, found 3'],
    ['1 < 2', 3, 'there is a character that is not used here'],
    ['1,5 + 1', 2, 'expected an operator or the end, found ","; write 1000 or 1_000, a comma only separates arguments'],
    ['1,000', 3, 'expected a number that does not begin with 0, such as 1000 or 1_000 (a comma separates arguments)'],
    ['007', 1, 'expected a number that does not begin with 0, such as 1000 or 1_000 (a comma separates arguments)'],
    ['1__0', 2, 'there is a character that is not used here'],
    ['１＋１', 1, 'there is a character that is not used here'],
    ['٣ + 1', 1, 'there is a character that is not used here'],
    ['sqr(4)', 1, 'the name is neither a function nor a constant; did you mean "sqrt"'],
    ['NaN', 1, 'the name is neither a function nor a constant; did you mean "tan"'],
    ['Infinity', 1, 'the name is neither a function nor a constant'],
    ['constructor', 1, 'the name is neither a function nor a constant'],
    ['toString()', 1, 'the name is neither a function nor a constant'],
    ['__proto__', 1, 'there is a character that is not used here'],
    ['alert(1)', 1, 'the name is neither a function nor a constant'],
    ['"a" + "b"', 1, 'there is a character that is not used here'],
    ['[1][0]', 1, 'there is a character that is not used here'],
    ['1 / 0', 3, 'it divides by zero'],
    ['1 / (2 - 2)', 3, 'it divides by zero'],
    ['0 / 0', 3, 'it divides by zero'],
    ['5 % 0', 3, 'it divides by zero'],
    ['0 ^ -1', 3, 'there is no finite real result'],
    ['1e999', 1, 'the number is too large'],
    ['1e308 * 10', 7, 'there is no finite real result'],
    ['10 ^ 400', 4, 'there is no finite real result'],
    ['exp(1000)', 1, 'there is no finite real result'],
    ['sqrt(-1)', 1, 'there is no finite real result'],
    ['(-8) ^ (1 / 3)', 6, 'there is no finite real result'],
    ['ln(0)', 1, 'there is no finite real result'],
    ['log(8, 1)', 1, 'there is no finite real result'],
    ['asin(2)', 1, 'there is no finite real result'],
    ['171!', 4, 'there is no finite real result'],
    ['2.5!', 4, 'there is no finite real result'],
    ['(-1)!', 5, 'there is no finite real result'],
    ['round(1, 0.5)', 1, 'there is no finite real result'],
  ])('says of %j at position %d: %s', async (expression, position, why) => {
    const result = await calculate(expression);
    expect(result).toMatchObject({
      code: 'invalid_argument',
      message: `Cannot calculate: at position ${position}, ${why}`,
      details: { reason: 'invalid_expression', position },
    });
  });

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
