import { describe, expect, it } from 'vitest';
import { readAll, runRequest } from '../../../fixtures/runtime.ts';
import { chunksOf, type Fault } from './fake-endpoint.ts';
import { refuse, run, setup } from './setup.ts';

describe('an attempt that fails', () => {
  it('is made again with the same key and body and a new signature', async () => {
    const subject = await setup();
    subject.endpoint.plan(
      { type: 'network' },
      { type: 'proxy', status: 502 },
      refuse('overloaded', 503, { retryable: true }),
    );
    expect(await run(subject)).toEqual(chunksOf(6));
    const all = subject.endpoint.requests;
    expect(all).toHaveLength(4);
    for (const name of ['idempotency-key', 'content-digest']) {
      expect(new Set(all.map(({ headers }) => headers.get(name))).size).toBe(1);
    }
    for (const name of ['signature', 'signature-input']) {
      expect(new Set(all.map(({ headers }) => headers.get(name))).size).toBe(4);
    }
    expect(subject.endpoint.executions()).toBe(1);
  });

  it.each<[string, Fault, number]>([
    ['seconds', { ...refuse('overloaded', 503, { retryable: true }), retryAfter: '7' } as Fault, 7000],
    [
      'a date',
      { ...refuse('rate_limited', 429), retryAfter: new Date(1_800_000_009_000).toUTCString() } as Fault,
      9000,
    ],
    ['the problem', refuse('replay_store_full', 503, { retryable: true, retryAfterMs: 1500 }), 1500],
  ])('waits as long as %s of the answer say', async (_name, fault, pause) => {
    const subject = await setup();
    subject.endpoint.plan(fault);
    await run(subject);
    expect(subject.pauses).toEqual([pause]);
  });

  it.each<[Fault, string]>([
    [refuse('invalid_argument', 400), 'invalid_argument'],
    [refuse('forbidden', 403), 'forbidden'],
    [refuse('idempotency_key_reused', 422), 'idempotency_key_reused'],
    [refuse('budget_exceeded', 429, { retryable: false }), 'budget_exceeded'],
    [refuse('unavailable', 503, { retryable: false, details: { reason: 'storage_full' } }), 'unavailable'],
    [refuse('internal', 500), 'internal'],
    [refuse('certificate_untrusted', 401), 'certificate_untrusted'],
    [{ type: 'proxy', status: 404 }, 'not_found'],
    [{ type: 'proxy', status: 418 }, 'internal'],
  ])('is not made again when the answer is about the request: %j', async (fault, code) => {
    const subject = await setup();
    subject.endpoint.plan(fault);
    await expect(run(subject)).rejects.toMatchObject({ code });
    expect(subject.endpoint.requests).toHaveLength(1);
  });

  it('says how far the clocks are apart when the refusal may be due to a clock', async () => {
    const serverTime = new Date(1_800_000_000_000).toISOString();
    const details = { reason: 'certificate_from_future', serverTime };
    const problem = { code: 'certificate_invalid', detail: 'The certificate is not valid yet', serverTime, details };
    const fetch = async () => Response.json(problem, { status: 401 });
    const { client } = await setup({ client: { fetch, now: () => 1_800_000_045_000 } });
    await expect(client.run(runRequest())).rejects.toMatchObject({
      code: 'certificate_invalid',
      message: expect.stringContaining('45 s ahead') as string,
      details: { ...details, clockSkewMs: 45_000 },
    });
  });

  it('counts as failed when no answer comes', async () => {
    const subject = await setup();
    let first = true;
    const fetch = (request: Request): Promise<Response> => {
      if (!first) return subject.endpoint.fetch(request);
      first = false;
      return new Promise(() => {});
    };
    const wait = async (ms: number, signal: AbortSignal) => {
      if (ms === 45_000 && !first) {
        await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
      }
    };
    let calls = 0;
    const impatient = (ms: number, signal: AbortSignal) => ++calls === 1 ? Promise.resolve() : wait(ms, signal);
    const { client } = await setup({ client: { ...subject.endpoint.credential, fetch, wait: impatient } });
    expect(await readAll(await client.run(runRequest()))).toEqual(chunksOf(6));
  });
});
