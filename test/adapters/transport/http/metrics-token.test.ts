import { describe, expect, it } from 'vitest';
import { staticCatalog } from '../../../../adapters/catalog/static.ts';
import { memorySink } from '../../../../adapters/sinks/memory.ts';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import { bearerAuthenticator, digestOfToken } from '../../../../adapters/transport/bearer-authenticator.ts';
import { createHandler } from '../../../../adapters/transport/http.ts';
import { createRuntime } from '../../../../src/index.ts';
import { fakeModel } from '../../../contracts/index.ts';

const metricsToken = 'prometheus-reads-with-this-token-0123456789';

async function setup(options: { readonly metricsToken?: string } = { metricsToken }) {
  const { sink, events } = memorySink();
  const runtime = createRuntime({
    catalog: staticCatalog({ agents: [], providers: [] }),
    models: fakeModel().source,
    storage: memoryStorage(),
    sinks: [sink],
  });
  runtime.metrics.count('pinnace_runs_total', { state: 'completed', model: 'm' });
  const token = { tenant: 't1', agents: '*', subject: 'ada' } as const;
  const tokens = [
    { ...token, digest: await digestOfToken('admin'), scopes: ['admin'] as const },
    { ...token, digest: await digestOfToken('reader'), scopes: ['run:read'] as const },
  ];
  const handler = createHandler(runtime, { authenticator: bearerAuthenticator({ tokens }), ...options });
  const scrape = async (authorization?: string, path = '/v1/metrics', method = 'GET') => {
    const headers = { ...(authorization !== undefined && { authorization }) };
    const response = await handler(new Request(`https://agents.example${path}`, { method, headers }));
    return { status: response.status, text: await response.text() };
  };
  return { scrape, events };
}

describe('the metrics with a token of their own', () => {
  it.each([
    ['no token', undefined],
    ['another token', `Bearer ${metricsToken.replace('9', '8')}`],
    ['the start of the token', `Bearer ${metricsToken.slice(0, -1)}`],
    ['a longer token', `Bearer ${metricsToken}0`],
    ['the token in another case', `Bearer ${metricsToken.toUpperCase()}`],
    ['the token of another scheme', `Basic ${metricsToken}`],
    ['two tokens', `Bearer ${metricsToken}, Bearer ${metricsToken}`],
    ['a token of 10,000 characters', `Bearer ${'x'.repeat(10_000)}`],
  ])('are refused with %s', async (_, authorization) => {
    const { scrape, events } = await setup();
    const { status, text } = await scrape(authorization);
    expect(status).toBe(401);
    expect(text + JSON.stringify(events)).not.toContain(metricsToken);
  });

  it('are refused with the digest of the token', async () => {
    const { scrape } = await setup();
    expect((await scrape(`Bearer ${await digestOfToken(metricsToken)}`)).status).toBe(401);
  });

  it('are served to callers with the scope admin, too, without the names of others', async () => {
    const { scrape } = await setup();
    const { status, text } = await scrape('Bearer admin');
    expect(status).toBe(200);
    expect(text).not.toContain('model="m"');
    expect((await scrape('Bearer reader')).status).toBe(403);
  });

  it('take no other method, and the token is in the address of none', async () => {
    const { scrape } = await setup();
    expect((await scrape(`Bearer ${metricsToken}`, '/v1/metrics', 'POST')).status).toBe(405);
    expect((await scrape(undefined, `/v1/metrics?token=${metricsToken}`)).status).toBe(401);
  });

  it('are refused with every token of Prometheus where there is none', async () => {
    const { scrape } = await setup({});
    expect((await scrape(`Bearer ${metricsToken}`)).status).toBe(401);
    expect((await scrape('Bearer undefined')).status).toBe(401);
  });

  it.each(['', 'short', 'x'.repeat(31), 'x'.repeat(513), `${'x'.repeat(40)} y`, `${'x'.repeat(40)}é`])(
    'cannot be composed with %j',
    async (unusable) => {
      await expect(setup({ metricsToken: unusable })).rejects.toMatchObject({
        code: 'invalid_argument',
        details: { reason: 'metrics_token' },
      });
    },
  );
});
