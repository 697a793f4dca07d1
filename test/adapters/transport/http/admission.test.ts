import { describe, expect, it } from 'vitest';
import { createAdmission } from '../../../../adapters/transport/http/admission.ts';
import { says, scriptedModel } from '../../../fixtures/model.ts';
import { runRequest, testRuntime } from '../../../fixtures/runtime.ts';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import { createHandler } from '../../../../adapters/transport/http.ts';
import { localPrincipal, type Storage } from '../../../../src/index.ts';

/** An instance that starts one run after the other, each in `eachMs`, and time that only this test moves. */
function instance(eachMs: number, objectiveMs: number) {
  let time = 1_000_000;
  const admission = createAdmission({ objectiveMs, now: () => time });
  const queue: (() => void)[] = [];
  const arrive = (): void => void queue.push(admission.enter());
  const pass = (ms: number): void => {
    for (const end = time + ms; time < end;) {
      time += eachMs;
      queue.shift()?.();
    }
  };
  return { admission, arrive, pass };
}

describe('admission', () => {
  it('admits what is served within the objective, and refuses the rest at once, with a time', () => {
    const { admission, arrive, pass } = instance(20, 1_000);
    for (let i = 0; i < 200; i++) arrive();
    pass(3_000);
    expect(admission.starting).toBe(50);
    expect(arrive).toThrow(expect.objectContaining({
      code: 'overloaded',
      status: 503,
      retryable: true,
      retryAfterMs: 1_000,
      details: { reason: 'start_objective' },
    }));
    pass(200);
    for (let i = 0; i < 10; i++) arrive();
    expect(arrive).toThrow('cannot start the run in time');
  });

  it('refuses while starts do not end, and admits again when they do', () => {
    const { admission, arrive, pass } = instance(5_000, 1_000);
    for (let i = 0; i < 10; i++) arrive();
    pass(5_000);
    expect(admission.starting).toBe(9);
    pass(50_000);
    expect(admission.starting).toBe(0);
    arrive();
    expect(admission.starting).toBe(1);
  });

  it('refuses nothing with an infinite objective', () => {
    const { admission, arrive, pass } = instance(100, Infinity);
    for (let i = 0; i < 1_000; i++) arrive();
    pass(50_000);
    arrive();
    expect(admission.starting).toBe(501);
  });

  it('is answered as a problem with Retry-After, counted and observed, and does not claim the key', async () => {
    const storage = memoryStorage();
    let release: (() => void)[] = [];
    let isHeld = true;
    const slow: Storage = {
      ...storage,
      async commit(changes) {
        if (isHeld) await new Promise<void>((resolve) => release.push(resolve));
        return await storage.commit(changes);
      },
    };
    let time = Date.now();
    const events: string[] = [];
    const { model } = scriptedModel(says('Hi'));
    const runtime = testRuntime({
      model,
      storage: slow,
      sinks: [({ action, error }) => void events.push(`${action} ${String(error?.details?.['reason'])}`)],
    });
    const handle = createHandler(runtime, {
      authenticator: { authenticate: async () => localPrincipal() },
      quotas: { runsPerSubject: 16 },
      now: () => time,
    });
    const send = (key: number) =>
      handle(
        new Request('https://worker.example/v1/runs', {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'idempotency-key': `"key-0123456789-${key}"` },
          body: JSON.stringify(runRequest()),
        }),
      );
    const started = Array.from({ length: 8 }, (_, key) => send(key));
    while (release.length === 0) await new Promise((resolve) => setTimeout(resolve));
    time += 2_001;
    const refused = await send(8);
    expect(refused.status).toBe(503);
    expect(refused.headers.get('retry-after')).toBe('2');
    expect(await refused.json()).toMatchObject({
      code: 'overloaded',
      retryable: true,
      details: { reason: 'start_objective' },
    });
    expect(runtime.metrics.text()).toContain(
      'pinnace_runs_refused_total{code="overloaded",reason="start_objective"} 1',
    );
    expect(runtime.metrics.text()).toContain('pinnace_starting_runs 8');
    expect(events).toContain('request.refused start_objective');
    isHeld = false;
    for (; release.length > 0;) release.splice(0).forEach((go) => go());
    const answers = await Promise.all(started);
    await Promise.all(answers.map(async (answer) => await answer.text()));
    const again = await send(8);
    expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([200, null]);
    await again.text();
  });
});
