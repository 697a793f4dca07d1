import { describe, expect, it } from 'vitest';
import { failure, get, home, reasonOf, scriptedEgress, terms, text } from '../../fixtures/egress.ts';

describe('guardedFetch, with a circuit per origin', () => {
  const down = text('', { status: 503 });

  it('leaves an origin alone that failed five times in a row, and only that one', async () => {
    const other = 'https://other.example.com';
    const { egress, sent } = scriptedEgress([down]);
    const origins = [home, other];
    for (let i = 0; i < 5; i++) await egress.fetch(get(home), terms({ origins }));
    expect(await reasonOf(egress.fetch(get(home), terms({ origins })))).toBe('unavailable: dependency_unavailable');
    expect((await egress.fetch(get(other), terms({ origins }))).status).toBe(503);
    expect(sent).toHaveLength(6);
  });

  it('tries again after a while', async () => {
    const { egress } = scriptedEgress([down, down, text('up again')], { circuit: { failures: 2, openMs: 0 } });
    await egress.fetch(get(home), terms());
    await egress.fetch(get(home), terms());
    expect(await (await egress.fetch(get(home), terms())).text()).toBe('up again');
  });

  it('does not blame an origin for what a tool asked wrongly', async () => {
    const { egress } = scriptedEgress([text('', { status: 404 })]);
    for (let i = 0; i < 10; i++) expect((await egress.fetch(get(home), terms())).status).toBe(404);
  });

  it('lets only so many calls at a time through, until their bodies end', async () => {
    const { egress } = scriptedEgress([text('first')], { circuit: { concurrency: 1 } });
    const first = await egress.fetch(get(home), terms());
    const error = await failure(egress.fetch(get(home), terms()));
    expect(error).toMatchObject({ code: 'rate_limited', retryAfterMs: 1000, details: { reason: 'too_many_calls' } });
    await first.text();
    const second = await egress.fetch(get(home), terms());
    await second.body?.cancel();
    expect(await (await egress.fetch(get(home), terms())).text()).toBe('first');
  });

  it('frees the slot of an answer that no one reads when its time is up', async () => {
    const { egress } = scriptedEgress([text('first')], { circuit: { concurrency: 1 } });
    const own = new AbortController();
    await egress.fetch(get(home), terms({ signal: own.signal }));
    own.abort();
    expect(await (await egress.fetch(get(home), terms())).text()).toBe('first');
  });
});
