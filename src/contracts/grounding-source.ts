/** The port to data sources. */

import * as v from 'valibot';
import { PinnaceError } from '../base/errors.ts';

/** What a grounding source searches. */
export type GroundingKind = 'search' | 'vector' | 'structured' | 'code';

/** A question to one source. */
export interface GroundingRequest {
  /** The owner of the data: part of the storage key, never a filter. A tenant, or a tenant with a subject. */
  readonly tenant: string;
  readonly query?: string | undefined;
  readonly embedding?: ArrayLike<number> | undefined;
  /** The maximum number of hits, 1 to 200. */
  readonly topK: number;
  /** Every hit matches all of them. */
  readonly filters: readonly Filter[];
  /** The order of a structured source's hits; text and numbers as they compare. */
  readonly sort?: readonly { readonly field: string; readonly direction?: 'asc' | 'desc' | undefined }[] | undefined;
  /** Figures of a structured source instead of its records: one hit for each value of `by`, or one for all. */
  readonly aggregate?: GroundingAggregate | undefined;
}

/** What a structured source adds up. */
export interface GroundingAggregate {
  readonly by?: string | undefined;
  readonly figures: readonly {
    readonly op: 'count' | 'sum' | 'avg' | 'min' | 'max';
    readonly field?: string | undefined;
  }[];
}

/** The source of a hit. Lines count from 1, both ends included. */
export interface GroundingOrigin {
  readonly uri: string;
  readonly path?: string;
  readonly lines?: readonly [from: number, to: number];
  /** The version of the source, or of the file, that was read. */
  readonly version: string;
  readonly updatedAt?: string;
}

