import { describe, expect, it } from 'vitest';
import { httpSecrets, type HttpSecretsOptions } from '../../../adapters/secrets/http.ts';
import type { SecretScope } from '../../../src/contracts/egress.ts';
import { type DeniableSecrets, remoteSecretsContract, type WaitingSecrets } from '../../contracts/secrets.ts';
import { textsIn } from '../../contracts/secrets/printing.ts';
import { endlessBody, fakeFetch, json } from '../remote/fake-fetch.ts';

const url = 'https://secrets.example/v1';
const value = 'sk-live-0123456789';
const token = 'manager-token-42';
const origin = 'https://api.example.com';
const scope: SecretScope = { tenant: 'acme', agentId: 'helper', origin };
const signal = new AbortController().signal;
const never = new Promise<never>(() => undefined);

/** A secret manager in memory. */
async function open(
  values: Readonly<Record<string, string>>,
  origins: readonly string[] | undefined,
): Promise<DeniableSecrets & WaitingSecrets> {
  const secrets = new Map(Object.entries(values).map(([id, text]) => [id, { value: text, version: 'v1', origins }]));
  const denied = new Set<string>();
  let versions = 1;
  let isStalled = false;
  const { fetch } = fakeFetch(({ url: asked }) => {
    const id = decodeURIComponent(new URL(asked).pathname.slice('/v1/'.length));
    if (isStalled) return never;
    if (denied.has(id)) return json({ value }, { status: 403 });
    return secrets.has(id) ? json(secrets.get(id)) : json({ value }, { status: 404 });
  });
  return {
    source: httpSecrets({ url, fetch }),
    set: async (id, text) => {
      if (text === undefined) secrets.delete(id);
      else secrets.set(id, { value: text, version: `v${++versions}`, origins });
    },
    deny: async (id) => void denied.add(id),
    stall: async () => {
      isStalled = true;
    },
  };
}

/** The error for this answer, which holds neither value nor token. */
async function errorFor(
  answer: (request: Request) => Response | Promise<Response>,
  options: Partial<HttpSecretsOptions> = {},
): Promise<unknown> {
  const { fetch } = fakeFetch(answer);
  const source = httpSecrets({ url, fetch, headers: () => ({ authorization: `Bearer ${token}` }), ...options });
  const error: unknown = await source.resolve({ id: 'api-key' }, { scope, signal }).catch((reason: unknown) => reason);
  expect(textsIn(error)).not.toMatch(/sk-live|manager-token/);
  return error;
}

describe('httpSecrets keeps the contract of a secret source that denies and waits', () => {
  it.each(remoteSecretsContract)('$name', async ({ run }) => {
    await expect(run({ open })).resolves.toBeUndefined();
  });
});

