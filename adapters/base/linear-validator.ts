/** The JSON Schema validator for MCP libraries: interpreted, with patterns that run in linear time. */

import { compileJsonSchema } from '../../src/tools/json-schema/json-schema.ts';

/** A check in the form of the MCP libraries. */
type LinearCheck<T> = (
  input: unknown,
) => { valid: true; data: T; errorMessage: undefined } | { valid: false; data: undefined; errorMessage: string };

/** The validator. The defaults of the libraries compile code, or run patterns that may never end. */
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
