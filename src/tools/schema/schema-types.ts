/** The types of values that a schema accepts and returns. They are erased when compiled. */

import type { StandardSchema } from '../../base/agent/standard-schema.ts';
import type { JsonSchema } from '../../base/schema.ts';

/**
 * A schema of Zod 4.2 or later, Valibot, ArkType or another library with Standard Schema and Standard JSON Schema, or a plain
 * JSON Schema.
 */
export type AnySchema = StandardSchema | JsonSchema;

/** The values that a schema accepts. */
export type SchemaInput<S> = S extends StandardSchema ? Types<S>['input'] : JsonValueOf<S>;

/** The values that a schema returns: with defaults and transformations applied. */
export type SchemaOutput<S> = S extends StandardSchema ? Types<S>['output'] : JsonValueOf<S>;

type Types<S extends StandardSchema> = NonNullable<S['~standard']['types']>;

/** The values of a JSON Schema that is written as a literal; `unknown` where the type does not follow it. */
export type JsonValueOf<S> = S extends { readonly const: infer C } ? C
  : S extends { readonly enum: readonly (infer E)[] } ? E
  : S extends { readonly anyOf: readonly (infer A)[] } ? JsonValueOf<A>
  : S extends { readonly oneOf: readonly (infer A)[] } ? JsonValueOf<A>
  : S extends { readonly type: infer T } ? OfType<T, S>
  : unknown;

type OfType<T, S> = T extends readonly (infer One)[] ? OfType<One, S>
  : T extends 'string' ? string
  : T extends 'number' | 'integer' ? number
  : T extends 'boolean' ? boolean
  : T extends 'null' ? null
  : T extends 'array' ? (S extends { readonly items: infer I } ? JsonValueOf<I>[] : unknown[])
  : T extends 'object' ? ObjectOf<S>
  : unknown;

type ObjectOf<S> = S extends { readonly properties: infer P } ? Shown<
    & { [K in keyof P as K extends RequiredOf<S> ? K : never]: JsonValueOf<P[K]> }
    & { [K in keyof P as K extends RequiredOf<S> ? never : K]?: JsonValueOf<P[K]> }
  >
  : S extends { readonly additionalProperties: infer A extends object } ? Record<string, JsonValueOf<A>>
  : Record<string, unknown>;

type RequiredOf<S> = S extends { readonly required: readonly (infer R)[] } ? R : never;

/** Shows an intersection as one object in editors. */
type Shown<T> = { [K in keyof T]: T[K] };
