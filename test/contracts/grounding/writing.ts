/** Checks of writing and deleting. */

import type { GroundingItem, WritableGroundingSource } from '../../../src/contracts/grounding-source.ts';
import { assert, assertEqual, assertRejects } from '../assert.ts';
import { type GroundingCheck, neverAborted, type WritableSubject } from './check.ts';

const me = { tenant: 'acme' };

async function idsOf(source: WritableGroundingSource, tenant = 'acme'): Promise<string[]> {
  const filters = [{ field: 'id', op: 'exists', value: true } as const];
  return (await source.retrieve({ tenant, topK: 200, filters }, neverAborted())).map(({ id }) => id).toSorted();
}

function item(id: string, overrides: Partial<GroundingItem> = {}): GroundingItem {
  return { id, text: `About ${id}`, metadata: { name: id }, ...overrides };
}

/** The checks of `remember` and `forget`. */
export const writingChecks: readonly GroundingCheck<WritableSubject>[] = [
  {
    name: 'finds new items at once, and never for another tenant',
    async run({ open }) {
      const source = await open();
      assertEqual(await source.remember({ ...me, items: [item('a'), item('b')] }, neverAborted()), ['a', 'b']);
      assertEqual(await idsOf(source), ['a', 'b']);
      assertEqual(await idsOf(source, 'globex'), []);
      await source.remember({ tenant: 'globex', items: [item('a')] }, neverAborted());
      await source.forget({ tenant: 'globex', ids: ['a', 'b'] }, neverAborted());
      assertEqual(await idsOf(source), ['a', 'b']);
    },
  },
  {
    name: 'stores equal items once, and the latest item of an id',
    async run({ open }) {
      const source = await open();
      const nameless = { text: 'Nobody named me', metadata: { name: 'n' } };
      const [first] = await source.remember({ ...me, items: [nameless] }, neverAborted());
      assertEqual(await source.remember({ ...me, items: [nameless] }, neverAborted()), [first]);
      await source.remember({ ...me, items: [item('a')] }, neverAborted());
      await source.remember({ ...me, items: [item('a', { text: 'Something else' })] }, neverAborted());
      assertEqual(await idsOf(source), [first!, 'a'].toSorted());
      const filters = [{ field: 'id', op: 'eq', value: 'a' } as const];
      const [hit] = await source.retrieve({ ...me, topK: 1, filters }, neverAborted());
      assertEqual(hit?.content, 'Something else');
    },
  },
  {
    name: 'has a new version after every change, and the same version otherwise',
    async run({ open }) {
      const source = await open();
      const versions = [(await source.stats('acme', neverAborted())).version];
      await source.remember({ ...me, items: [item('a')] }, neverAborted());
      versions.push((await source.stats('acme', neverAborted())).version);
      await source.remember({ ...me, items: [item('b')] }, neverAborted());
      versions.push((await source.stats('acme', neverAborted())).version);
      await source.forget({ ...me, ids: ['a'] }, neverAborted());
      versions.push((await source.stats('acme', neverAborted())).version);
      assertEqual(new Set(versions).size, 4);
      await source.forget({ ...me, ids: ['a'] }, neverAborted());
      assertEqual((await source.stats('acme', neverAborted())).version, versions.at(-1));
    },
  },
  {
    name: 'executes a call once per idempotency key, and rejects another call with that key',
    async run({ open }) {
      const source = await open();
      const call = { ...me, items: [item('a'), item('b')], idempotencyKey: 'k1' };
      assertEqual(await source.remember(call, neverAborted()), ['a', 'b']);
      await source.forget({ ...me, ids: ['a'] }, neverAborted());
      assertEqual(await source.remember(call, neverAborted()), ['a', 'b']);
      assertEqual(await idsOf(source), ['b']);
      await assertRejects(() => source.remember({ ...call, items: [item('c')] }, neverAborted()), {
        code: 'conflict',
        reason: 'idempotency_key_reused',
      });
      await source.remember({ ...call, tenant: 'globex', items: [item('c')] }, neverAborted());
      assertEqual(await idsOf(source, 'globex'), ['c']);
    },
  },
  {
    name: 'deletes by ids, by filters, or by both, and returns the count',
    async run({ open }) {
      const source = await open();
      await source.remember(
        { ...me, items: ['a', 'b', 'c', 'd'].map((id, year) => item(id, { metadata: { year } })) },
        neverAborted(),
      );
      assertEqual(await source.forget({ ...me, ids: ['a', 'a', 'x'] }, neverAborted()), 1);
      assertEqual(await source.forget({ ...me, filters: [{ field: 'year', op: 'gt', value: 2 }] }, neverAborted()), 1);
      assertEqual(
        await source.forget({ ...me, ids: ['b'], filters: [{ field: 'year', op: 'gt', value: 1 }] }, neverAborted()),
        0,
      );
      assertEqual(await idsOf(source), ['b', 'c']);
      await assertRejects(() => source.forget(me, neverAborted()), { code: 'invalid_argument' });
    },
  },
  {
    name: 'holds no item past its lifetime',
    async run({ open, clock }) {
      const source = await open();
      await source.remember({ ...me, items: [item('a', { ttlMs: 1_000 }), item('b')] }, neverAborted());
      assertEqual(await idsOf(source), ['a', 'b']);
      clock.advance(1_001);
      assertEqual(await idsOf(source), ['b']);
      assertEqual((await source.stats('acme', neverAborted())).items, 1);
    },
  },
  {
    name: 'rejects an invalid item, and then stores no item of the call',
    async run({ open }) {
      const source = await open();
      const wrong: unknown[] = [
        { id: 'x', text: '' },
        { id: '', text: 'x' },
        { id: 'x', text: 'x', metadata: { f: () => 1 } },
        { id: 'x', text: 'x', metadata: JSON.parse('{"__proto__": 1}') },
        { id: 'x', text: '\uD800' },
        { id: 'x', text: 'x', ttlMs: 0 },
        item('good'),
      ];
      for (const one of wrong) {
        const items = [item('good'), one] as GroundingItem[];
        await assertRejects(() => source.remember({ ...me, items }, neverAborted()), { code: 'invalid_argument' });
      }
      await assertRejects(() => source.remember({ ...me, items: [] }, neverAborted()), { code: 'invalid_argument' });
      assertEqual(await idsOf(source), []);
    },
  },
  {
    name: 'shares its items with another instance, in both directions',
    async run({ open, reopen, clock }) {
      const source = await open();
      if (!reopen) return;
      const many = Array.from({ length: 300 }, (_, at) => item(`i${at}`, { text: `About ${at} `.repeat(40) }));
      await source.remember({ ...me, items: many }, neverAborted());
      await source.forget({ ...me, ids: ['i7'] }, neverAborted());
      const other = await reopen();
      assertEqual((await other.stats('acme', neverAborted())).items, 299);
      assertEqual(
        (await other.stats('acme', neverAborted())).version,
        (await source.stats('acme', neverAborted())).version,
      );
      await other.remember({ ...me, items: [item('new')] }, neverAborted());
      clock.advance(10_000);
      const filters = [{ field: 'id', op: 'eq', value: 'new' } as const];
      assert(
        (await source.retrieve({ ...me, topK: 1, filters }, neverAborted())).length === 1,
        'What another instance has written is not seen',
      );
      await Promise.all(
        [source, other].map((one, at) => one.remember({ ...me, items: [item(`both${at}`)] }, neverAborted())),
      );
      clock.advance(10_000);
      assertEqual((await source.stats('acme', neverAborted())).items, 302);
      assertEqual((await other.stats('acme', neverAborted())).items, 302);
    },
  },
];
