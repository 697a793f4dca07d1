/** Reads the arguments of a call: their bytes and lists are bounded before anything looks into them. */

import { isRecord } from '../../../base/is-record.ts';
import { PinnaceError } from '../../../base/errors.ts';
import { checkData } from '../../../base/json.ts';
import { parse } from '../../../base/parse.ts';
import { isLargerThan } from '../pages/answer-size.ts';
import type { ToolSpec } from '../tool-spec.ts';
import type { CallContext } from '../caller.ts';
import type { Output } from '../output.ts';

/** Lists that could be long, and which bound holds for each. */
const bounded = {
  includedProperties: 'maxPaths',
  excludedProperties: 'maxPaths',
  filters: 'maxPaths',
  payloadTypes: 'maxPaths',
  operations: 'maxBatch',
} as const;
const bounds = Object.entries(bounded);

/** Returns the arguments as the tool's schema makes them. @throws PinnaceError `invalid_argument` */
export function readArguments(context: CallContext, spec: ToolSpec, input: unknown): Output {
  const { viewJson: _, ...rest } = isRecord(input) ? input : {};
  const own = isRecord(input) ? rest : input; // a view may be larger and deeper; the import has limits of its own
  if (isLargerThan(own, context.limits.inputBytes)) throw tooLarge(spec.name, context.limits.inputBytes);
  for (const [name, bound] of bounds) {
    const list = Object.hasOwn(rest, name) ? (rest as Output)[name] : undefined; // safe: read by an own key
    const most = context.limits[bound];
    if (Array.isArray(list) && list.length > most) throw tooMany(name, list.length, most);
    if (name.endsWith('Properties') && isLargerThan(list, context.limits.responseBytes / 4)) {
      throw tooLarge(spec.name, context.limits.responseBytes / 4); // answers repeat them
    }
  }
  checkData(own);
  const args = parse(spec.input, input, { what: `the input of tool "${spec.name}"` });
  spec.guard?.(context, args);
  return args;
}

function tooLarge(tool: string, most: number): PinnaceError {
  return new PinnaceError(
    'invalid_argument',
    `Cannot read the input of tool "${tool}": it takes more than ${most} bytes; send less at once`,
    { details: { reason: 'too_large', limit: most } },
  );
}

function tooMany(name: string, length: number, most: number): PinnaceError {
  return new PinnaceError(
    'invalid_argument',
    `Cannot take ${length} "${name}": at most ${most} are allowed in one call`,
    {
      details: { reason: 'batch_too_large', limit: most },
    },
  );
}
