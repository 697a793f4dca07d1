import { describe, expect, it, vi } from 'vitest';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { createAuthenticator } from '../../../adapters/transport/authenticator.ts';
import { createClient } from '../../../adapters/transport/client.ts';
import { createHandler, type Handler } from '../../../adapters/transport/http.ts';
import { createIssuer } from '../../../adapters/transport/issuer.ts';
import { type AgentInput, PinnaceError, type RunRequestInput, type Storage } from '../../../src/index.ts';
import { says, scriptedModel } from '../../fixtures/model.ts';
import { runRequest, testRuntime } from '../../fixtures/runtime.ts';

/** Instances of one endpoint, and requests that are signed but not sent. */
async function stage({ agent = {}, storages }: { agent?: Partial<AgentInput>; storages?: readonly Storage[] } = {}) {
  const shared = memoryStorage();
  const issuer = await createIssuer({ iss: 'https://gc.example', audience: 'test' });
  const { model, calls } = scriptedModel(says('Hi'));
  const events: string[] = [];
  const instances = (storages ?? [shared, shared]).map((storage): Handler => {
    const trust = { issuers: [issuer.trusted], audience: 'test', authorities: ['worker.example'] };
    const runtime = testRuntime({ model, agent, storage, sinks: [({ action }) => void events.push(action)] });
    return createHandler(runtime, { authenticator: createAuthenticator({ ...trust, storage }) });
  });
  const credential = await issuer.issue({
    sub: 's1',
    tenant: 't1',
    agents: ['helper'],
    scopes: ['run:create', 'run:read'],
  });
  const sign = async (
    request: RunRequestInput = runRequest(),
    idempotencyKey = 'key-0123456789abcdef',
  ): Promise<Request> => {
    let signed: Request | undefined;
    const fetch = (sent: Request): Promise<Response> => {
      signed = sent;
      return Promise.reject(new PinnaceError('invalid_argument', 'not sent'));
    };
    const client = createClient({ url: 'https://worker.example', ...credential, fetch, attempts: 1 });
    await client.run(request, { idempotencyKey }).catch(() => undefined);
    if (!signed) throw new Error('Nothing was signed');
    return signed;
  };
  return { instances, sign, calls, events };
}

async function answerOf(handler: Handler | undefined, request: Request): Promise<string> {
  const response = await (handler as Handler)(request.clone());
  const text = await response.text();
  return response.ok
    ? `${response.status} ${response.headers.get('x-run-id')}`
    : `${response.status} ${JSON.parse(text).code}`;
}

describe('a signed request that starts a run', () => {
  it('starts one run where it is sent twice at once, to one instance or to two', async () => {
    for (const at of [0, 1]) {
      const { instances, sign, calls } = await stage();
      const request = await sign();
      const answers = await Promise.all([answerOf(instances[0], request), answerOf(instances[at], request)]);
      expect(answers.toSorted()).toEqual([expect.stringMatching(/^200 run_/), '401 signature_replayed']);
      expect(calls).toHaveLength(1);
    }
  });

  it('is refused as a replay afterwards, and emits no events of a run', async () => {
    const { instances, sign, events } = await stage();
    const request = await sign();
    await answerOf(instances[0], request);
    expect(await answerOf(instances[1], request)).toBe('401 signature_replayed');
    await vi.waitFor(() => expect(events).toContain('run.end'));
    expect(events.filter((action) => action === 'run.start')).toHaveLength(1);
    expect(events).toContain('request.refused');
  });

  it('uses up its nonce where it is refused, and a replay does not learn the refusal', async () => {
    const { instances, sign } = await stage({ agent: { state: 'disabled' } });
    const request = await sign();
    expect(await answerOf(instances[0], request)).toBe('403 forbidden');
    expect(await answerOf(instances[0], request)).toBe('401 signature_replayed');
    expect(await answerOf(instances[1], request)).toBe('401 signature_replayed');
  });

  it('joins the run of its key with a nonce of its own, which is used up as well', async () => {
    const { instances, sign, calls } = await stage();
    const first = await answerOf(instances[0], await sign());
    const retry = await sign();
    expect(await answerOf(instances[1], retry)).toBe(first);
    expect(await answerOf(instances[0], retry)).toBe('401 signature_replayed');
    expect(await answerOf(instances[1], await sign(runRequest({ context: [{ text: 'Other' }] as never })))).toMatch(
      /^4/,
    );
    expect(calls).toHaveLength(1);
  });

  it('recognizes its commit when the answer is lost', async () => {
    const storage = memoryStorage();
    let lost = 0;
    const forgetful: Storage = {
      ...storage,
      async commit(changes) {
        const result = await storage.commit(changes);
        if (lost > 0 || !changes.some(({ key }) => key[0] === 'idempotency')) return result;
        lost += 1;
        throw new PinnaceError('unavailable', 'The answer is lost', { details: { reason: 'storage_blocked' } });
      },
    };
    const { instances, sign, calls } = await stage({ storages: [forgetful] });
    const request = await sign();
    const answer = await answerOf(instances[0], request);
    expect(answer).toMatch(/^200 run_/);
    expect(lost).toBe(1);
    expect(await answerOf(instances[0], request)).toBe('401 signature_replayed');
    expect(await answerOf(instances[0], await sign())).toBe(answer);
    expect(calls).toHaveLength(1);
  });

  it('may be sent again when the storage refused it', async () => {
    const storage = memoryStorage();
    let isAway = true;
    const away: Storage = {
      ...storage,
      commit: (changes) =>
        isAway
          ? Promise.reject(
            new PinnaceError('unavailable', 'Full', { retryable: false, details: { reason: 'storage_full' } }),
          )
          : storage.commit(changes),
    };
    const { instances, sign } = await stage({ storages: [away] });
    const request = await sign();
    expect(await answerOf(instances[0], request)).toBe('503 replay_store_full');
    isAway = false;
    expect(await answerOf(instances[0], request)).toMatch(/^200 run_/);
  });
});
