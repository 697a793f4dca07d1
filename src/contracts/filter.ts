/** The small filter language of grounding: conditions on fields that must all hold, with alternatives in `any`. */

import * as v from 'valibot';
import { PinnaceError } from '../base/errors.ts';

/** Every operator. */
export const filterOps = ['eq', 'ne', 'in', 'gt', 'gte', 'lt', 'lte', 'contains', 'exists'] as const;
/** What a condition does with the field's value. */
export type FilterOp = (typeof filterOps)[number];

const Scalar = v.union([
  v.pipe(v.string(), v.maxLength(4096)),
  v.pipe(v.number(), v.check((value: number) => Number.isFinite(value), 'must be finite')),
  v.boolean(),
  v.null(),
]);

/**
 * One condition. `eq`, `ne`, `gt`, `gte`, `lt`, `lte` and `contains` take one value, `in` a list, `exists` a boolean or nothing.
 */
const Condition = v.strictObject({
  /** The name of a field; dots lead into nested ones. */
  field: v.pipe(v.string(), v.minLength(1), v.maxLength(200)),
  op: v.picklist(filterOps),
  value: v.optional(v.union([Scalar, v.pipe(v.array(Scalar), v.maxLength(1000))])),
});
type Condition = v.InferOutput<typeof Condition>;

/** A condition, or several of which one must hold. */
export const Filter = v.union([
  Condition,
  v.strictObject({ any: v.pipe(v.array(Condition), v.minLength(1), v.maxLength(50)) }),
]);
export type Filter = v.InferOutput<typeof Filter>;

/** Filters that must all hold. */
export const Filters = v.pipe(v.array(Filter), v.maxLength(50));

/** The operators that the filters use. */
export function opsOf(filters: readonly Filter[]): ReadonlySet<FilterOp> {
  return new Set(filters.flatMap((filter) => 'any' in filter ? filter.any.map(({ op }) => op) : [filter.op]));
}

/**
 * Makes a test of the filters. A number compares with numbers, and with text that writes one (see {@link numberIn}), a boolean with
 * text that is `true` or `false`; other values compare with their own type. Text compares by code unit, so that dates as ISO 8601 sort; a list has what any of its members has; a field that is absent is only unequal.
 *
 * @throws PinnaceError `invalid_argument` for a value that does not fit its operator.
 */
export function compileFilters<Item>(
  filters: readonly Filter[],
  read: (item: Item, field: string) => unknown,
): (item: Item) => boolean {
  const tests = filters.map((filter) => {
    if (!('any' in filter)) return compile(filter, read);
    const some = filter.any.map((condition) => compile(condition, read));
    return (item: Item) => some.some((test) => test(item));
  });
  return (item) => tests.every((test) => test(item));
}

/**
 * Returns the number that a value is or writes: a decimal as JSON has it, without an exponent. Codes such as `007` and `1E5` are
 * text, as they are in files of values.
 */
export function numberIn(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  const isDecimal = typeof value === 'string' && /^-?(?:0|[1-9]\d{0,14})(?:\.\d{1,15})?$/.test(value);
  return isDecimal ? Number(value) : undefined;
}

/** Reads a field of plain data, own properties only; dots lead into nested objects where no property has the whole name. */
export function readField(data: unknown, field: string): unknown {
  if (typeof data !== 'object' || data === null) return undefined;
  if (Object.hasOwn(data, field)) return (data as Record<string, unknown>)[field];
  const dot = field.indexOf('.');
  return dot < 0 ? undefined : readField(readField(data, field.slice(0, dot)), field.slice(dot + 1));
}

function compile<Item>(condition: Condition, read: (item: Item, field: string) => unknown): (item: Item) => boolean {
  const { field } = condition;
  const test = testOf(condition);
  return (item) => test(read(item, field));
}

function testOf({ field, op, value }: Condition): (actual: unknown) => boolean {
  switch (op) {
    case 'exists': {
      if (value !== undefined && typeof value !== 'boolean') throw unfit(field, op, 'true, false or nothing');
      return (actual) => (actual !== undefined && actual !== null) === (value ?? true);
    }
    case 'in': {
      if (!Array.isArray(value)) throw unfit(field, op, 'a list');
      const allowed = new Set<unknown>(value);
      return (actual) => someOf(actual, (one) => allowed.has(one) || allowed.has(written(one)));
    }
    case 'eq':
    case 'ne': {
      if (value === undefined || Array.isArray(value)) throw unfit(field, op, 'one value');
      const isSame = (one: unknown): boolean => one === value || (typeof value !== 'string' && written(one) === value);
      return (actual) => someOf(actual, isSame) === (op === 'eq');
    }
    case 'contains': {
      if (value === undefined || Array.isArray(value)) throw unfit(field, op, 'one value');
      return (actual) =>
        typeof actual === 'string'
          ? typeof value === 'string' && actual.includes(value)
          : Array.isArray(actual) && actual.includes(value);
    }
    default: {
      if (typeof value !== 'number' && typeof value !== 'string') throw unfit(field, op, 'a number or a text');
      const comparable = (one: unknown): unknown => typeof value === 'number' ? numberIn(one) : one;
      return (actual) =>
        someOf(actual, (one) => {
          const other = comparable(one);
          return typeof other === typeof value && compares(op, other as typeof value, value);
        });
    }
  }
}

/** The number or the boolean that a text writes, as values of files are text. */
function written(value: unknown): number | boolean | undefined {
  if (typeof value !== 'string') return undefined;
  return value === 'true' || value === 'false' ? value === 'true' : numberIn(value);
}

function compares(op: 'gt' | 'gte' | 'lt' | 'lte', actual: string | number, value: string | number): boolean {
  if (op === 'gt') return actual > value;
  if (op === 'gte') return actual >= value;
  return op === 'lt' ? actual < value : actual <= value;
}

function someOf(actual: unknown, test: (one: unknown) => boolean): boolean {
  return Array.isArray(actual) ? actual.some(test) : test(actual);
}

function unfit(field: string, op: FilterOp, wanted: string): PinnaceError {
  return new PinnaceError('invalid_argument', `Cannot filter by "${field.slice(0, 64)}": "${op}" takes ${wanted}`, {
    details: { reason: 'invalid_filter' },
  });
}
