import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readAll, runRequest } from '../../../fixtures/runtime.ts';
import { chunksOf, type Fault } from './fake-endpoint.ts';
import { callsOf, refuse, run, setup, times } from './setup.ts';
import { runs } from '../../../fixtures/budget.ts';

describe('a stream that is cut', () => {
  const ways: readonly (readonly [string, { inside?: true; broken?: true }])[] = [
    ['ends', {}],
    ['ends inside an event', { inside: true }],
    ['breaks', { broken: true }],
    ['breaks inside an event', { inside: true, broken: true }],
  ];
  it.each(ways)('at any event and %s yields every chunk once, in order', async (_name, how) => {
    for (let after = 0; after <= 7; after++) {
      const subject = await setup();
      subject.endpoint.plan({ type: 'cut', after, ...how });
      expect(await run(subject)).toEqual(chunksOf(6));
      expect(subject.endpoint.executions()).toBe(1);
      expect(callsOf(subject.endpoint).slice(1)).toEqual(after < 7 ? ['GET /v1/runs/run_1/stream'] : []);
      const lastEventId = subject.endpoint.requests[1]?.headers.get('last-event-id') ?? null;
      expect(lastEventId).toBe(after === 0 || after === 7 ? null : `run_1:${after}`);
    }
  });

  it('yields every chunk once and in order under any pattern of faults', async () => {
    const place = fc.nat({ max: 12 });
    const fault: fc.Arbitrary<Fault> = fc.oneof(
      fc.constant<Fault>({ type: 'none' }),
      fc.constant<Fault>({ type: 'network' }),
      fc.constantFrom(429, 502, 503, 504).map((status): Fault => ({ type: 'proxy', status })),
      fc.constant(refuse('overloaded', 503, { retryable: true, retryAfterMs: 1000 })),
      fc.record({ type: fc.constant('cut' as const), after: place, inside: fc.boolean(), broken: fc.boolean() }),
      fc.record({ type: fc.constant('silence' as const), after: place }),
      fc.record({ type: fc.constant('again' as const), events: place }),
      fc.record({ type: fc.constant('gap' as const), at: place }),
    );
    const options = { count: fc.integer({ min: 2, max: 12 }), joins: fc.nat({ max: 2 }), headers: fc.boolean() };
    await fc.assert(
      fc.asyncProperty(
        fc.array(fault, { maxLength: 12 }),
        fc.record(options),
        async (faults, { count, joins, headers }) => {
          const subject = await setup({ chunks: chunksOf(count), joins, headers, client: { attempts: 20 } });
          subject.endpoint.plan(...faults);
          expect(await run(subject)).toEqual(chunksOf(count));
          expect(subject.endpoint.executions()).toBe(1);
          const nonces = subject.endpoint.requests.map((request) =>
            /nonce="([^"]+)"/.exec(request.headers.get('signature-input') ?? '')?.[1]
          );
          expect(new Set(nonces).size).toBe(nonces.length);
        },
      ),
      { numRuns: runs(150) },
    );
  });

  it('is no error when only the farewell was lost', async () => {
    const subject = await setup();
    subject.endpoint.plan({ type: 'cut', after: 6 }, ...times(5, { type: 'network' } as const));
    expect(await run(subject)).toEqual(chunksOf(6));
  });

  it('is an error where the endpoint numbers no events: what is missing is unknown', async () => {
    const subject = await setup({ numbered: false });
    subject.endpoint.plan({ type: 'cut', after: 3 });
    await expect(run(subject)).rejects.toMatchObject({ code: 'unavailable' });
    expect(await run(await setup({ numbered: false }))).toEqual(chunksOf(6));
  });

  it('never mixes two runs', async () => {
    const subject = await setup();
    const other = `id: run_9:3\ndata: ${JSON.stringify({ type: 'finish' })}\n\n`;
    const fetch = async (request: Request) =>
      request.method === 'GET'
        ? new Response(other, { headers: { 'content-type': 'text/event-stream' } })
        : await subject.endpoint.fetch(request);
    const { client } = await setup({ client: { ...subject.endpoint.credential, fetch } });
    subject.endpoint.plan({ type: 'cut', after: 2 });
    await expect(client.run(runRequest()).then(readAll)).rejects.toMatchObject({ code: 'conflict' });
  });

  it.each([
    'data: no json\n\n',
    'data: 5\n\n',
    'id: nonsense\ndata: {"type":"finish"}\n\n',
    `data: ${'x'.repeat(2_000_000)}`,
  ])(
    'ends with an error when it holds what is no chunk',
    async (text) => {
      const { client } = await setup({ client: { fetch: async () => new Response(text) } });
      await expect(client.run(runRequest()).then(readAll)).rejects.toMatchObject({ code: 'internal' });
    },
  );
});

describe('a connection that falls silent', () => {
  it('is dead after 45 s without a byte, and another is opened', async () => {
    const subject = await setup();
    subject.endpoint.plan({ type: 'silence', after: 3 });
    expect(await run(subject)).toEqual(chunksOf(6));
    expect(subject.endpoint.requests[1]?.headers.get('last-event-id')).toBe('run_1:3');
    expect(subject.endpoint.released()).toBeGreaterThanOrEqual(1);
  });
});
