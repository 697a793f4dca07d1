/** Reads schemas of valibot, Zod, ArkType and other libraries: as JSON Schema and as a check. */

import type * as v from 'valibot';
import { PinnaceError } from '../../base/errors.ts';
import { type Issue, pathText } from '../../base/parse.ts';
import type { StandardResult, StandardSchema } from '../../base/agent/standard-schema.ts';
import { type ReadSchema, readValibot } from './read-valibot.ts';

/** Whether it is a schema of a library; a schema of ArkType is a function. */
export function isStandard(schema: unknown): schema is StandardSchema {
  return ((typeof schema === 'object' && schema !== null) || typeof schema === 'function') && '~standard' in schema;
}

/**
 * Reads a schema. `side` says which side of its transformations the JSON Schema shows. Throws an `Error` that says why JSON Schema
 * cannot.
 */
export function readStandard(schema: StandardSchema, side: 'input' | 'output' = 'input'): ReadSchema {
  const { vendor, jsonSchema, validate } = schema['~standard'];
  if (jsonSchema) {
    const { $schema: _, ...shown } = jsonSchema[side]({ target: 'draft-2020-12' });
    return {
      jsonSchema: shown,
      check(value) {
        const result = validate(value);
        if (result instanceof Promise) throw asynchronous();
        return result.issues ? { ok: false, issues: issuesOf(result) } : { ok: true, input: result.value };
      },
    };
  }
  if (vendor === 'valibot') return readValibot(schema as unknown as v.GenericSchema, side); // its own, as it says
  throw new TypeError('its library does not show it as JSON Schema (Zod does from 4.2)');
}

function asynchronous(): PinnaceError {
  return new PinnaceError('internal', 'Cannot check the value: its schema is asynchronous; check it in the tool', {
    details: { reason: 'async_schema' },
  });
}

/**
 * What is wrong with a value, without the value: libraries append what they received, or name unknown keys. What they expected comes
 * from the schema.
 */
export function issuesOf({ issues = [] }: StandardResult<unknown>): readonly Issue[] {
  return issues.slice(0, 20).map(({ message, path = [] }) => ({
    path: pathText(path.map((step) => String(typeof step === 'object' ? step.key : step))),
    message: /(?:\b(?:must|is|has|expected) |^Too |^Invalid ).*/is.exec(message)?.[0]
      .replace(/ \(was .*$|,? (?:but )?(?:received|got|actual) .*$/s, '').slice(0, 200) ?? 'is not valid',
  }));
}
