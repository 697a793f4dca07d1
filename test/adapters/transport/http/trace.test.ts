import { describe, expect, it } from 'vitest';
import { memorySink } from '../../../../adapters/sinks/memory.ts';
import { developmentAuthenticator } from '../../../../adapters/transport/development-authenticator.ts';
import { createHandler, type Handler } from '../../../../adapters/transport/http.ts';
import type { ObservedEvent } from '../../../../src/index.ts';
import { says, scriptedModel } from '../../../fixtures/model.ts';
import { testRuntime } from '../../../fixtures/runtime.ts';

const token = 'a-token-for-tests-only';
function endpoint(): { readonly serve: Handler; readonly events: readonly ObservedEvent[] } {
  const { sink, events } = memorySink();
  const runtime = testRuntime({ model: scriptedModel(says('Hi')).model, sinks: [sink] });
  const origins = ['https://app.example'];
  return { serve: createHandler(runtime, { authenticator: developmentAuthenticator({ token }), origins }), events };
}

function ask(path: string, { body, ...headers }: Record<string, string> & { body?: string } = {}): Request {
  return new Request(`http://127.0.0.1${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      'authorization': `Bearer ${token}`,
      'content-type': 'application/json',
      'idempotency-key': `"${crypto.randomUUID()}"`,
      ...headers,
    },
    ...(body !== undefined && { body }),
  });
}

describe('the trace of a request', () => {
  it('can be read by a page of a listed origin', async () => {
    const { serve } = endpoint();
    const response = await serve(ask('/v1/healthz', { origin: 'https://app.example' }));
    expect(response.headers.get('access-control-expose-headers')).toContain('x-trace-id');
  });
});
