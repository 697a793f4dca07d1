import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { goEntTools } from '../../fixtures/tools/go-ent-tools.ts';
import { commonSynonyms, createThesaurus, type IndexedTool } from '../../../src/discovery/index.ts';
import { createToolIndex, type ToolIndex } from '../../../src/index.ts';
import { runs } from '../../fixtures/budget.ts';

const namesOf = (index: ToolIndex, query: string, limit = 10): string[] =>
  index.search(query, limit).map(({ name }) => name);

const words = [
  'task',
  'list',
  'weather',
  'user',
  'file',
  'report',
  '天気予報',
  'getUser',
  'send_mail',
  'registry',
  'x2',
];
const someWords = fc.array(fc.constantFrom(...words), { maxLength: 6 }).map((chosen) => chosen.join(' '));
const someTool: fc.Arbitrary<IndexedTool> = fc.record({
  name: fc.tuple(fc.constantFrom('', 'files__', 'mail__'), fc.constantFrom(...words), fc.nat({ max: 9 })).map((parts) =>
    parts.join('')
  ),
  description: someWords,
  category: someWords,
  keywords: fc.array(fc.constantFrom(...words), { maxLength: 2 }),
  inputSchema: fc.dictionary(fc.constantFrom(...words), fc.record({ description: someWords }), { maxKeys: 3 })
    .map((properties) => ({ type: 'object', properties })),
});
const someChange = fc.oneof(
  { weight: 3, arbitrary: someTool.map((tool) => ({ add: tool })) },
  fc.nat().map((pick) => ({ remove: pick })),
);

describe('createToolIndex', () => {
  it('returns the same answers after any additions and removals as a rebuilt index', () => {
    fc.assert(
      fc.property(fc.array(someChange, { maxLength: 40 }), someWords, (changes, query) => {
        const index = createToolIndex([]);
        const kept = new Map<string, IndexedTool>();
        const removals: [boolean, boolean][] = [];
        for (const change of changes) {
          if ('add' in change) {
            index.add(change.add);
            kept.set(change.add.name, change.add); // a map too keeps the place of what is replaced
          } else {
            const name = [...kept.keys()][change.remove % Math.max(1, kept.size)] ?? 'nothing';
            removals.push([index.remove(name), kept.delete(name)]);
          }
        }
        const anew = createToolIndex(kept.values());
        for (const [removed, expected] of removals) expect(removed).toBe(expected);
        expect(index.size).toBe(kept.size);
        expect(index.search(query, 50)).toEqual(anew.search(query, 50));
        expect(index.fit(query)).toBe(anew.fit(query));
        for (const limit of [0, 5, 50]) {
          const both = { hits: index.search(query, limit), fit: index.fit(query) };
          expect(index.searchWithFit(query, limit)).toEqual({
            ...both,
            unknown: anew.searchWithFit(query, limit).unknown,
          });
        }
      }),
      { numRuns: runs(300) },
    );
  });

  it('returns with a smaller limit the beginning of the same list', () => {
    fc.assert(
      fc.property(fc.array(someTool, { maxLength: 30 }), someWords, fc.nat({ max: 12 }), (tools, query, limit) => {
        const index = createToolIndex(tools);
        expect(index.search(query, limit)).toEqual(index.search(query, 30).slice(0, limit));
      }),
    );
  });

  it('returns the same scores in every runtime', () => {
    const hits = createToolIndex(goEntTools).search('list the tasks of the registry 天気', 3);
    expect(hits.map(({ name, score }) => [name, score.toFixed(9)])).toEqual([
      ['registry_list', '18.291958223'],
      ['spec_list', '7.825410335'],
      ['registry_init', '5.466072834'],
    ]);
  });

  it('replaces a tool of the same name', () => {
    const index = createToolIndex([{ name: 'work', description: 'Sends mail' }]);
    index.add({ name: 'work', description: 'Draws charts' });
    expect([index.size, namesOf(index, 'mail'), namesOf(index, 'chart')]).toEqual([1, [], ['work']]);
  });

  it('finds tools by every field', () => {
    const index = createToolIndex([{
      name: 'alpha__beta',
      title: 'Gamma',
      description: 'Delta',
      category: 'epsilon',
      keywords: ['zeta'],
      inputSchema: {
        type: 'object',
        properties: {
          eta: { type: 'array', items: { type: 'object', properties: { theta: { description: 'iota' } } } },
          kappa: { anyOf: [{ type: 'object', properties: { lambda: { enum: ['omega', 7, null] } } }] },
        },
      },
    }]);
    const fields = 'alpha beta gamma delta epsilon zeta eta theta iota kappa lambda omega'.split(' ');
    expect(fields.filter((word) => namesOf(index, word).length === 0)).toEqual([]);
  });

  it('finds by synonyms, typing slips, and words written apart or as one', () => {
    const index = createToolIndex([
      { name: 'take_screenshot', description: 'Captures the visible part of a tab' },
      { name: 'remove_row', description: 'Deletes one row of the table' },
      { name: 'time_zone', description: 'Tells the offset of a place' },
      { name: 'weather', description: 'Tells the temperature' },
    ]);
    expect(namesOf(index, 'screen shot')).toEqual(['take_screenshot']);
    expect(namesOf(index, 'erase')).toEqual(['remove_row']);
    expect(namesOf(index, 'timezone')[0]).toBe('time_zone');
    for (const slip of ['wether', 'weathr', 'waether', 'weatther', 'weatger']) {
      expect(namesOf(index, slip)).toEqual(['weather']);
    }
  });

  it('finds no synonym before the word itself, however rare the synonym is', () => {
    const common = ['list', 'rename', 'assign', 'archive'].map((verb) => ({
      name: `item_${verb}`,
      description: `${verb} an item, such as a ticket`,
    }));
    const rivals = ['ticket', 'bug'].map((name) => ({ name: `${name}_create`, description: `Creates a ${name}` }));
    for (const order of [rivals, rivals.toReversed()]) {
      expect(namesOf(createToolIndex([...common, ...order]), 'create a ticket', 2)).toEqual([
        'ticket_create',
        'bug_create',
      ]);
    }
  });

  it('takes more synonyms from the host', () => {
    const tools = [{ name: 'find_vessel', description: 'Tells where a vessel is' }];
    expect(namesOf(createToolIndex(tools), 'boat')).toEqual([]);
    const thesaurus = createThesaurus(`${commonSynonyms}\nvessel boat ship`);
    expect(namesOf(createToolIndex(tools, { thesaurus }), 'boats')).toEqual(['find_vessel']);
  });

  it('knows former names for as long as the tool is there', () => {
    const index = createToolIndex([{ name: 'new', renamedFrom: ['old', 'older'] }]);
    expect(index.renamed('old')).toEqual(['new']);
    index.add({ name: 'new', renamedFrom: ['older'] });
    expect([index.renamed('old'), index.renamed('older')]).toEqual([[], ['new']]);
    index.remove('new');
    expect(index.renamed('older')).toEqual([]);
  });

  it('keeps words of another meaning apart that share a stem', () => {
    const index = createToolIndex([{ name: 'product_get' }, { name: 'deployment_get' }]);
    expect(namesOf(index, 'deploy to production')).toEqual(['deployment_get']);
    expect(namesOf(index, 'products')).toEqual(['product_get']);
  });
});