/** One result of one source. */
export interface SourceHit {
  readonly id: string;
  readonly content: string;
  /** Which part of the whole text the content is, in UTF-16 code units; absent for all of it. */
  readonly contentRange?: readonly [from: number, to: number];
  readonly title?: string;
  readonly source: GroundingOrigin;
  /** The source's own score; not comparable with that of another source. */
  readonly score: number;
  readonly scoreKind: 'bm25' | 'cosine' | 'exact' | 'rerank';
  /** The probability that the hit is relevant, 0 to 1. */
  readonly confidence: number;
  /** The probability that the source answers the query at all, judged by this hit, 0 to 1; the confidence when absent. */
  readonly answered?: number;
  /** Where the query matched, in UTF-16 code units of the content or of another field. */
  readonly matched: readonly { readonly field: string; readonly ranges: readonly (readonly [number, number])[] }[];
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** The amount of data that a source stores for one tenant. */
export interface GroundingStats {
  /** Changes with every change of the stored data. */
  readonly version: string;
  readonly items: number;
  /** Figures for the operator of the source: sizes, measured quality. */
  readonly details?: Readonly<Record<string, unknown>>;
}

/** The kinds of request that a source supports. */
export interface GroundingCapabilities {
  readonly query: boolean;
  readonly embedding: boolean;
  readonly filters: readonly FilterOp[];
  /** Sorting and figures. */
  readonly records: boolean;
}

/**
 * A source of context for agents.
 *
 * `retrieve` returns at most `topK` hits of the request's tenant, the best first. It applies filters before it scores and cuts. Every
 * hit has content, its source and a confidence of 0 to 1; ids are unique. Without a match the list is empty. The same request on the
 * same version returns the same hits in the same order; changes to a returned hit do not change the stored data. Rejects with
 * `invalid_argument` for an empty request or an unsupported capability, `unavailable` when the source does not answer, `cancelled`
 * after the signal has aborted. No error contains a query or content.
 */
export interface GroundingSource {
  readonly id: string;
  readonly kind: GroundingKind;
  readonly capabilities: GroundingCapabilities;
  /** How much its hits count beside those of other sources, as measured; 1 when absent. `weights` of `createGrounding` replace it. */
  readonly quality?: number;
  /**
   * Whose the items are: of the caller's tenant (when absent), of the caller's subject alone (`perSubject`), or of the caller's tenant
   * and of all tenants (`shared: true`).
   */
  readonly scope?: 'tenant' | 'subject' | 'shared';
  /** The origins that it sends questions or items to; absent: none, or it does not say. An agent's `egress` must have them all. */
  readonly origins?: readonly string[];
  /** `trusted`: nobody outside can write into it. Absent: strangers may. */
  readonly trust?: 'trusted';
  /** Who may read what is in it; the tenant when absent. */
  readonly readers?: 'public' | 'tenant' | 'principal';
  retrieve(request: GroundingRequest, signal: AbortSignal): Promise<readonly SourceHit[]>;
  stats(tenant: string, signal: AbortSignal): Promise<GroundingStats>;
}

/** A source that can tell why it is empty: it was filled for others than the caller. */
export interface TenantedSource extends GroundingSource {
  /** Whether another owner has items, without telling who. */
  holdsForOthers(tenant: string, signal: AbortSignal): Promise<boolean>;
}

/** An item to store. */
export interface GroundingItem {
  /** An item with the same id replaces the stored one. Defaults to a hash of the content. */
  readonly id?: string | undefined;
  readonly text: string;
  readonly title?: string | undefined;
  readonly uri?: string | undefined;
  readonly path?: string | undefined;
  readonly lines?: readonly [from: number, to: number] | undefined;
  readonly embedding?: ArrayLike<number> | undefined;
  /** JSON; filters read it. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  /** The item expires after this time. */
  readonly ttlMs?: number | undefined;
}

/**
 * A source that can be written. `remember` stores 1 to 1,000 items of one tenant and returns their ids; `retrieve` finds them from
 * then on. Storing the same items twice has no further effect. A call with an `idempotencyKey` stores at most 50 items, all or none;
 * repeating the key with the same items returns the same ids, with other items it rejects with `conflict`. `forget` removes the
 * tenant's items that are among the ids and match the filters, and returns their number. Invalid items are rejected with
 * `invalid_argument`, and nothing is stored.
 */
export interface WritableGroundingSource extends GroundingSource {
  remember(request: RememberRequest, signal: AbortSignal): Promise<readonly string[]>;
  forget(request: ForgetRequest, signal: AbortSignal): Promise<number>;
}

/** Items to store for one tenant. */
export interface RememberRequest {
  readonly tenant: string;
  readonly items: readonly GroundingItem[];
  readonly idempotencyKey?: string | undefined;
}

/** Items of one tenant to remove: those that are among the ids and match the filters. At least one of the two is required. */
export interface ForgetRequest {
  readonly tenant: string;
  readonly ids?: readonly string[] | undefined;
  readonly filters?: readonly Filter[] | undefined;
}

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
      return (actual) => someOf(actual, (one) => [one, written(one), trimmed(one)].some((form) => allowed.has(form)));
    }
    case 'eq':
    case 'ne': {
      if (value === undefined || Array.isArray(value)) throw unfit(field, op, 'one value');
      const isSame = (one: unknown): boolean =>
        one === value || (typeof value === 'string' ? trimmed(one) : written(one)) === value;
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

/** A text as it is compared: spaces around it are no part of what it says. */
function trimmed(value: unknown): unknown {
  return typeof value === 'string' ? value.trim() : value;
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

/** Turns texts into vectors of one length, in the order of the texts. `id` names the model: vectors of another do not compare. */
export interface Embedder {
  readonly id: string;
  /** Whether each dimension counts features of the text, so that rare ones say more; false for models. */
  readonly countsFeatures?: boolean;
  /** Returns the vector of a text at once, where that takes no model. Stored vectors of another length are then made again. */
  embedNow?(text: string): ArrayLike<number>;
  embed(texts: readonly string[], signal: AbortSignal): Promise<readonly ArrayLike<number>[]>;
}
