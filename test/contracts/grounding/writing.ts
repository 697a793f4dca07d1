/** Laws of remembering and forgetting. */

import type { GroundingItem, WritableGroundingSource } from '../../../src/contracts/grounding-source.ts';
import { assert, assertEqual, assertRejects } from '../assert.ts';
import { type GroundingCheck, quiet, type WritableSubject } from './check.ts';

const me = { tenant: 'acme' };

async function idsOf(source: WritableGroundingSource, tenant = 'acme'): Promise<string[]> {
  const filters = [{ field: 'id', op: 'exists', value: true } as const];
  return (await source.retrieve({ tenant, topK: 200, filters }, quiet())).map(({ id }) => id).toSorted();
}

function item(id: string, overrides: Partial<GroundingItem> = {}): GroundingItem {
  return { id, text: `About ${id}`, metadata: { name: id }, ...overrides };
}

/** The checks of `remember` and `forget`. */
export const writingChecks: readonly GroundingCheck<WritableSubject>[] = [
  {
    name: 'finds at once what it was given, and nothing of it for another tenant',
    async run({ open }) {
      const source = await open();
      assertEqual(await source.remember({ ...me, items: [item('a'), item('b')] }, quiet()), ['a', 'b']);
      assertEqual(await idsOf(source), ['a', 'b']);
      assertEqual(await idsOf(source, 'globex'), []);
      await source.remember({ tenant: 'globex', items: [item('a')] }, quiet());
      await source.forget({ tenant: 'globex', ids: ['a', 'b'] }, quiet());
      assertEqual(await idsOf(source), ['a', 'b']);
    },
  },
  {
    name: 'keeps the same items once, and the latest of an id',
    async run({ open }) {
      const source = await open();
      const nameless = { text: 'Nobody named me', metadata: { name: 'n' } };
      const [first] = await source.remember({ ...me, items: [nameless] }, quiet());
      assertEqual(await source.remember({ ...me, items: [nameless] }, quiet()), [first]);
      await source.remember({ ...me, items: [item('a')] }, quiet());
      await source.remember({ ...me, items: [item('a', { text: 'Something else' })] }, quiet());
      assertEqual(await idsOf(source), [first!, 'a'].toSorted());
      const filters = [{ field: 'id', op: 'eq', value: 'a' } as const];
      const [hit] = await source.retrieve({ ...me, topK: 1, filters }, quiet());
      assertEqual(hit?.content, 'Something else');
    },
  },
  {
    name: 'has another version after every change, and the same otherwise',
    async run({ open }) {
      const source = await open();
      const versions = [(await source.stats('acme', quiet())).version];
      await source.remember({ ...me, items: [item('a')] }, quiet());
      versions.push((await source.stats('acme', quiet())).version);
      await source.remember({ ...me, items: [item('b')] }, quiet());
      versions.push((await source.stats('acme', quiet())).version);
      await source.forget({ ...me, ids: ['a'] }, quiet());
      versions.push((await source.stats('acme', quiet())).version);
      assertEqual(new Set(versions).size, 4);
      await source.forget({ ...me, ids: ['a'] }, quiet());
      assertEqual((await source.stats('acme', quiet())).version, versions.at(-1));
    },
  },
  {
    name: 'does a call once under an idempotency key, and refuses another call under it',
    async run({ open }) {
      const source = await open();
      const call = { ...me, items: [item('a'), item('b')], idempotencyKey: 'k1' };
      assertEqual(await source.remember(call, quiet()), ['a', 'b']);
      await source.forget({ ...me, ids: ['a'] }, quiet());
      assertEqual(await source.remember(call, quiet()), ['a', 'b']);
      assertEqual(await idsOf(source), ['b']);
      await assertRejects(() => source.remember({ ...call, items: [item('c')] }, quiet()), {
        code: 'conflict',
        reason: 'idempotency_mismatch',
      });
      await source.remember({ ...call, tenant: 'globex', items: [item('c')] }, quiet());
      assertEqual(await idsOf(source, 'globex'), ['c']);
    },
  },
  {
    name: 'forgets by ids, by filters, or by both at once, and says how many',
    async run({ open }) {
      const source = await open();
      await source.remember(
        { ...me, items: ['a', 'b', 'c', 'd'].map((id, year) => item(id, { metadata: { year } })) },
        quiet(),
      );
      assertEqual(await source.forget({ ...me, ids: ['a', 'a', 'x'] }, quiet()), 1);
      assertEqual(await source.forget({ ...me, filters: [{ field: 'year', op: 'gt', value: 2 }] }, quiet()), 1);
      assertEqual(
        await source.forget({ ...me, ids: ['b'], filters: [{ field: 'year', op: 'gt', value: 1 }] }, quiet()),
        0,
      );
      assertEqual(await idsOf(source), ['b', 'c']);
      await assertRejects(() => source.forget(me, quiet()), { code: 'invalid_argument' });
    },
  },
  {
    name: 'holds nothing past its time',
    async run({ open, clock }) {
      const source = await open();
      await source.remember({ ...me, items: [item('a', { ttlMs: 1_000 }), item('b')] }, quiet());
      assertEqual(await idsOf(source), ['a', 'b']);
      clock.advance(1_001);
      assertEqual(await idsOf(source), ['b']);
      assertEqual((await source.stats('acme', quiet())).items, 1);
    },
  },
  {
    name: 'refuses what is no item, and then keeps nothing of the call',
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
        await assertRejects(() => source.remember({ ...me, items }, quiet()), { code: 'invalid_argument' });
      }
      await assertRejects(() => source.remember({ ...me, items: [] }, quiet()), { code: 'invalid_argument' });
      assertEqual(await idsOf(source), []);
    },
  },
  {
    name: 'keeps what it was given when another instance opens it, and what that writes is seen here',
    async run({ open, reopen, clock }) {
      const source = await open();
      if (!reopen) return;
      const many = Array.from({ length: 300 }, (_, at) => item(`i${at}`, { text: `About ${at} `.repeat(40) }));
      await source.remember({ ...me, items: many }, quiet());
      await source.forget({ ...me, ids: ['i7'] }, quiet());
      const other = await reopen();
      assertEqual((await other.stats('acme', quiet())).items, 299);
      assertEqual((await other.stats('acme', quiet())).version, (await source.stats('acme', quiet())).version);
      await other.remember({ ...me, items: [item('new')] }, quiet());
      clock.advance(10_000);
      const filters = [{ field: 'id', op: 'eq', value: 'new' } as const];
      assert(
        (await source.retrieve({ ...me, topK: 1, filters }, quiet())).length === 1,
        'What another instance has written is not seen',
      );
      await Promise.all([source, other].map((one, at) => one.remember({ ...me, items: [item(`both${at}`)] }, quiet())));
      clock.advance(10_000);
      assertEqual((await source.stats('acme', quiet())).items, 302);
      assertEqual((await other.stats('acme', quiet())).items, 302);
    },
  },
];
