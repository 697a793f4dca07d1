import { describe, expect, it } from 'vitest';
import { findSlip } from '../../../../demo/agents/state/code-slips.ts';
import { placesIn, readTemplate, secretsIn, writeTemplate } from '../../../../demo/agents/state/http-template.ts';
import { readParams, sampleOf, writeParams } from '../../../../demo/agents/state/params-table.ts';

describe('the template of an HTTP tool', () => {
  const config = {
    origin: 'https://api.example.com',
    method: 'POST',
    path: '/v1/items/{id}',
    query: { q: '{query}', 'a&b': '50%' },
    headers: { Authorization: 'Bearer {{secret:lab}}', 'X-Trace': '{trace}' },
    body: { as: 'form', fields: { title: '{title}', key: '{{secret:other.one}}' } },
    response: { fields: ['items.name'], maxLength: 100 },
    retries: 0,
  };

  it('is the same after it was read and written', () => {
    expect(writeTemplate(config, readTemplate(config))).toEqual(config);
    expect(readTemplate(config).url).toBe('https://api.example.com/v1/items/{id}?q={query}&a%26b=50%25');
  });

  it('takes an address apart, and lets go of what is empty', () => {
    const template = { ...readTemplate({}), url: ' HTTPS://Api.Example.com/a?x=1&y&z=a+b ', fields: 'a, b\nc' };
    expect(writeTemplate({}, template)).toEqual({
      method: 'GET',
      origin: 'https://api.example.com',
      path: '/a',
      query: { x: '1', y: '', z: 'a b' },
      response: { fields: ['a', 'b', 'c'] },
    });
    expect(writeTemplate({ path: '/old', query: { a: 'b' } }, { ...template, url: '', fields: '' })).toEqual({
      method: 'GET',
      origin: '',
    });
  });

  it('names its inputs and its secrets, each once', () => {
    expect(placesIn(config)).toEqual(['id', 'query', 'trace', 'title']);
    expect(secretsIn(config)).toEqual(['lab', 'other.one']);
  });
});

describe('the parameters of a tool', () => {
  it('are a table, and a schema again', () => {
    const params = [
      { name: 'id', type: 'string', description: 'Of the item', isRequired: true },
      { name: 'count', type: 'integer', description: '', isRequired: false },
    ];
    expect(readParams(writeParams(params))).toEqual(params);
    expect(readParams({ type: 'object' })).toEqual([]);
  });

  it.each([
    [{ type: 'object', properties: { a: { type: 'string', enum: ['x'] } } }],
    [{ type: 'object', properties: { a: { type: 'object' } } }],
    [{ type: 'object', oneOf: [] }],
    [{ type: 'string' }],
  ])('are left to JSON where they say more: %j', (schema) => {
    expect(readParams(schema)).toBeUndefined();
  });

  it('have a sample that fits', () => {
    expect(sampleOf({
      type: 'object',
      properties: {
        a: { type: 'string' },
        b: { type: 'number', minimum: 3 },
        c: { enum: ['x', 'y'] },
        d: { type: 'array', items: { type: 'boolean' } },
        e: { type: ['null', 'string'] },
        f: { anyOf: [{ const: 7 }] },
        g: { default: 'preset' },
      },
    })).toEqual({ a: 'text', b: 3, c: 'x', d: [true], e: null, f: 7, g: 'preset' });
    const endless: Record<string, unknown> = { type: 'array' };
    endless['items'] = endless;
    expect(JSON.stringify(sampleOf(endless))).toBe('[[[[[]]]]]');
  });
});

describe('findSlip', () => {
  it.each([
    ['return input.a / 2 / (1 + 2)'],
    ["const a = '}\\''; const b = `}${`${'{'}`}`; // )\n/* ] */ return a.replace(/[/\"]}/g, b)"],
    ['a = /x)/.test(a);\nreturn { a: [1, () => {}] }'],
    [''],
  ])('has nothing against %j', (code) => {
    expect(findSlip(code)).toBeUndefined();
  });

  it.each([
    ['const a = (1 + 2;\nreturn a', 1, 11, 'never closed'],
    ['const a = [1, 2);', 1, 16, 'cannot close “[” of line 1'],
    ['return 1;\n}', 2, 1, 'closes nothing'],
    ['const a = 1;\nconst b = "x\nreturn b', 2, 11, 'not closed'],
    ['a = `x ${1 + `', 1, 14, 'not closed'],
    ['/* x', 1, 1, 'comment'],
    ['return /x', 1, 8, 'regular expression'],
  ])('finds where %j is not whole', (code, line, column, text) => {
    expect(findSlip(code)).toMatchObject({ line, column, text: expect.stringContaining(text) });
  });
});
