import { afterEach, describe, expect, it } from 'vitest';
import { signInWithOpenRouter } from '../../../demo/settings/state/openrouter.ts';
import { passOn } from '../../../demo/settings/state/sign-in-return.ts';
import { type OpenRouter, startOpenRouter } from '../../tools/servers/openrouter.ts';

const running: OpenRouter[] = [];
afterEach(() => running.splice(0).forEach((server) => server.close()));

async function start(): Promise<OpenRouter> {
  const server = await startOpenRouter();
  running.push(server);
  return server;
}

const returnTo = 'https://page.example/folder/?theme=dark#/model';

/** Goes where a person goes who agrees, and returns the address that OpenRouter sends them back to. */
async function authorize(url: string): Promise<string> {
  const response = await fetch(url.replace('/auth?', '/authorized?'), { redirect: 'manual' });
  return response.headers.get('location') ?? '';
}

interface Tried {
  readonly origin: string;
  readonly signal?: AbortSignal;
  readonly visit: (url: string) => Promise<void>;
}

async function signIn({ origin, signal = new AbortController().signal, visit }: Tried) {
  const visited: Promise<void>[] = [];
  const reply = await signInWithOpenRouter({
    origin,
    fetch,
    returnTo,
    signal,
    openWindow(url) {
      visited.push(visit(url));
      return true;
    },
  });
  await Promise.all(visited);
  return reply;
}

describe('signInWithOpenRouter', () => {
  it('returns a key for the code that came back with its state', async () => {
    const { origin, keys } = await start();
    const addresses: string[] = [];
    const reply = await signIn({
      origin,
      async visit(url) {
        addresses.push(url, await authorize(url));
        passOn(addresses[1] ?? '');
      },
    });
    expect(reply).toEqual({ ok: true, value: [...keys][0] });
    const asked = new URL(addresses[0] ?? '').searchParams;
    expect(asked.get('code_challenge_method')).toBe('S256');
    expect(asked.get('code_challenge')).toMatch(/^[\w-]{43}$/);
    expect(addresses[1]).toMatch(/^https:\/\/page\.example\/folder\/\?sign-in=[\w-]{36}&code=[\w-]+$/);
  });

  it('ignores a code that another page brings', async () => {
    const { origin, keys } = await start();
    const reply = await signIn({
      origin,
      async visit(url) {
        passOn('https://page.example/?sign-in=guessed&code=stolen');
        passOn(await authorize(url));
      },
    });
    expect(reply).toEqual({ ok: true, value: [...keys][0] });
  });

  it('repeats why a code was refused', async () => {
    const { origin } = await start();
    const reply = await signIn({
      origin,
      async visit(url) {
        const back = new URL(await authorize(url));
        back.searchParams.set('code', 'another');
        passOn(back.href);
      },
    });
    expect(reply).toMatchObject({
      ok: false,
      text: expect.stringContaining('“Invalid code or code_verifier”') as string,
    });
  });

  it('ends when the person declines or cancels', async () => {
    const { origin } = await start();
    const declined = await signIn({
      origin,
      visit: (url) => Promise.resolve(passOn(new URL(url).searchParams.get('callback_url') ?? '')),
    });
    expect(declined).toEqual({ ok: false, text: 'The sign-in was canceled.' });
    const abort = new AbortController();
    const canceled = await signIn({ origin, signal: abort.signal, visit: () => Promise.resolve(abort.abort()) });
    expect(canceled).toEqual({ ok: false, text: 'The sign-in was canceled.' });
  });

  it('says that the browser blocked its window, or that OpenRouter cannot be reached', async () => {
    const blocked = await signInWithOpenRouter({
      returnTo,
      signal: new AbortController().signal,
      openWindow: () => false,
    });
    expect(blocked).toMatchObject({ ok: false, text: expect.stringContaining('pop-ups') as string });
    const reply = await signIn({
      origin: 'http://127.0.0.1:9',
      visit: (url) => Promise.resolve(passOn(`${new URL(url).searchParams.get('callback_url')}&code=any`)),
    });
    expect(reply).toMatchObject({ ok: false, text: expect.stringContaining('cannot be reached') as string });
  });
});
