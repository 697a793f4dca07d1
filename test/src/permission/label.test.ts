import { describe, expect, it } from 'vitest';
import { staticCatalog } from '../../../adapters/catalog/static.ts';
import { defineTool } from '../../../src/tools/index.ts';
import {
  covers,
  highestTrust,
  join,
  type Label,
  labelAt,
  labelOf,
  narrow,
  parseLabel,
  trusted,
  unlabelled,
} from '../../../src/permission/label.ts';
import { randomNumbers } from '../../fixtures/chance/random.ts';

const sources = [
  'tool:crm',
  'mcp:mail',
  'data-source:docs',
  'agent:helper',
  'file:ab12',
  'memory:1',
  'model:reader',
  '*',
];
const readers = ['public', 'tenant', 'principal'] as const;

function randomLabel(random: () => number): Label {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
  const from = Array.from({ length: Math.floor(random() * 4) }, () => pick(sources));
  return labelOf(from, pick(readers), random() < 0.3);
}

describe('label', () => {
  it('stays narrow only where each part of a stranger is', () => {
    const chosen = labelOf(['mcp:mail'], 'tenant', true);
    expect(chosen.narrow).toBe(true);
    expect(join(chosen, labelOf(['tool:crm'], 'tenant', true)).narrow).toBe(true);
    expect(join(chosen, labelOf([], 'principal'))).toMatchObject({ narrow: true, readers: 'principal' });
    expect(join(chosen, labelOf(['tool:crm'], 'tenant')).narrow).toBeUndefined();
    expect(narrow(trusted)).toBe(trusted); // the operator's own
  });

  it('is read as it was written', () => {
    const stored = { from: ['mcp:mail', 'tool:crm'], readers: 'tenant', narrow: true };
    expect(parseLabel(stored)).toBe(labelOf(['mcp:mail', 'tool:crm'], 'tenant', true));
  });

  it('of a place is that of what is there, around it and within it', () => {
    const mail = labelOf(['mcp:mail'], 'tenant');
    const args = new Map([['/to/name', mail]]);
    for (const place of ['', '/to', '/to/name', '/to/name/0']) expect(labelAt({ args }, place), place).toBe(mail);
    for (const place of ['/t', '/to/nam', '/to/name0', '/name', '/a/to/name']) {
      expect(labelAt({ args }, place), place).toBe(trusted);
    }
  });

  it('joins in any order, any grouping and any number of times, and never to less', () => {
    for (let seed = 0; seed < 1000; seed++) {
      const random = randomNumbers(seed);
      const [a, b, c] = [randomLabel(random), randomLabel(random), randomLabel(random)];
      expect(join(a, b)).toBe(join(b, a));
      expect(join(join(a, b), c)).toBe(join(a, join(b, c)));
      expect(join(a, a)).toBe(a);
      expect(join(a, trusted)).toBe(a);
      expect(covers(join(a, b), a) && covers(join(a, b), b)).toBe(true);
      if (covers(a, b)) expect(covers(join(a, c), join(b, c))).toBe(true);
    }
  });

  it('has no operation that removes a source or lets more people read', () => {
    for (let seed = 0; seed < 1000; seed++) {
      const random = randomNumbers(seed);
      let label = randomLabel(random);
      for (let step = 0; step < 8; step++) {
        const operations = [
          (one: Label) => join(one, randomLabel(random)),
          (one: Label) => narrow(one),
          (one: Label) => parseLabel(JSON.parse(JSON.stringify(one))),
          (one: Label) => labelAt({ args: new Map([['/a', one], ['/a/0', randomLabel(random)]]) }, '/a'),
        ];
        const next = operations[Math.floor(random() * operations.length)]!(label);
        expect(label.from.every((id) => next.from.includes(id) || next.from[0] === '*')).toBe(true);
        expect(readers.indexOf(next.readers)).toBeGreaterThanOrEqual(readers.indexOf(label.readers));
        label = next;
      }
    }
  });

  it('makes equal labels the same frozen object, and more than 16 sources, or one that is no source id, anybody', () => {
    expect(labelOf(['mcp:b', 'mcp:a', 'mcp:a'], 'tenant')).toBe(labelOf(['mcp:a', 'mcp:b'], 'tenant'));
    expect(Object.isFrozen(labelOf(['mcp:a'], 'tenant').from)).toBe(true);
    const many = Array.from({ length: 17 }, (_, i) => `mcp:m${i}`);
    expect(labelOf(many.slice(1), 'public').from).toHaveLength(16);
    expect(labelOf(many, 'public').from).toEqual(['*']);
    expect(labelOf(['mcp:a', 'The CRM'], 'public').from).toEqual(['*']);
  });

  it.each([
    undefined,
    null,
    'trusted',
    [],
    {},
    { from: [] },
    { from: [], readers: 'all' },
    { from: 'mcp:a', readers: 'public' },
    { from: ['a text with spaces'], readers: 'public' },
    { from: ['mcp:a', 1], readers: 'public' },
    { from: ['mcp:a', 'The CRM'], readers: 'public' },
    { from: Array.from({ length: 17 }, () => 'mcp:a'), readers: 'public' },
    { from: ['mcp:a\n'], readers: 'public' },
    { from: ['mcp:a'], readers: 'public', narrow: 'yes' },
  ])('reads what is no label as the strictest: %j', (data) => expect(parseLabel(data)).toBe(unlabelled));

  it('keeps the higher of two levels', () => {
    expect(highestTrust('watched', undefined, 'open')).toBe('watched');
    expect(highestTrust('watched', 'guarded')).toBe('guarded');
    expect(highestTrust()).toBe('open');
  });
});

describe('fields that labels come from', () => {
  const tool = {
    id: 'send',
    description: 'Sends',
    input: { type: 'object', properties: { to: { type: 'string' } } },
    execute: () => 1,
  };

  it.each([
    [{ reads: 'untrustd' }, '"reads" must be "trusted" or "untrusted" or "private"; use "untrusted"'],
    [{ sends: 'publik' }, '"sends" must be "public" or "tenant" or "principal"; use "public"'],
    [{ destinations: ['/cc'] }, '"destinations.0" must be a place in the input'],
    [{ destinations: ['to'] }, '"destinations.0" must be a JSON Pointer'],
  ])('refuses %j in a tool, by the name of the field', (fields, message) => {
    // @ts-expect-error: values that the types refuse
    expect(() => defineTool({ ...tool, ...fields })).toThrow(message);
  });

  it('refuses a level that does not exist', () => {
    // @ts-expect-error: the types refuse it
    expect(() => staticCatalog({ agents: [{ id: 'a', name: 'A', providerId: 'p', trust: 'gaurded' }], providers: [] }))
      .toThrow('"trust" must be "open" or "watched" or "guarded"; use "guarded"');
  });
});
