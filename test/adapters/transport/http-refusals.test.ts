import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { developmentAuthenticator } from '../../../adapters/transport/development-authenticator.ts';
import { createHandler, type Handler, type HandlerOptions } from '../../../adapters/transport/http.ts';
import type { PlanningRuntime } from '../../../src/index.ts';
import { says, scriptedModel, stallingStream } from '../../fixtures/model.ts';
import { runRequest, testRuntime } from '../../fixtures/runtime.ts';

const token = 'a-token-for-tests-only';

function endpoint(
  options: Partial<HandlerOptions> = {},
): { readonly serve: Handler; readonly runtime: PlanningRuntime } {
  const { model } = scriptedModel(() => stallingStream(says('Hel').slice(0, 3)));
  const runtime = testRuntime({ model, storage: memoryStorage() });
  return { runtime, serve: createHandler(runtime, { authenticator: developmentAuthenticator({ token }), ...options }) };
}

function start(overrides: Record<string, unknown> = {}): Request {
  return new Request('http://127.0.0.1/v1/runs', {
    method: 'POST',
    headers: {
      'authorization': `Bearer ${token}`,
      'content-type': 'application/json',
      'idempotency-key': `"${crypto.randomUUID()}"`,
    },
    body: JSON.stringify({ ...runRequest(), ...overrides }),
  });
}

describe('a refused run', () => {
  it('is counted by code and reason', async () => {
    const { serve, runtime } = endpoint({ quotas: { runsPerTenant: 1 } });
    const first = await serve(start());
    expect((await serve(start())).status).toBe(429);
    await first.body?.cancel();
    expect((await serve(start({ agentId: 'nobody' }))).status).toBe(429);
    await runtime.close();
    expect((await serve(start())).status).toBe(503);
    const counted = runtime.metrics.text().split('\n').filter((line) => line.startsWith('pinnace_runs_refused_total{'));
    expect(counted.toSorted()).toEqual([
      'pinnace_runs_refused_total{code="rate_limited",reason="tenant_quota"} 2',
      'pinnace_runs_refused_total{code="unavailable",reason="runtime_closed"} 1',
    ]);
  });

  it.each([
    ['the quota of a tenant', { quotas: { runsPerTenant: 0 } }, 429],
    ['the quota of the instance', { quotas: { runs: 0 } }, 503],
  ])('carries Retry-After when the reason is %s, spread by 20 %%', async (_name, options, status) => {
    const waits = await Promise.all([0, 0.5, 1].map(async (chance) => {
      const response = await endpoint({ ...options, random: () => chance }).serve(start());
      expect(response.status).toBe(status);
      const { retryAfterMs } = await response.json() as { retryAfterMs: number };
      return [retryAfterMs, response.headers.get('retry-after')];
    }));
    expect(waits).toEqual([[800, '1'], [1000, '1'], [1200, '2']]);
  });

  it('carries Retry-After when the runtime is closed, and none when a retry cannot help', async () => {
    const { serve, runtime } = endpoint();
    expect((await serve(start({ agentId: 'nobody' }))).headers.get('retry-after')).toBeNull();
    await runtime.close();
    const closed = await serve(start());
    expect([closed.status, closed.headers.get('retry-after')]).toEqual([503, expect.stringMatching(/^[12]$/)]);
  });
});

describe('a refused authentication', () => {
  it('is counted by its code', async () => {
    const { serve, runtime } = endpoint();
    await serve(new Request('http://127.0.0.1/v1/runs/run_x'));
    await serve(new Request('http://127.0.0.1/v1/runs/run_x', { headers: { authorization: 'Bearer wrong' } }));
    expect(runtime.metrics.text()).toContain('pinnace_authentication_refused_total{code="authentication_required"} 1');
    expect(runtime.metrics.text()).toContain('pinnace_authentication_refused_total{code="token_invalid"} 1');
  });
});
