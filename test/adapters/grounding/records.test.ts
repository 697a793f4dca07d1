import { describe, expect, it } from 'vitest';
import { recordSource, type RecordSourceOptions } from '../../../adapters/grounding/records.ts';
import type { GroundingRequest } from '../../../src/contracts/index.ts';
import type { GroundingSource } from '../../../src/index.ts';
import { parseCsv } from '../../../src/grounding/index.ts';
import { filteringGroundingContract, type GroundingSubject } from '../../contracts/index.ts';
import { neverAborted, toRecord } from '../../fixtures/grounding.ts';

const subject: GroundingSubject = {
  open: (documents) => {
    const list = (tenant: string) => Object.hasOwn(documents, tenant) ? documents[tenant]!.map(toRecord) : [];
    return Promise.resolve(recordSource({ id: 'checked', list }));
  },
};

describe('recordSource keeps the contract', () => {
  it.each(filteringGroundingContract)('$name', async ({ run }) => {
    await expect(run(subject)).resolves.toBeUndefined();
  });
});

const orders = parseCsv(`id,customer,total,paid,day
a1,Bolt,20.5,true,2026-01-03
a2,Crane,7,false,2026-01-01
a3,Bolt,100,true,2026-02-01
a4,Dover,,false,2026-01-02
`);

const orderSource = (options: Partial<RecordSourceOptions> = {}) =>
  recordSource({ id: 'orders', list: () => orders, ...options });

function ask(source: GroundingSource, request: Partial<GroundingRequest>) {
  return source.retrieve({ tenant: 'local', topK: 10, filters: [], ...request }, neverAborted());
}

describe('recordSource', () => {
  it('finds a record by its key with certainty, and by filters nearly so', async () => {
    expect((await ask(orderSource(), { query: 'a3' }))[0]).toMatchObject({
      id: 'a3',
      confidence: 1,
      scoreKind: 'exact',
    });
    const paid = await ask(orderSource(), { filters: [{ field: 'paid', op: 'eq', value: true }] });
    expect(paid.map(({ id, confidence }) => [id, confidence])).toEqual([['a1', 0.98], ['a3', 0.98]]);
  });

  it('sorts by fields, up and down, what is absent last', async () => {
    const ids = async (sort: GroundingRequest['sort']) => (await ask(orderSource(), { sort })).map(({ id }) => id);
    expect(await ids([{ field: 'total' }])).toEqual(['a2', 'a1', 'a3', 'a4']);
    expect(await ids([{ field: 'customer' }, { field: 'total', direction: 'desc' }])).toEqual(['a3', 'a1', 'a2', 'a4']);
    expect(await ids([{ field: 'day' }])).toEqual(['a2', 'a4', 'a1', 'a3']);
  });

  it('adds up, for all that passes and by the values of a field', async () => {
    const figures = [{ op: 'count' }, { op: 'sum', field: 'total' }, { op: 'avg', field: 'total' }, {
      op: 'max',
      field: 'day',
    }] as const;
    const [all] = await ask(orderSource(), { aggregate: { figures } });
    expect(all?.metadata).toEqual({ count: 4, sum_total: 127.5, avg_total: 42.5, max_day: '2026-02-01' });
    const by = await ask(orderSource(), {
      aggregate: { by: 'customer', figures: [{ op: 'count' }, { op: 'min', field: 'total' }] },
    });
    expect(by.map(({ metadata }) => metadata)).toEqual([
      { customer: 'Bolt', count: 2, min_total: 20.5 },
      { customer: 'Crane', count: 1, min_total: 7 },
      { customer: 'Dover', count: 1, min_total: null },
    ]);
    await expect(ask(orderSource(), { aggregate: { figures: [{ op: 'sum' }] } })).rejects.toMatchObject({
      code: 'invalid_argument',
    });
  });

  it('checks records by their schema, and questions by its fields', async () => {
    const schema = { type: 'object', properties: { id: { type: 'string' }, total: { type: 'number' } } };
    await expect(ask(orderSource({ schema, list: () => [{ id: 'b1', total: 'many' }] }), { query: 'b1' })).rejects
      .toMatchObject({
        code: 'invalid_argument',
        details: { reason: 'invalid_record' },
      });
    await expect(ask(orderSource({ schema }), { filters: [{ field: 'totl', op: 'gt', value: 1 }] })).rejects
      .toMatchObject({
        details: { reason: 'unknown_field', suggestions: ['id', 'total'] },
      });
  });

  it('refuses records without a key, or with one twice', async () => {
    for (const list of [() => [{ name: 'x' }], () => [{ id: 'x' }, { id: 'x' }]]) {
      await expect(ask(orderSource({ list }), { query: 'x' })).rejects.toMatchObject({
        details: { reason: 'invalid_record' },
      });
    }
  });

  it('has another version when the records are others', async () => {
    let records = [{ id: 'x', n: 1 }];
    const source = orderSource({ list: () => records, freshMs: 0 });
    const first = await source.stats('local', neverAborted());
    expect(await source.stats('local', neverAborted())).toEqual(first);
    records = [{ id: 'x', n: 2 }];
    expect((await source.stats('local', neverAborted())).version).not.toBe(first.version);
  });

  it('passes on what the list throws', async () => {
    const source = orderSource({ list: () => Promise.reject(new Error('no database')) });
    await expect(ask(source, { query: 'x' })).rejects.toThrow('no database');
  });
});
