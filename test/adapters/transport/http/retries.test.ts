import { describe, expect, it } from 'vitest';
import { bearerAuthenticator, digestOfToken } from '../../../../adapters/transport/bearer-authenticator.ts';
import { createClient } from '../../../../adapters/transport/client.ts';
import { createHandler } from '../../../../adapters/transport/http.ts';
import { scopes } from '../../../../src/base/principal.ts';
import { says } from '../../../fixtures/model.ts';
import { readAll, runRequest, textOf } from '../../../fixtures/runtime.ts';
import { apiError, fallbackRuntime, namedModel, type Script } from '../../../src/runtime/loop/fallback-runtime.ts';

const busy: Script = () => Promise.reject(apiError(429));

/** An endpoint whose model is busy twice, and how it is called. */
async function setup() {
  const runtime = fallbackRuntime({ one: namedModel('first', busy, busy, says('Here')) });
  const digest = await digestOfToken('token-of-a');
  const tokens = [{ digest, tenant: 'a', subject: 'ada', agents: '*' as const, scopes }];
  const handler = createHandler(runtime, { authenticator: bearerAuthenticator({ tokens }) });
  return { fetch: async (url: RequestInfo | URL, init?: RequestInit) => await handler(new Request(url, init)) };
}

const retry = (attempt: number) => ({
  attempt,
  of: 3,
  delayMs: 0,
  retryAt: expect.any(Number),
  providerId: 'one',
  modelId: 'first',
  code: 'rate_limited',
  reason: 'provider_rate_limited',
});

describe('a model that is busy twice', () => {
  it('is shown to clients of an endpoint as transient data-retry parts', async () => {
    const { fetch } = await setup();
    const client = createClient({ url: 'https://agents.example', credentials: { bearer: 'token-of-a' }, fetch });
    const chunks = await readAll(await client.run(runRequest()));
    expect(chunks.filter(({ type }) => type === 'data-retry')).toEqual([
      { type: 'data-retry', data: retry(2), transient: true },
      { type: 'data-retry', data: retry(3), transient: true },
    ]);
    expect(textOf(chunks)).toBe('Here');
    expect(JSON.stringify(chunks)).not.toContain('secret text');
  });
});
