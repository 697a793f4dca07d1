import { describe, expect, it } from 'vitest';
import { contentOf, defaultsOf, fieldsOf, wrongIn } from '../../../demo/mcp/state/question-form.ts';

const titled = [{ const: 'n', title: 'North' }, { const: 's', title: 'South' }];
const fields = fieldsOf({
  key: 'who',
  mode: 'form',
  message: 'Who?',
  schema: {
    properties: {
      name: { type: 'string', title: 'Name', minLength: 2, maxLength: 5 },
      mail: { type: 'string', format: 'email' },
      site: { type: 'string', format: 'uri' },
      day: { type: 'string', format: 'date' },
      size: { type: 'integer', default: 3, minimum: 1, maximum: 9 },
      share: { type: 'number' },
      agree: { type: 'boolean', default: true },
      plain: { type: 'string', enum: ['a', 'b'] },
      named: { type: 'string', enum: ['a', 'b'], enumNames: ['First', 'Second'] },
      titled: { type: 'string', oneOf: titled, default: 's' },
      many: { type: 'array', items: { enum: ['a', 'b', 'c'] }, maxItems: 2 },
      manyTitled: { type: 'array', items: { anyOf: titled }, minItems: 1 },
    },
    required: ['name', 'manyTitled'],
  },
});

describe('the form of a question', () => {
  it('has a field for each shape that MCP allows, with the labels of its options', () => {
    expect(fields.map(({ name, as }) => [name, as])).toEqual([
      ['name', 'text'],
      ['mail', 'email'],
      ['site', 'url'],
      ['day', 'date'],
      ['size', 'number'],
      ['share', 'number'],
      ['agree', 'flag'],
      ['plain', 'choice'],
      ['named', 'choice'],
      ['titled', 'choice'],
      ['many', 'choices'],
      ['manyTitled', 'choices'],
    ]);
    expect(fields.find(({ name }) => name === 'named')?.choices[1]).toEqual({ value: 'b', label: 'Second' });
    expect(fields.find(({ name }) => name === 'manyTitled')?.choices[0]).toEqual({ value: 'n', label: 'North' });
  });

  it('starts with the defaults, and sends what is filled in', () => {
    const values = { ...defaultsOf(fields), name: ' Ann ', manyTitled: ['n'] };
    expect(wrongIn(fields, values)).toEqual({});
    expect(contentOf(fields, values)).toEqual({
      name: 'Ann',
      size: 3,
      agree: true,
      titled: 's',
      manyTitled: ['n'],
    });
  });

  it('says beside the field what is wrong', () => {
    const values = {
      ...defaultsOf(fields),
      name: 'Annabel',
      mail: 'nobody',
      site: 'nowhere',
      size: '2.5',
      share: 'much',
      many: ['a', 'b', 'c'],
    };
    expect(wrongIn(fields, values)).toEqual({
      name: 'At most 5 characters.',
      mail: 'Enter an email address.',
      site: 'Enter an address such as https://example.com.',
      size: 'Enter a whole number.',
      share: 'Enter a number.',
      many: 'Choose at most 2.',
      manyTitled: 'manyTitled is required.',
    });
    expect(wrongIn(fields, { ...values, name: '' })['name']).toBe('Name is required.');
    expect(wrongIn(fields, { ...values, size: '10' })['size']).toBe('At most 9.');
  });
});
