/** The fields that several kinds of records share, as valibot schemas. */

import * as v from 'valibot';

/** The id of an agent, provider, tool or source: letters, digits, `_`, `.` and `-`. */
export const Id = v.pipe(
  v.string(),
  v.regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$/, 'must be 1 to 128 letters, digits, "_", "." or "-"'),
);

/** A tool id, a prefix of tool ids followed by `*`, or a tool of a provider by its own name. */
export const ToolPattern = v.pipe(
  v.string(),
  v.regex(/^[A-Za-z0-9_-]{0,64}(?:\*?|\.[a-z0-9_]{1,64})$/, 'must be a tool id, or a prefix with "*"'),
);

/** A tool of an MCP server by its own name, a `prompt:`, `resource:` or `template:`, or a prefix of such names followed by `*`. */
export const McpToolPattern = v.pipe(
  v.string(),
  v.regex(
    /^(?:[A-Za-z0-9_./-]{0,128}|(?:prompt|resource|template|app):[^\s,*]{0,2048})\*?$/,
    'must be the name of a tool, or a prefix with "*"',
  ),
);

/** Semantic Versioning 2.0.0, for people; caches use `revision`. */
export const Semver = v.pipe(
  v.string(),
  v.maxLength(256),
  v.regex(
    /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-(0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*)(\.(0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*))*)?(\+[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?$/,
    'must be like 1.0.0',
  ),
);

/** A list of at most `most` items. Writing a record looks each of them up, and nothing else bounds that work. */
export function listOf<const S extends v.GenericSchema>(item: S, most: number) {
  return v.pipe(v.array(item), v.maxLength(most));
}

/** Words by which people find a record. */
export const Words = v.optional(listOf(v.pipe(v.string(), v.maxLength(256)), 200), []);

export const Text = v.pipe(v.string(), v.maxLength(65_536));
/** Counts the changes of a record. */
export const Revision = v.pipe(v.number(), v.integer(), v.minValue(1));
/** A disabled record keeps its fields and is not used. */
export const State = v.optional(v.picklist(['active', 'disabled']), 'active');
/** A time as ISO 8601. */
export const Timestamp = v.pipe(v.string(), v.isoTimestamp());

/** The tenant that the record belongs to; absent, the deployment shares it with all. Set by the registry, never by its author. */
export const Tenant = v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(256)));

/** An optional whole number of at least 1. */
export const positive = v.optional(v.pipe(v.number(), v.integer(), v.minValue(1)));

/** What a model calls a tool: providers accept no other characters. */
export const ToolName = v.pipe(
  v.string(),
  v.regex(/^(?!__proto__$)[A-Za-z0-9_-]{1,64}$/, 'must be 1 to 64 letters, digits, "_" or "-"'),
);

/** A JSON Schema, as data. That it is one is checked by `compileJsonSchema`. */
export const JsonSchema = v.record(v.string(), v.unknown());
export type JsonSchema = v.InferOutput<typeof JsonSchema>;

/** The code of a currency (ISO 4217). */
export const Currency = v.pipe(v.string(), v.regex(/^[A-Z]{3}$/, 'must be like USD'));

export const Money = v.strictObject({
  amount: v.pipe(v.number(), v.gtValue(0), v.maxValue(Number.MAX_VALUE)),
  currency: Currency,
});
export type Money = Readonly<v.InferOutput<typeof Money>>;
