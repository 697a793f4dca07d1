import { afterEach, describe, expect, it, vi } from 'vitest';
import { createGrounding, createPrincipal } from '../../../src/index.ts';
import type { RetrievalRecord } from '../../../src/grounding/index.ts';
import type { SourceHit } from '../../../src/contracts/index.ts';
import { fakeSource, hitOf } from '../../fixtures/grounding-source.ts';

const principal = createPrincipal({
  via: 'http',
  tenant: 'acme',
  subject: 'ann',
  agents: '*',
  scopes: ['grounding:read'],
});
const never = (): Promise<readonly SourceHit[]> => new Promise<never>(() => undefined);

afterEach(() => {
  vi.useRealTimers();
});

describe('createGrounding', () => {
  it('answers of one source in its own order, with rank, kind, version and report', async () => {
    const docs = fakeSource('docs', [hitOf('a', { confidence: 0.9, score: 7 }), hitOf('b', { confidence: 0.4 })]);
    const grounding = createGrounding({ sources: [docs], now: () => 5 });
    const answer = await grounding.retrieve({ dataSourceId: 'docs', query: 'x', topK: 5 });
    expect(
      answer.hits.map(({ id, rank, dataSourceId, score, confidence }) => [id, rank, dataSourceId, score, confidence]),
    ).toEqual([
      ['a', 1, 'docs', 7, 0.9],
      ['b', 2, 'docs', 1, 0.4],
    ]);
    expect(answer.fused).toBe(false);
    expect(answer.sources).toEqual([
      { dataSourceId: 'docs', kind: 'search', tookMs: 0, candidates: 2, status: 'ok', version: 'docs-1' },
    ]);
    expect(docs.asked[0]).toMatchObject({ tenant: 'local', topK: 5, filters: [] });
  });

  it('waits for slow sources as long as the budget, and no longer', async () => {
    vi.useFakeTimers();
    let stopped: AbortSignal | undefined;
    const slow = fakeSource('slow', (_request, signal) => {
      stopped = signal;
      return never();
    });
    const grounding = createGrounding({ sources: [slow, fakeSource('docs', [hitOf('a')])] });
    const answer = grounding.retrieve({ dataSourceIds: ['slow', 'docs'], query: 'x', budgetMs: 50 });
    await vi.advanceTimersByTimeAsync(51);
    const { hits, sources } = await answer;
    expect(hits.map(({ id }) => id)).toEqual(['a']);
    expect(sources[1]).toMatchObject({ status: 'error', error: { code: 'deadline_exceeded', retryable: true } });
    expect(stopped?.aborted).toBe(true);
  });

  it('is cancelled with its caller, and stops the sources', async () => {
    const abort = new AbortController();
    const slow = fakeSource('slow', never);
    const grounding = createGrounding({ sources: [slow] });
    const answer = grounding.retrieve({ dataSourceId: 'slow', query: 'x' }, abort);
    abort.abort();
    await expect(answer).rejects.toMatchObject({ code: 'cancelled' });
    await expect(grounding.retrieve({ dataSourceId: 'slow', query: 'x' }, { signal: AbortSignal.abort() })).rejects
      .toMatchObject({ code: 'cancelled' });
  });

  it('leaves out hits that break the rules, and says that the answer is partial', async () => {
    const odd = fakeSource('odd', [
      hitOf('a'),
      hitOf('b', { confidence: 7 }),
      hitOf('a'),
      hitOf('c', { score: Number.NaN }),
    ]);
    const { hits, sources } = await createGrounding({ sources: [odd] }).retrieve({ dataSourceId: 'odd', query: 'x' });
    expect(hits.map(({ id }) => id)).toEqual(['a']);
    expect(sources[0]).toMatchObject({ status: 'partial', candidates: 1 });
  });

  it('asks for the tenant of the principal, with the rights that the host adds', async () => {
    const docs = fakeSource('docs', [hitOf('a')]);
    const grounding = createGrounding({
      sources: [docs],
      access: (who, id) => [{ field: 'readers', op: 'contains', value: `${who?.subject}@${id}` }],
    });
    const filters = [{ field: 'year', op: 'gt', value: 2020 } as const];
    await grounding.retrieve({ dataSourceId: 'docs', query: 'x', filters }, { principal });
    expect(docs.asked[0]).toMatchObject({
      tenant: 'acme',
      filters: [...filters, { field: 'readers', op: 'contains', value: 'ann@docs' }],
    });
  });

  it("asks no source that the host denies, or when the host's hook fails", async () => {
    const docs = fakeSource('docs', [hitOf('a')]);
    const open = fakeSource('open', [hitOf('b')]);
    const authorize = (_action: string, _who: unknown, { id }: { id: string }) =>
      id === 'docs' ? { decision: 'deny', reason: 'not for you' } as const : { decision: 'allow' } as const;
    const grounding = createGrounding({ sources: [docs, open], authorize });
    const { hits, sources } = await grounding.retrieve({ dataSourceIds: ['docs', 'open'], query: 'x' }, { principal });
    expect(hits.map(({ id }) => id)).toEqual(['b']);
    expect(sources[0]).toMatchObject({ status: 'error', error: { code: 'forbidden' } });
    const nobody = await grounding.retrieve({ dataSourceId: 'open', query: 'x' });
    expect(nobody.sources[0]).toMatchObject({ error: { code: 'forbidden' } });
    const failing = createGrounding({ sources: [docs], access: () => Promise.reject(new Error('secret')) });
    const { sources: [report] } = await failing.retrieve({ dataSourceId: 'docs', query: 'x' }, { principal });
    expect(report).toMatchObject({ error: { code: 'forbidden' } });
    expect(docs.asked).toEqual([]);
  });

  it('records which hits it gave, contents as hashes', async () => {
    const records: RetrievalRecord[] = [];
    const grounding = createGrounding({
      sources: [fakeSource('docs', [hitOf('a', { content: 'abc' })])],
      record: (record) => {
        records.push(record);
      },
    });
    await grounding.retrieve({ dataSourceId: 'docs', query: 'x' }, { principal });
    expect(records).toEqual([{
      tenant: 'acme',
      dataSourceIds: ['docs'],
      hits: [{
        id: 'a',
        dataSourceId: 'docs',
        uri: 'test/a',
        version: '1',
        confidence: 0.5,
        contentHash: 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
      }],
    }]);
  });

  it('returns the requested metadata', async () => {
    const docs = fakeSource('docs', [hitOf('a', { metadata: { x: 1, y: 2 } })]);
    const grounding = createGrounding({ sources: [docs] });
    const { hits } = await grounding.retrieve({ dataSourceId: 'docs', query: 'x', include: ['y', '__proto__'] });
    expect(hits[0]?.metadata).toEqual({ y: 2 });
  });

  it('uses what was fitted to judged hits, and says so', async () => {
    const docs = fakeSource('docs', [hitOf('a', { confidence: 0.5 })]);
    const calibrations = { docs: { slope: 1, offset: 2, error: 0.01 } };
    const { hits } = await createGrounding({ sources: [docs], calibrations }).retrieve({
      dataSourceId: 'docs',
      query: 'x',
    });
    expect(hits[0]).toMatchObject({ calibrated: true });
    expect(hits[0]?.confidence).toBeCloseTo(0.881, 3);
  });

  it('refuses a question that names no source or asks nothing, and two sources of one id', async () => {
    const docs = fakeSource('docs', []);
    const grounding = createGrounding({ sources: [docs] });
    for (
      const input of [{ query: 'x' }, { dataSourceId: 'docs' }, { dataSourceId: 'docs', query: ' ' }, {
        dataSourceId: 'docs',
        query: 'x',
        topK: 101,
      }]
    ) {
      await expect(grounding.retrieve(input)).rejects.toMatchObject({ code: 'invalid_argument' });
    }
    expect(() => createGrounding({ sources: [docs, docs] })).toThrow('share an id');
  });

  it('writes to no source that can only be read, and to none that there is not', async () => {
    const grounding = createGrounding({ sources: [fakeSource('docs', [])] });
    const items = [{ text: 'x' }];
    await expect(grounding.remember({ dataSourceId: 'docs', items })).rejects.toMatchObject({
      code: 'invalid_argument',
    });
    await expect(grounding.remember({ dataSourceId: 'none', items })).rejects.toMatchObject({ code: 'not_found' });
    await expect(grounding.forget({ dataSourceId: 'docs' })).rejects.toMatchObject({ code: 'invalid_argument' });
  });
});
