/** JSON text that is the same for the same data: keys in order, nothing between them. Walks with a stack of its own. */

import { PinnaceError } from '../../base/errors.ts';

/** The deepest nesting that is written: a nested view of 500 levels has 1,000, a list of children being a level too. */
const maxDepth = 1100;
const maxParts = 32 * 1024 * 1024;

type Step = { readonly text: string } | { readonly value: unknown; readonly depth: number };

/**
 * Returns the canonical text. What JSON has no word for is left out, as `JSON.stringify` does.
 *
 * @throws PinnaceError `invalid_argument` for data that is nested too deep (a cycle is) or too large.
 */
export function canonicalJson(data: unknown): string {
  const parts: string[] = [];
  const stack: Step[] = [{ value: data, depth: 0 }];
  for (let step = stack.pop(); step; step = stack.pop()) {
    if ('text' in step) parts.push(step.text);
    else if (typeof step.value !== 'object' || step.value === null) parts.push(JSON.stringify(step.value) ?? 'null');
    else push(stack, step.value, step.depth + 1);
    if (parts.length > maxParts) throw refused('it is too large');
  }
  return parts.join('');
}

function push(stack: Step[], value: object, depth: number): void {
  if (depth > maxDepth) throw refused(`it is nested deeper than ${maxDepth} levels`);
  const isArray = Array.isArray(value);
  const keys = isArray ? [] : Object.keys(value).toSorted();
  const record = value as Readonly<Record<string, unknown>>; // safe: read by its own keys only
  const steps: Step[] = [{ text: isArray ? '[' : '{' }];
  for (const [i, item] of (isArray ? value : keys.filter((key) => record[key] !== undefined)).entries()) {
    if (i > 0) steps.push({ text: ',' });
    if (!isArray) steps.push({ text: `${JSON.stringify(item)}:` });
    steps.push({ value: isArray ? item : record[item as string], depth });
  }
  steps.push({ text: isArray ? ']' : '}' });
  for (let i = steps.length - 1; i >= 0; i--) stack.push(steps[i]!);
}

function refused(why: string): PinnaceError {
  return new PinnaceError('invalid_argument', `Cannot read the data: ${why}`, {
    details: { reason: 'data_too_large' },
  });
}
