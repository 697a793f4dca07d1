/**
 * Signs in with OpenRouter: a key for this page without copying one (OAuth with PKCE, RFC 7636; no client registration,
 * https://openrouter.ai/docs/use-cases/oauth-pkce).
 */

import { sha256Sync } from '../../../src/base/hash.ts';
import { asRecord } from '../../../src/base/is-record.ts';
import { refusal, type ServerReply } from './ask-server.ts';
import { pageFetch } from './page-fetch.ts';
import { isReturn, signInChannel, stateParameter } from './sign-in-return.ts';

/** Where the keys are valid. */
export const openRouterUrl = 'https://openrouter.ai/api/v1';

interface SignInOptions {
  /** The page that OpenRouter returns to: the playground's own address. */
  readonly returnTo: string;
  /** Opens a window; returns whether the browser let it. */
  readonly openWindow: (url: string) => boolean;
  /** Stops waiting. */
  readonly signal: AbortSignal;
  readonly origin?: string;
  readonly fetch?: typeof fetch;
}

/** Returns the new key, or why there is none. Call it from a click: it opens a window. */
export async function signInWithOpenRouter(
  { returnTo, openWindow, signal, origin = 'https://openrouter.ai', fetch: send = pageFetch }: SignInOptions,
): Promise<ServerReply<string>> {
  const verifier = base64url(crypto.getRandomValues(new Uint8Array(32)));
  const state = crypto.randomUUID();
  const callback = new URL(returnTo);
  callback.hash = '';
  callback.search = new URLSearchParams({ [stateParameter]: state }).toString();
  const address = new URL('/auth', origin);
  address.search = new URLSearchParams({
    callback_url: callback.href,
    code_challenge: challengeOf(verifier),
    code_challenge_method: 'S256',
  }).toString();
  const blocked = new AbortController();
  const returned = waitForReturn(state, AbortSignal.any([signal, blocked.signal]));
  if (!openWindow(address.href)) {
    blocked.abort();
    return {
      ok: false,
      text: 'The browser blocked the window of OpenRouter. Allow pop-ups for this page, then try again.',
    };
  }
  const code = await returned;
  if (code === undefined) return { ok: false, text: 'The sign-in was canceled.' };
  return await exchange({ code, verifier, origin, send });
}

/** Resolves with the code that came back with this state. Other windows of the page may return at the same time. */
async function waitForReturn(state: string, signal: AbortSignal): Promise<string | undefined> {
  const channel = new BroadcastChannel(signInChannel);
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const stop = (): void => resolve(undefined);
  channel.addEventListener('message', ({ data }: MessageEvent<unknown>) => {
    if (isReturn(data) && data.state === state) resolve(data.code);
  });
  signal.addEventListener('abort', stop, { once: true });
  try {
    return await promise;
  } finally {
    signal.removeEventListener('abort', stop);
    channel.close();
  }
}

interface Exchange {
  readonly code: string;
  readonly verifier: string;
  readonly origin: string;
  readonly send: typeof fetch;
}

async function exchange({ code, verifier, origin, send }: Exchange): Promise<ServerReply<string>> {
  const body = { code, code_verifier: verifier, code_challenge_method: 'S256' };
  try {
    const response = await send(new URL('/api/v1/auth/keys', origin), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(30_000),
    });
    if (!response.ok) return await refusal({ baseUrl: origin }, response, body);
    const { key } = asRecord(await response.json());
    return typeof key === 'string' && key !== ''
      ? { ok: true, value: key }
      : { ok: false, text: 'OpenRouter sent no key.' };
  } catch {
    return { ok: false, text: 'OpenRouter cannot be reached. Check your connection, then try again.' };
  }
}

function challengeOf(verifier: string): string {
  const pairs = sha256Sync(verifier).match(/../g) ?? [];
  return base64url(Uint8Array.from(pairs, (pair) => Number.parseInt(pair, 16)));
}

function base64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes)).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}
