import fc from 'fast-check';
import { parseSync } from 'oxc-parser';
import { describe, expect, it } from 'vitest';
import { declarationOf } from '../../../src/tools/declaration.ts';

const name = fc.oneof(fc.string({ minLength: 1, maxLength: 8 }), fc.constantFrom('a', 'b-c', '__proto__', '*/', '"'));
const scalar = fc.oneof(
  fc.string(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.boolean(),
  fc.constant(null),
);

/** Any schema, also one that means nothing. */
const { schema } = fc.letrec<{ schema: unknown }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    fc.oneof(
      fc.record({
        type: fc.constantFrom('string', 'number', 'integer', 'boolean', 'null', 'object', 'array', 'other'),
      }),
      fc.record({ const: scalar }),
      fc.record({ enum: fc.array(scalar, { maxLength: 5 }) }),
      fc.record({ $ref: fc.constantFrom('#', '#/properties/a', '#/$defs/x', 'other.json', '#/%', 5) }),
      fc.jsonValue(),
    ),
    fc.record({
      type: fc.constant('object'),
      properties: fc.dictionary(name, tie('schema'), { maxKeys: 4 }),
      required: fc.array(name, { maxLength: 2 }),
      additionalProperties: fc.oneof(fc.boolean(), tie('schema')),
    }, { requiredKeys: ['type'] }),
    fc.record({
      type: fc.constantFrom('array', ['array', 'null']),
      items: fc.oneof(tie('schema'), fc.array(tie('schema'), { maxLength: 3 })),
      prefixItems: fc.array(tie('schema'), { maxLength: 3 }),
      minItems: fc.nat(3),
    }, { requiredKeys: ['type'] }),
    fc.record({ anyOf: fc.array(tie('schema'), { maxLength: 3 }), allOf: fc.array(tie('schema'), { maxLength: 3 }) }, {
      requiredKeys: [],
    }),
  ),
}));

describe('declarationOf', () => {
  it('prints TypeScript of every schema, name and description', () => {
    fc.assert(
      fc.property(name, fc.string(), schema, schema, (toolName, description, paramsSchema, outputSchema) => {
        const tool = {
          name: toolName,
          description,
          paramsSchema: paramsSchema as Record<string, unknown>,
          outputSchema: outputSchema as Record<string, unknown>,
        };
        const { errors, program } = parseSync('tools.ts', `interface Tools {\n${declarationOf(tool)}\n}`);
        expect(errors).toEqual([]);
        const [declared] = program.body;
        expect(program.body).toHaveLength(1);
        expect(declared?.type === 'TSInterfaceDeclaration' && declared.body.body).toHaveLength(1);
      }),
      { numRuns: 2000 },
    );
  });
});
