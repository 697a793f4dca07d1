/** The schemas of valibot, zod, arktype and others, by their common interface (Standard Schema 1). */

/** A schema with a check, and with types for the compiler. */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
    /** Shows the schema as JSON Schema (Standard JSON Schema 1); newer libraries have it. */
    readonly jsonSchema?: {
      readonly input: ToJsonSchema;
      readonly output: ToJsonSchema;
    } | undefined;
  };
}

type ToJsonSchema = (options: { readonly target: 'draft-2020-12' }) => Record<string, unknown>;

/** What a check returns. */
export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

/** One thing that is wrong with a value. */
export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}
