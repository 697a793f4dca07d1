/** Checks of filters: every hit matches them, and every match can be found. */

import type { Filter } from '../../../src/contracts/grounding-source.ts';
import { assertEqual, assertRejects } from '../assert.ts';
import { acmeDocuments, type ContractDocument, type GroundingCheck, openBoth, retrieve } from './check.ts';

/** Filters with the documents that pass them. */
const cases: readonly {
  readonly filters: readonly Filter[];
  readonly passes: (document: ContractDocument) => boolean;
}[] = [
  { filters: [{ field: 'topic', op: 'eq', value: 'sea' }], passes: ({ metadata }) => metadata.topic === 'sea' },
  { filters: [{ field: 'topic', op: 'ne', value: 'sea' }], passes: ({ metadata }) => metadata.topic !== 'sea' },
  {
    filters: [{ field: 'topic', op: 'in', value: ['sea', 'music'] }],
    passes: ({ metadata }) => metadata.topic !== 'kitchen',
  },
  { filters: [{ field: 'year', op: 'gt', value: 2022 }], passes: ({ metadata }) => metadata.year > 2022 },
  { filters: [{ field: 'year', op: 'gte', value: 2022 }], passes: ({ metadata }) => metadata.year >= 2022 },
  { filters: [{ field: 'year', op: 'lt', value: 2022 }], passes: ({ metadata }) => metadata.year < 2022 },
  { filters: [{ field: 'year', op: 'lte', value: 2022 }], passes: ({ metadata }) => metadata.year <= 2022 },
  { filters: [{ field: 'year', op: 'gt', value: '2022' }], passes: () => false },
  {
    filters: [{ field: 'topic', op: 'contains', value: 'itch' }],
    passes: ({ metadata }) => metadata.topic === 'kitchen',
  },
  { filters: [{ field: 'topic', op: 'exists' }], passes: () => true },
  { filters: [{ field: 'colour', op: 'exists', value: true }], passes: () => false },
  { filters: [{ field: '__proto__', op: 'exists', value: true }], passes: () => false },
  {
    filters: [{ field: 'topic', op: 'eq', value: 'sea' }, { field: 'year', op: 'gt', value: 2022 }],
    passes: ({ metadata }) => metadata.topic === 'sea' && metadata.year > 2022,
  },
  {
    filters: [{ any: [{ field: 'topic', op: 'eq', value: 'music' }, { field: 'year', op: 'gt', value: 2023 }] }],
    passes: ({ metadata }) => metadata.topic === 'music' || metadata.year > 2023,
  },
];

/** The checks of sources that have every operator. */
export const filteringChecks: readonly GroundingCheck[] = [
  {
    name: 'finds exactly the matching items when only filters are passed',
    async run(subject) {
      const source = await openBoth(subject);
      for (const { filters, passes } of cases) {
        const ids = (await retrieve(source, subject, { filters })).map(({ id }) => id).toSorted();
        assertEqual(ids, acmeDocuments.filter(passes).map(({ id }) => id).toSorted(), JSON.stringify(filters));
      }
    },
  },
  {
    name: 'filters before it applies `topK`, so that a match is found however low it ranks',
    async run(subject) {
      const source = await openBoth(subject);
      const filters = [{ field: 'topic', op: 'eq', value: 'kitchen' } as const];
      const [hit] = await retrieve(source, subject, { query: 'harbour water', filters, topK: 1 });
      assertEqual(hit?.metadata['topic'], 'kitchen');
    },
  },
  {
    name: 'rejects a filter whose value does not fit its operator',
    async run(subject) {
      const source = await openBoth(subject);
      const wrong: Filter[] = [
        { field: 'topic', op: 'in', value: 'sea' },
        { field: 'topic', op: 'eq', value: ['sea'] },
        { field: 'year', op: 'gt', value: null },
        { field: 'year', op: 'exists', value: 1 },
        { field: 'topic', op: 'contains' },
      ];
      for (const filter of wrong) {
        await assertRejects(() => retrieve(source, subject, { query: 'harbour', filters: [filter] }), {
          code: 'invalid_argument',
          reason: 'invalid_filter',
        });
      }
    },
  },
];
