/** Checks of queries: the form of hits, their order, and their tenant. */

import { assert, assertEqual, assertRejects } from '../assert.ts';
import { acmeDocuments, type GroundingCheck, neverAborted, openBoth, retrieve } from './check.ts';

/** The checks of `retrieve` and `stats`. */
export const askingChecks: readonly GroundingCheck[] = [
  {
    name: 'returns hits with content, a source and a confidence in 0..1, the best first',
    async run(subject) {
      const source = await openBoth(subject);
      const { version } = await source.stats('acme', neverAborted());
      const hits = await retrieve(source, subject, { query: 'harbour tides rise' });
      assert(hits[0]?.id.startsWith('tides'), `Expected "tides" first, got ${hits[0]?.id}`);
      assert(new Set(hits.map(({ id }) => id)).size === hits.length, 'Two hits have the same id');
      for (const { content, confidence, score, source: origin } of hits) {
        assert(content.length > 0, 'A hit has no content');
        assert(confidence >= 0 && confidence <= 1, `A confidence is ${confidence}`);
        assert(Number.isFinite(score), `A score is ${score}`);
        assert(origin.uri !== '' && origin.version !== '', 'A hit does not say where it comes from');
      }
      assert(hits[0]?.content.includes('tides rise twice'), 'The content is not what was found');
      assert(version !== '', 'The source has no version');
    },
  },
  {
    name: 'returns at most `topK` hits, and the same first ones for every `topK`',
    async run(subject) {
      const source = await openBoth(subject);
      const all = await retrieve(source, subject, { query: 'harbour water', topK: 10 });
      const one = await retrieve(source, subject, { query: 'harbour water', topK: 1 });
      assertEqual(one.map(({ id }) => id), all.slice(0, 1).map(({ id }) => id));
    },
  },
  {
    name: 'returns the same hits for the same query',
    async run(subject) {
      const source = await openBoth(subject);
      const first = await retrieve(source, subject, { query: 'water in the harbour' });
      const second = await retrieve(source, subject, { query: 'water in the harbour' });
      assertEqual(structuredClone(second), structuredClone(first));
      assertEqual(await source.stats('acme', neverAborted()), await source.stats('acme', neverAborted()));
    },
  },
  {
    name: 'shows no tenant the items of another, and an unknown tenant nothing',
    async run(subject) {
      const source = await openBoth(subject);
      const own = await retrieve(source, subject, { query: 'secret harbour', topK: 100 });
      assert(own.every(({ content }) => !content.includes('Globex')), "A tenant sees what is another's");
      const theirs = await retrieve(source, subject, { query: 'secret harbour', tenant: 'globex' });
      assert(theirs[0]?.content.includes('Globex'), 'A tenant does not find its own');
      assertEqual(await retrieve(source, subject, { query: 'secret harbour', tenant: 'initech' }), []);
      assertEqual((await source.stats('initech', neverAborted())).items, 0);
      assertEqual(await retrieve(source, subject, { query: 'secret harbour', tenant: 'acme/../globex' }), []);
    },
  },
  {
    name: 'returns a low confidence for an unrelated query',
    async run(subject) {
      const source = await openBoth(subject);
      const [sure] = await retrieve(source, subject, { query: 'Anchors hold a ship in the harbour.' });
      const [unsure] = await retrieve(source, subject, { query: 'zeppelin quarterly xylograph' });
      assert((sure?.confidence ?? 0) > 0.5, `The confidence of a match is ${sure?.confidence}`);
      assert((unsure?.confidence ?? 0) <= 0.3, `The confidence of no match is ${unsure?.confidence}`);
    },
  },
  {
    name: 'does not change when a caller changes a returned hit',
    async run(subject) {
      const source = await openBoth(subject);
      const [hit] = await retrieve(source, subject, { query: 'violins' });
      const before = structuredClone(hit);
      Object.assign(hit?.metadata ?? {}, { topic: 'changed', extra: true });
      assertEqual(structuredClone((await retrieve(source, subject, { query: 'violins' }))[0]), before);
    },
  },
  {
    name: 'rejects a request without a query, and an invalid `topK`',
    async run(subject) {
      const source = await openBoth(subject);
      await assertRejects(() => retrieve(source, subject, {}), { code: 'invalid_argument' });
      for (const topK of [0, -1, 1.5, 201, Number.NaN]) {
        await assertRejects(() => retrieve(source, subject, { query: 'violins', topK }), { code: 'invalid_argument' });
      }
    },
  },
  {
    name: 'rejects requests for capabilities that it does not have',
    async run(subject) {
      const source = await openBoth(subject);
      const { capabilities } = source;
      if (!capabilities.query) {
        await assertRejects(
          () => source.retrieve({ tenant: 'acme', query: 'x', topK: 1, filters: [] }, neverAborted()),
          {
            code: 'invalid_argument',
          },
        );
      }
      if (!capabilities.embedding) {
        await assertRejects(() => retrieve(source, subject, { embedding: [1, 0] }), { code: 'invalid_argument' });
      }
      if (!capabilities.records) {
        await assertRejects(() => retrieve(source, subject, { query: 'violins', sort: [{ field: 'year' }] }), {
          code: 'invalid_argument',
        });
      }
    },
  },
  {
    name: 'is cancelled by a signal that has aborted',
    async run(subject) {
      const source = await openBoth(subject);
      await assertRejects(() => retrieve(source, subject, { query: 'violins', signal: AbortSignal.abort() }), {
        code: 'cancelled',
      });
    },
  },
  {
    name: 'counts its items',
    async run(subject) {
      const source = await openBoth(subject);
      assertEqual((await source.stats('acme', neverAborted())).items, acmeDocuments.length);
    },
  },
];
