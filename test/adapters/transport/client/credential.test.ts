import { describe, expect, it } from 'vitest';
import { type ClientOptions, createClient } from '../../../../adapters/transport/client.ts';
import { readAll, runRequest } from '../../../fixtures/runtime.ts';
import { chunksOf, createFakeEndpoint, url } from './fake-endpoint.ts';
import { refuse, run, setup, times } from './setup.ts';

describe('clocks and certificates', () => {
  it.each([300_000, -300_000])('are compared once when the endpoint’s clock is %i ms ahead', async (skewMs) => {
    const subject = await setup({ skewMs });
    const certificate =
      async () => (await subject.endpoint.issuer.issue({ sub: 's', tenant: 't', agents: '*', scopes: ['run:create'] }));
    const { client } = await setup({ client: { fetch: subject.endpoint.fetch, certificate } });
    expect(await readAll(await client.run(runRequest()))).toEqual(chunksOf(6));
    expect(subject.endpoint.requests).toHaveLength(2);
    await readAll(await client.run(runRequest()));
    expect(subject.endpoint.requests).toHaveLength(3);
  });

  it.each(['signature_replayed', 'signature_expired', 'signature_from_future', 'certificate_expired'] as const)(
    'let a request that is refused as %s be signed anew once, and no more',
    async (code) => {
      const once = await setup();
      once.endpoint.plan(refuse(code, 401, { retryable: true }));
      expect(await run(once)).toEqual(chunksOf(6));
      const twice = await setup();
      twice.endpoint.plan(...times(2, refuse(code, 401, { retryable: true })));
      await expect(run(twice)).rejects.toMatchObject({ code, status: 401 });
      expect(twice.endpoint.requests).toHaveLength(2);
      expect(twice.pauses).toEqual([]);
    },
  );

  it('renew a certificate at two thirds of its life, once for all who need it', async () => {
    let time = 1_800_000_000_000;
    const endpoint = await createFakeEndpoint({ now: () => time });
    let issued = 0;
    const certificate =
      () => (issued++, endpoint.issuer.issue({ sub: 's', tenant: 't', agents: '*', scopes: [], ttlSeconds: 600 }));
    const client = createClient({ url, certificate, fetch: endpoint.fetch, now: () => time });
    const all = () => Promise.all(times(5, 0).map(async () => await readAll(await client.run(runRequest()))));
    await all();
    expect(issued).toBe(1);
    time += 399_000;
    await all();
    expect(issued).toBe(1);
    time += 1000;
    await all();
    expect(issued).toBe(2);
  });

  it('renew a certificate that the endpoint holds for expired, whatever its own clock says', async () => {
    const endpoint = await createFakeEndpoint();
    let issued = 0;
    const certificate = () => {
      issued++;
      return endpoint.issuer.issue({ sub: 's', tenant: 't', agents: '*', scopes: [] });
    };
    const client = createClient({ url, certificate, fetch: endpoint.fetch, now: () => 1_800_000_000_000 });
    endpoint.plan(refuse('certificate_expired', 401, { retryable: true }));
    expect(await readAll(await client.run(runRequest()))).toEqual(chunksOf(6));
    expect(issued).toBe(2);
  });

  it('go on with a certificate that is still good when no new one comes', async () => {
    let time = 1_800_000_000_000;
    const endpoint = await createFakeEndpoint({ now: () => time });
    let broken = false;
    const certificate = () =>
      broken ? Promise.reject(new Error('The issuer sleeps')) : Promise.resolve(endpoint.credential.certificate);
    const client = createClient({
      url,
      certificate,
      key: endpoint.credential.key,
      fetch: endpoint.fetch,
      now: () => time,
    });
    await readAll(await client.run(runRequest()));
    broken = true;
    time += 500_000;
    expect(await readAll(await client.run(runRequest()))).toEqual(chunksOf(6));
    time += 200_000;
    await expect(client.run(runRequest())).rejects.toThrow('The issuer sleeps');
  });

  it.each<[string, Partial<ClientOptions>]>([
    ['no key', { certificate: 'a.b.c' }],
    ['a certificate that is none', { certificate: 'nothing', key: {} as CryptoKey }],
    ['a certificate without a key', { certificate: `e30.${btoa('{}')}.x`, key: {} as CryptoKey }],
  ])('are refused with %s', async (_name, options) => {
    const client = createClient({ url, certificate: '', fetch: () => expect.unreachable(), ...options });
    await expect(client.run(runRequest())).rejects.toMatchObject({ code: 'invalid_argument' });
  });
});