describe('an index against hostile input', () => {
  it('returns all hits when the limit is higher', () => {
    const index = createToolIndex(
      Array.from({ length: 3000 }, (_, i) => ({ name: `mail_${i}`, description: 'Sends mail' })),
    );
    const hits = index.search('send mail', Infinity);
    expect(hits).toHaveLength(3000);
    expect(index.search('send mail', 1500)).toEqual(hits.slice(0, 1500));
    expect(hits.every(({ score }, i) => i === 0 || score <= hits[i - 1]!.score)).toBe(true);
  });

  it('answers any query in bounded time, deterministically', () => {
    const index = createToolIndex([{ name: 'weather', description: 'Tells the weather' }]);
    const queries = [
      '',
      '   ',
      '?!',
      '🚀🚀',
      '\uD800',
      '__proto__ constructor',
      'a'.repeat(1_000_000),
      'weather '.repeat(125_000),
      '天'.repeat(1_000_000),
    ];
    for (const query of queries) {
      expect(index.search(query, 5)).toEqual(index.search(query, 5));
      expect(index.explain(query, '__proto__')).toBeUndefined();
    }
    expect(namesOf(index, 'weather '.repeat(125_000))).toEqual(['weather']);
    const { rules, terms } = index.explain('weather, '.repeat(900), 'weather')!;
    const said = terms.reduce((sum, { score }) => sum + score, 0);
    expect(rules.clause).toBeCloseTo(Math.sqrt(32) * said, 9); // the first 32 clauses count
    for (const limit of [0, -1, 0.5, NaN]) expect(index.search('weather', limit)).toEqual([]);
    expect(index.search('weather', Infinity)).toHaveLength(1);
  });

  it('takes texts and schemas of any size and depth', () => {
    const deep: Record<string, unknown> = {};
    let inner = deep;
    for (let i = 0; i < 10_000; i++) {
      inner = (inner.properties = { next: {} } as Record<string, Record<string, unknown>>).next!;
    }
    const circular: Record<string, unknown> = { properties: {} };
    circular.anyOf = Array.from({ length: 50 }, () => circular);
    const wide = {
      properties: Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`property${i}`, { description: 'wide' }])),
    };
    const odd = { properties: { a: null, b: 7, c: { enum: 'no', description: 3, items: 'x', anyOf: {} } } };
    const schemas = [deep, circular, wide, odd];
    const index = createToolIndex(
      schemas.map((inputSchema, i) => ({
        name: `tool_${i}`,
        description: `many words ${i} `.repeat(10_000),
        inputSchema,
      })),
    );
    expect(index.search('many words', 10)).toHaveLength(4);
    expect(index.explain('next', 'tool_0')?.terms[0]).toMatchObject({ term: 'next', field: 'parameters' });
  });

  it('is empty without tools', () => {
    const index = createToolIndex([]);
    expect([index.size, index.search('weather', 5), index.get('x'), index.remove('x')]).toEqual([
      0,
      [],
      undefined,
      false,
    ]);
  });
});
