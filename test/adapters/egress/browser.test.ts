import { describe, expect, it } from 'vitest';
import { browserEgress } from '../../../adapters/egress/browser.ts';
import { canary, home, terms } from '../../fixtures/egress.ts';

type Call = Parameters<typeof fetch>;

function recorded(answer: () => Promise<Response>): { calls: Call[]; egress: ReturnType<typeof browserEgress> } {
  const calls: Call[] = [];
  const egress = browserEgress({
    fetch: (...call) => {
      calls.push(call);
      return answer();
    },
  });
  return { calls, egress };
}

const hello = (): Promise<Response> => Promise.resolve(new Response('hello'));

describe('browserEgress', () => {
  it('sends without cookies, referrer and cache, and lets the browser follow nothing', async () => {
    const { calls, egress } = recorded(hello);
    const answer = await egress.fetch(new Request(home), terms({ secretHeaders: { 'x-key': [canary] } }));
    expect(await answer.text()).toBe('hello');
    const [[url, init] = []] = calls;
    expect(url).toEqual(new URL(home));
    expect(init).toMatchObject({
      redirect: 'error',
      credentials: 'omit',
      referrerPolicy: 'no-referrer',
      cache: 'no-store',
      mode: 'cors',
    });
    expect(new Headers(init?.headers).get('x-key')).toBe(canary.reveal());
  });

  it('calls listed origins only', async () => {
    const { calls, egress } = recorded(hello);
    await expect(egress.fetch(new Request(home), terms({ origins: 'any' }))).rejects.toMatchObject({
      code: 'unavailable',
      details: { reason: 'egress_unpinned' },
    });
    await expect(egress.fetch(new Request('https://localhost/'), terms())).rejects.toMatchObject({ code: 'forbidden' });
    expect(calls).toEqual([]);
  });

  it('takes a redirect for a failure', async () => {
    const { egress } = recorded(() => Promise.reject(new TypeError('Failed to fetch')));
    await expect(egress.fetch(new Request(home), terms())).rejects.toMatchObject({
      details: { reason: 'unreachable' },
    });
  });
});
