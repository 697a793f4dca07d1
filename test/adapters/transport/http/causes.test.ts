import { describe, expect, it } from 'vitest';
import { developmentAuthenticator } from '../../../../adapters/transport/development-authenticator.ts';
import { createHandler } from '../../../../adapters/transport/http.ts';
import type { OnError } from '../../../../src/index.ts';
import { says, scriptedModel } from '../../../fixtures/model.ts';
import { runRequest, testRuntime } from '../../../fixtures/runtime.ts';

const token = 'a-token-for-tests-only';

function recorder() {
  const reports: [unknown, Parameters<OnError>[1]][] = [];
  const onError: OnError = (cause, context) => void reports.push([cause, context]);
  return { reports, onError };
}

describe('an endpoint', () => {
  it('reports the cause of a response of 500, which does not contain it', async () => {
    const { reports, onError } = recorder();
    const cause = new TypeError('canary-7f21');
    const runtime = testRuntime({ ...scriptedModel(says('ok')), onError });
    const broken = { ...runtime, start: () => Promise.reject(cause) };
    const handler = createHandler(broken, { authenticator: developmentAuthenticator({ token }) });
    const response = await handler(
      new Request('http://127.0.0.1/v1/runs', {
        method: 'POST',
        body: JSON.stringify(runRequest()),
        headers: {
          'authorization': `Bearer ${token}`,
          'content-type': 'application/json',
          'idempotency-key': `"${crypto.randomUUID()}"`,
        },
      }),
    );
    expect(response.status).toBe(500);
    expect(await response.text()).not.toContain('canary');
    expect(reports).toEqual([
      [cause, { kind: 'http', id: 'POST /v1/runs', traceId: response.headers.get('x-trace-id') }],
    ]);
  });
});
