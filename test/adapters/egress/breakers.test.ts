import { describe, expect, it } from 'vitest';
import { failure, get, home, reasonOf, scriptedEgress, terms, text } from '../../fixtures/egress.ts';

const down = text('', { status: 500 });

describe('the circuit breakers of an origin', () => {
  it('keep a dead path from blocking the others', async () => {
    const { egress } = scriptedEgress([down, down, down, down, down, text('fine')]);
    for (let i = 0; i < 5; i++) await egress.fetch(get(`${home}/dead/${i}`), terms());
    expect(await reasonOf(egress.fetch(get(`${home}/dead/9`), terms()))).toBe('unavailable: dependency_unavailable');
    expect(await (await egress.fetch(get(`${home}/alive`), terms())).text()).toBe('fine');
  });

  it('keep what a caller names apart', async () => {
    const { egress } = scriptedEgress([down]);
    for (let i = 0; i < 5; i++) await egress.fetch(get(home), terms({ circuit: 'one' }));
    expect(await reasonOf(egress.fetch(get(home), terms({ circuit: 'one' })))).toContain('dependency_unavailable');
    expect((await egress.fetch(get(home), terms({ circuit: 'two' }))).status).toBe(500);
  });

  it("and the places of open calls are a tenant's own", async () => {
    const { egress } = scriptedEgress([down], { circuit: { concurrency: 1 } });
    for (let i = 0; i < 5; i++) await (await egress.fetch(get(home), terms({ tenant: 'a' }))).body?.cancel();
    expect(await reasonOf(egress.fetch(get(home), terms({ tenant: 'a' })))).toContain('dependency_unavailable');
    const held = await egress.fetch(get(home), terms({ tenant: 'b' }));
    expect(await reasonOf(egress.fetch(get(home), terms({ tenant: 'b' })))).toContain('too_many_calls');
    expect((await egress.fetch(get(home), terms({ tenant: 'c' }))).status).toBe(500);
    expect((await egress.fetch(get(home), terms())).status).toBe(500);
    await held.body?.cancel();
  });

  it('say why they are open, and when to try again', async () => {
    const { egress } = scriptedEgress([down]);
    for (let i = 0; i < 5; i++) await egress.fetch(get(home), terms());
    const error = await failure(egress.fetch(get(home), terms()));
    expect(error).toMatchObject({
      code: 'unavailable',
      retryable: true,
      message: expect.stringContaining('status 500'),
      details: { lastFailure: { reason: 'http_status', status: 500 } },
    });
    expect(error.retryAfterMs).toBeGreaterThan(1000);
    expect(error.retryAfterMs).toBeLessThanOrEqual(10_000);
  });

  it('say that the host did not answer, where that was why', async () => {
    const { egress } = scriptedEgress([() => Promise.reject(new Error('reset'))]);
    for (let i = 0; i < 5; i++) await failure(egress.fetch(get(home), terms()));
    expect(await failure(egress.fetch(get(home), terms()))).toMatchObject({
      details: { reason: 'dependency_unavailable', lastFailure: { reason: 'unreachable' } },
    });
  });

  it('are at most a thousand: the one unused for longest is evicted', async () => {
    const { egress, sent } = scriptedEgress([down]);
    for (let i = 0; i < 5; i++) await (await egress.fetch(get(home), terms({ circuit: 'first' }))).text();
    for (let i = 0; i < 1_000; i++) {
      await (await egress.fetch(get(home), terms({ circuit: `other ${i}` }))).body?.cancel();
    }
    const before = sent.length;
    await egress.fetch(get(home), terms({ circuit: 'first' }));
    expect(sent).toHaveLength(before + 1);
  });
});