describe('httpSecrets', () => {
  it('asks for the id and the version, follows no redirect, caches nothing and sends no cookies', async () => {
    const { fetch, requests } = fakeFetch(() => json({ value, origins: [origin], version: '2/a b' }));
    const source = httpSecrets({ url: `${url}/`, fetch });
    const secret = await source.resolve({ id: 'a/b?c#d', version: '2/a b' }, { scope, signal });
    expect([secret.id, secret.version, secret.reveal()]).toEqual(['a/b?c#d', '2/a b', value]);
    const [request] = requests;
    expect(request?.url).toBe(`${url}/a%2Fb%3Fc%23d?version=2%2Fa+b`);
    expect(request).toMatchObject({ method: 'GET', redirect: 'error' });
    // Deno's requests do not say the rest.
    expect(['no-store', undefined]).toContain(request?.cache);
    expect(['omit', undefined]).toContain(request?.credentials);
  });

  it('asks for the latest version where none is named', async () => {
    const { fetch, requests } = fakeFetch(() => json({ value, origins: [origin], version: '7' }));
    const secret = await httpSecrets({ url, fetch }).resolve({ id: 'api-key' }, { scope, signal });
    expect([requests[0]?.url, secret.version]).toEqual([`${url}/api-key`, '7']);
  });

  it('creates the headers for each request, for its caller', async () => {
    const { fetch, requests } = fakeFetch(() => json({ value, origins: [origin], version: '1' }));
    let made = 0;
    const headers = async ({ tenant }: SecretScope) => ({ authorization: `Bearer ${tenant}-${++made}` });
    const source = httpSecrets({ url, fetch, headers });
    await source.resolve({ id: 'api-key' }, { scope, signal });
    await source.resolve({ id: 'api-key' }, { scope: { ...scope, tenant: 'other' }, signal });
    expect(requests.map((request) => request.headers.get('authorization'))).toEqual([
      'Bearer acme-1',
      'Bearer other-2',
    ]);
  });

  it.each([
    [401, { code: 'forbidden', retryable: false }],
    [403, { code: 'forbidden', retryable: false }],
    [404, { code: 'not_found', retryable: false }],
    [410, { code: 'not_found', retryable: false }],
    [408, { code: 'unavailable', retryable: true, details: { reason: 'secrets_failed' } }],
    [500, { code: 'unavailable', retryable: true, details: { reason: 'secrets_failed' } }],
    [503, { code: 'unavailable', retryable: true, details: { reason: 'secrets_failed' } }],
    [429, { code: 'unavailable', retryable: true, retryAfterMs: 7000, details: { reason: 'secrets_rate_limited' } }],
    [400, { code: 'unavailable', retryable: false, details: { reason: 'secrets_refused' } }],
    [302, { code: 'unavailable', retryable: false, details: { reason: 'secrets_refused' } }],
    [304, { code: 'unavailable', retryable: false, details: { reason: 'secrets_refused' } }],
  ])('answers %i with its code, and repeats nothing of the answer', async (status, expected) => {
    const body = status === 304 ? null : JSON.stringify({ value, error: `Bearer ${token}` });
    const error = await errorFor(() => new Response(body, { status, headers: { 'retry-after': '7' } }));
    expect(error).toMatchObject(expected);
  });

  it.each([
    ['no JSON', `{"value": "${value}`],
    ['no object', JSON.stringify([value])],
    ['null', 'null'],
    ['no value', JSON.stringify({ version: '1', [value]: value })],
    ['an empty value', JSON.stringify({ value: '', version: '1' })],
    ['a value that is no text', JSON.stringify({ value: [value], version: '1' })],
    ['no version', JSON.stringify({ value })],
    ['a key that reaches a prototype', `{"__proto__": {"value": "${value}", "version": "1"}}`],
  ])('refuses an answer with %s, and repeats nothing of it', async (_, body) => {
    const error = await errorFor(() => new Response(body));
    expect(error).toMatchObject({ code: 'unavailable', retryable: false, details: { reason: 'secrets_invalid' } });
  });

  it('refuses another version than it asked for', async () => {
    const { fetch } = fakeFetch(() => json({ value, origins: [origin], version: '1' }));
    const resolving = httpSecrets({ url, fetch }).resolve({ id: 'api-key', version: '2' }, { scope, signal });
    await expect(resolving).rejects.toMatchObject({ code: 'unavailable', details: { reason: 'secrets_invalid' } });
  });

  it('stops reading an answer at 64 KiB', async () => {
    const { body, taken } = endlessBody(16 * 1024);
    const error = await errorFor(() => new Response(body));
    expect(error).toMatchObject({ code: 'unavailable', retryable: false, details: { reason: 'secrets_too_large' } });
    expect(taken()).toBe(5);
  });

  it('is unavailable, to be tried again, when the server does not answer, and drops an error that holds the request', async () => {
    const error = await errorFor((request) => {
      throw Object.assign(new TypeError(`failed with ${request.headers.get('authorization')}`), { request, value });
    });
    expect(error).toMatchObject({ code: 'unavailable', retryable: true, details: { reason: 'secrets_unreachable' } });
    expect(error).not.toHaveProperty('cause');
  });

  it('repeats neither a header that no request can carry, nor an error of the function that creates the headers', async () => {
    const ok = () => json({ value, origins: [origin], version: '1' });
    const odd = await errorFor(ok, { headers: () => ({ authorization: `${token}\n${token}` }) });
    expect(odd).toMatchObject({ code: 'unavailable', retryable: false, details: { reason: 'secrets_headers' } });
    const failed = await errorFor(ok, { headers: () => Promise.reject(new Error(token)) });
    expect(failed).toMatchObject({ code: 'unavailable', retryable: true, details: { reason: 'secrets_headers' } });
  });

  it.each(['', '.', '..', '\ud800'])('asks for nothing when the id %j can be no part of a path', async (id) => {
    const { fetch, requests } = fakeFetch(() => json({ value, origins: [origin], version: '1' }));
    const resolving = httpSecrets({ url, fetch }).resolve({ id }, { scope, signal });
    await expect(resolving).rejects.toMatchObject({ code: 'not_found' });
    expect(requests).toEqual([]);
  });

  it.each(['', 'secrets', 'ftp://a/', `https://user:${token}@a/`, `https://a/?key=${token}`, `https://a/#${token}`])(
    'refuses the URL %j without repeating it',
    (bad) => {
      expect(() => httpSecrets({ url: bad })).toThrow(expect.objectContaining({ code: 'invalid_argument' }));
      expect(() => httpSecrets({ url: bad })).not.toThrow(new RegExp(token));
    },
  );
});
