import { describe, expect, it } from 'vitest';
import { httpCatalog, type HttpCatalogOptions } from '../../../adapters/catalog/http.ts';
import { textsIn } from '../../contracts/secrets/printing.ts';
import { endlessBody, fakeFetch, json } from '../remote/fake-fetch.ts';
import { agent } from '../../fixtures/records.ts';

const url = 'https://control.example/v1';
const token = 'control-token-42';
/** The error for this answer; it does not hold the token. */
async function errorFor(
  answer: (request: Request) => Response | Promise<Response>,
  options: Partial<HttpCatalogOptions> = {},
): Promise<unknown> {
  const { fetch } = fakeFetch(answer);
  const catalog = httpCatalog({ url, fetch, headers: () => ({ authorization: `Bearer ${token}` }), ...options });
  const error: unknown = await catalog.agent('helper').catch((reason: unknown) => reason);
  expect(textsIn(error)).not.toContain(token);
  return error;
}

describe('the errors of httpCatalog', () => {
  it.each([
    [401, { code: 'unavailable', retryable: false, details: { reason: 'catalog_auth' } }],
    [403, { code: 'unavailable', retryable: false, details: { reason: 'catalog_auth' } }],
    [429, { code: 'rate_limited', retryable: true, retryAfterMs: 7000, details: { reason: 'catalog_rate_limited' } }],
    [408, { code: 'unavailable', retryable: true, details: { reason: 'catalog_failed' } }],
    [500, { code: 'unavailable', retryable: true, details: { reason: 'catalog_failed' } }],
    [503, { code: 'unavailable', retryable: true, retryAfterMs: 7000, details: { reason: 'catalog_failed' } }],
    [400, { code: 'unavailable', retryable: false, details: { reason: 'catalog_refused' } }],
    [302, { code: 'unavailable', retryable: false, details: { reason: 'catalog_refused' } }],
    [204, { code: 'unavailable', retryable: false, details: { reason: 'catalog_refused' } }],
  ])('say what %i means, and which record was asked for', async (status, expected) => {
    const body = status === 204 ? null : `Bearer ${token}`;
    const error = await errorFor(() => new Response(body, { status, headers: { 'retry-after': '7' } }));
    expect(error).toMatchObject(expected);
    expect(error).toHaveProperty('message', expect.stringContaining('agent "helper"'));
  });

  it('carry the time to wait where it is a date, and none where it is neither', async () => {
    const now = () => Date.UTC(2027, 0, 1);
    const limited = (value: string) => () => new Response('', { status: 429, headers: { 'retry-after': value } });
    const date = await errorFor(limited('Fri, 01 Jan 2027 00:00:09 GMT'), { now });
    expect(date).toMatchObject({ retryAfterMs: 9000 });
    const past = await errorFor(limited('Fri, 01 Jan 2026 00:00:09 GMT'), { now });
    expect(past).toMatchObject({ retryAfterMs: 0 });
    expect(await errorFor(limited('soon'))).toMatchObject({ retryAfterMs: undefined });
  });

  it.each([
    ['is no JSON', '{"id": '],
    ['is not UTF-8', new Uint8Array([0x22, 0xff, 0x22])],
    ['is null', 'null'],
    ['lacks a name', JSON.stringify({ id: 'helper', providerId: 'main' })],
    ['has a field too many', JSON.stringify({ ...agent(), surprise: token })],
    ['has another id', JSON.stringify(agent({ id: 'admin' }))],
    ['is nested too deep', '['.repeat(100) + ']'.repeat(100)],
    ['reaches a prototype', '{"__proto__": {}}'],
  ])('say that a record %s', async (_, body) => {
    const error = await errorFor(() => new Response(body));
    expect(error).toMatchObject({ code: 'unavailable', retryable: false, details: { reason: 'catalog_invalid' } });
    expect(error).toHaveProperty('message', expect.stringContaining('agent "helper"'));
  });

  it('name the field that is wrong', async () => {
    const error = await errorFor(() => json({ ...agent(), name: '' }));
    expect(error).toMatchObject({ details: { issues: [{ path: 'name' }] } });
  });

  it('come before more than 1 MiB of an answer has been read', async () => {
    const { body, taken } = endlessBody(256 * 1024);
    const error = await errorFor(() => new Response(body));
    expect(error).toMatchObject({ code: 'unavailable', retryable: false, details: { reason: 'catalog_too_large' } });
    expect(taken()).toBe(5);
  });

  it('allow an answer of exactly 1 MiB', async () => {
    const text = JSON.stringify(agent());
    const { fetch } = fakeFetch(() => new Response(text.padEnd(1024 * 1024)));
    expect(await httpCatalog({ url, fetch }).agent('helper')).toMatchObject({ id: 'helper' });
  });

  it('are retryable when no server answers or the answer breaks off, and drop an error that holds the request', async () => {
    const expected = { code: 'unavailable', retryable: true, details: { reason: 'catalog_unreachable' } };
    const thrown = await errorFor((request) => {
      throw Object.assign(new TypeError(`failed with ${request.headers.get('authorization')}`), { request });
    });
    expect(thrown).toMatchObject(expected);
    const cut = new ReadableStream({ pull: (controller) => controller.error(new TypeError('terminated')) });
    expect(await errorFor(() => new Response(cut))).toMatchObject(expected);
  });

  it('repeat neither a header that no request can carry, nor an error of the function that creates the headers', async () => {
    const odd = await errorFor(() => json(agent()), { headers: () => ({ authorization: `${token}\n` + token }) });
    expect(odd).toMatchObject({ code: 'unavailable', retryable: false, details: { reason: 'catalog_headers' } });
    const failed = await errorFor(() => json(agent()), { headers: () => Promise.reject(new Error(token)) });
    expect(failed).toMatchObject({ code: 'unavailable', retryable: true, details: { reason: 'catalog_headers' } });
  });
});
