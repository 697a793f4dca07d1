/** The validator that MCP libraries use for JSON Schemas: interpreted, and with patterns that run in linear time. */

import { compileJsonSchema } from '../src/tools/json-schema/json-schema.ts';

/** What a check says, as the MCP libraries read it. */
export type LinearCheck<T> = (
  input: unknown,
) => { valid: true; data: T; errorMessage: undefined } | { valid: false; data: undefined; errorMessage: string };

/** The validator. Its own choice of the libraries compiles code, or runs patterns that may never end. */
export const linearValidator = {
  /** @throws PinnaceError `invalid_argument` for a schema that cannot be used. */
  getValidator<T>(schema: object): LinearCheck<T> {
    const listIssues = compileJsonSchema({ ...schema });
    return (input) => {
      const issues = listIssues(input);
      if (issues.length === 0) return { valid: true, data: input as T, errorMessage: undefined }; // it fits the schema of T
      const errorMessage = issues.slice(0, 20).map(({ path, message }) => `${path || 'it'} ${message}`).join('; ');
      return { valid: false, data: undefined, errorMessage };
    };
  },
};
