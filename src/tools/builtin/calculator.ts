/** The tool that calculates. */

import * as v from 'valibot';
import { defineValibotTool } from '../valibot-tool.ts';
import type { Tool } from '../tool.ts';
import { evaluate } from './evaluate.ts';

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
