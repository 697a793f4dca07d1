import { describe, expect, it } from 'vitest';
import {
  createKeys,
  createSession,
  forgeCertificate,
  startSeconds,
  tamper,
  type TestSession,
  url,
  verdict,
  withContentLength,
} from './session.ts';

type Change = (session: TestSession, request: Request) => Promise<Request> | Request;

const header = (request: Request, name: string) => request.headers.get(name) ?? '';
/** Replaces one character at a place, counted from the end when negative. */
const flip = (text: string, at: number) => {
  const place = at < 0 ? text.length + at : at;
  return `${text.slice(0, place)}${text[place] === 'A' ? 'B' : 'A'}${text.slice(place + 1)}`;
};
const set = (name: string, value: string | null): Change => (_session, request) =>
  tamper(request, { headers: { [name]: value } });
const edit = (name: string, change: (value: string) => string): Change => (_session, request) =>
  tamper(request, { headers: { [name]: change(header(request, name)) } });
const input = (from: string | RegExp, to: string): Change =>
  edit('signature-input', (value) => value.replace(from, to));

/** One thing changed on the way: each must be refused, with this code. */
const onTheWay: readonly (readonly [string, Change, string])[] = [
  ['another method', (_s, request) => tamper(request, { method: 'PUT' }), '401 signature_invalid'],
  [
    'another path',
    (_s, request) => tamper(request, { url: 'https://worker.example/v1/runz?stream=1' }),
    '401 signature_invalid',
  ],
  [
    'a slash more in the path',
    (_s, request) => tamper(request, { url: 'https://worker.example/v1/runs/?stream=1' }),
    '401 signature_invalid',
  ],
  [
    'another query',
    (_s, request) => tamper(request, { url: 'https://worker.example/v1/runs?stream=2' }),
    '401 signature_invalid',
  ],
  ['no query', (_s, request) => tamper(request, { url: 'https://worker.example/v1/runs' }), '401 signature_invalid'],
  ['a query parameter more', (_s, request) => tamper(request, { url: `${url}&x` }), '401 signature_invalid'],
  [
    'another host that is served',
    (_s, request) => tamper(request, { url: 'https://other.example/v1/runs?stream=1' }),
    '401 signature_invalid',
  ],
  [
    'another host',
    (_s, request) => tamper(request, { url: 'https://evil.example/v1/runs?stream=1' }),
    '421 misdirected_request',
  ],
  [
    'another port',
    (_s, request) => tamper(request, { url: 'https://worker.example:8443/v1/runs?stream=1' }),
    '421 misdirected_request',
  ],
  ['a byte of the body', (_s, request) => tamper(request, { body: '{"agentId":"helpes"}' }), '400 digest_mismatch'],
  ['a byte more of body', (_s, request) => tamper(request, { body: '{"agentId":"helper"} ' }), '400 digest_mismatch'],
  ['an empty body', (_s, request) => tamper(request, { body: '' }), '400 digest_mismatch'],
  ['a byte of the digest', edit('content-digest', (value) => flip(value, 12)), '401 signature_invalid'],
  ['another digest added', edit('content-digest', (value) => `${value}, md5=:AAAA:`), '401 signature_invalid'],
  ['no digest', set('content-digest', null), '401 component_missing'],
  ['another content type', set('content-type', 'text/plain'), '401 signature_invalid'],
  ['a charset more', set('content-type', 'application/json;charset=utf-8'), '401 signature_invalid'],
  ['no idempotency key', set('idempotency-key', null), '401 component_missing'],
  ['another idempotency key', edit('idempotency-key', (value) => flip(value, 3)), '401 signature_invalid'],
  ['a second idempotency key', edit('idempotency-key', (value) => `${value}, ${value}`), '401 signature_invalid'],
  ['a last event id added', set('last-event-id', 'run_1:5'), '401 component_missing'],
  ['a content encoding added', set('content-encoding', 'gzip'), '415 content_encoding_not_allowed'],
  ['the encoding that changes nothing', set('content-encoding', 'identity'), '415 content_encoding_not_allowed'],
  ['no authorization', set('authorization', null), '401 authentication_required'],
  [
    'another scheme',
    edit('authorization', (value) => value.replace('GC-Session', 'Bearer')),
    '401 authentication_required',
  ],
  ['the scheme alone', set('authorization', 'GC-Session'), '401 certificate_malformed'],
  [
    'a certificate in two parts',
    edit('authorization', (value) => value.slice(0, value.lastIndexOf('.'))),
    '401 certificate_malformed',
  ],
  ['a certificate in four parts', edit('authorization', (value) => `${value}.x`), '401 certificate_malformed'],
  ['two certificates', edit('authorization', (value) => `${value} ${value.slice(11)}`), '401 certificate_malformed'],
  [
    'a certificate of 5,000 characters',
    edit('authorization', (value) => value + 'A'.repeat(5000)),
    '401 certificate_malformed',
  ],
  [
    'a header of the certificate that is no JSON',
    edit('authorization', (value) => value.replace(/ [^.]+/, ' AAAA')),
    '401 certificate_malformed',
  ],
  [
    'a byte of the certificate’s claims',
    edit('authorization', (value) => flip(value, value.indexOf('.') + 20)),
    '401 certificate_invalid',
  ],
  [
    'a byte of the certificate’s signature',
    edit('authorization', (value) => flip(value, -40)),
    '401 certificate_invalid',
  ],
  ['the last character of the certificate, spelled otherwise', edit('authorization', respell), '401 signature_invalid'],
  ['no signature', set('signature', null), '401 signature_missing'],
  ['no signature input', set('signature-input', null), '401 signature_missing'],
  ['an empty signature', set('signature', ''), '401 signature_malformed'],
  ['a byte of the signature', edit('signature', (value) => flip(value, 20)), '401 signature_invalid'],
  ['a signature of 63 bytes', set('signature', `gc=:${btoa('x'.repeat(63))}:`), '401 signature_invalid'],
  [
    'the last character of the signature, spelled otherwise',
    edit('signature', (value) => value.replace(/.(?===:$)/, respell)),
    '401 signature_malformed',
  ],
  ['the signature as text', edit('signature', (value) => value.replaceAll(':', '"')), '401 signature_malformed'],
  ['another label', edit('signature', (value) => value.replace('gc=', 'cg=')), '401 signature_malformed'],
  ['a second signature without input', edit('signature', (value) => `${value}, x=:AAAA:`), '401 signature_malformed'],
  ['the signature twice', edit('signature', (value) => `${value}, ${value}`), '401 signature_malformed'],
  [
    'a signature header of 3,000 characters',
    edit('signature', (value) => `${value}, x=:${'A'.repeat(3000)}:`),
    '401 signature_malformed',
  ],
  [
    'a signature input of 3,000 characters',
    edit('signature-input', (value) => `${value};x="${'A'.repeat(3000)}"`),
    '401 signature_malformed',
  ],
  ['a signature input that is cut', edit('signature-input', (value) => value.slice(0, 40)), '401 signature_malformed'],
  ['an earlier created', input(/created=\d+/, `created=${startSeconds - 1}`), '401 signature_invalid'],
  ['a created from long ago', input(/created=\d+/, `created=${startSeconds - 91}`), '401 signature_expired'],
  ['a created from the future', input(/created=\d+/, `created=${startSeconds + 31}`), '401 signature_from_future'],
  ['a created that is text', input(/created=(\d+)/, 'created="$1"'), '401 signature_malformed'],
  ['a created that is no whole number', input(/created=(\d+)/, 'created=$1.5'), '401 signature_malformed'],
  ['created twice', input(/(;created=\d+)/, '$1$1'), '401 signature_malformed'],
  ['no created', input(/;created=\d+/, ''), '401 signature_malformed'],
  ['a later expires', input(/expires=\d+/, `expires=${startSeconds + 61}`), '401 signature_invalid'],
  ['no expires', input(/;expires=\d+/, ''), '401 signature_malformed'],
  ['another nonce', input(/nonce="./, 'nonce="N'), '401 signature_invalid'],
  ['no nonce', input(/;nonce="[^"]*"/, ''), '401 signature_malformed'],
  ['another key id', input(/keyid="/, 'keyid="A'), '401 signature_invalid'],
  ['no key id', input(/;keyid="[^"]*"/, ''), '401 signature_malformed'],
  ['another algorithm', input('alg="ed25519"', 'alg="hmac-sha256"'), '401 signature_invalid'],
  ['no algorithm', input(';alg="ed25519"', ''), '401 signature_malformed'],
  ['another tag', input('agents-worker-v1', 'agents-worker-v2'), '401 signature_invalid'],
  ['no tag', input(';tag="agents-worker-v1"', ''), '401 signature_malformed'],
  ['a parameter more', input(/$/, ';extra=1'), '401 signature_invalid'],
  ['components in another order', input('"@method" "@authority"', '"@authority" "@method"'), '401 signature_invalid'],
  ['a component twice', input('"@method"', '"@method" "@method"'), '401 signature_malformed'],
  ['a component with an unknown parameter', input('"@method"', '"@method";foo'), '401 signature_malformed'],
  ['a component of the request’s request', input('"@method"', '"@method";req'), '401 signature_malformed'],
  ['a component in capitals', input('"@method"', '"@METHOD"'), '401 signature_malformed'],
  ['an unknown component', input('"@method"', '"@method" "@nothing"'), '401 signature_malformed'],
  [
    'one dictionary member for the whole digest',
    input('"content-digest"', '"content-digest";key="sha-256"'),
    '401 component_missing',
  ],
  ...['@method', '@authority', '@path', '@query', 'authorization', 'content-type', 'content-digest', 'idempotency-key']
    .map(
      (name) => [`${name} not covered`, input(new RegExp(` ?"${name}"`), ''), '401 component_missing'] as const,
    ),
];

/** The last character carries bits that decoders pass over. */
function respell(text: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
  const at = alphabet.indexOf(text.at(-1) ?? '');
  return text.slice(0, -1) + (at < 0 ? 'A' : alphabet[at ^ 1] ?? 'A');
}

/** One thing wrong from the start, and signed so. */
const signedSo: readonly (readonly [string, (session: TestSession) => Promise<Request>, string])[] = [
  [
    'a signature by another key',
    async ({ request }) => request({ key: (await createKeys()).privateKey }),
    '401 signature_invalid',
  ],
  [
    'the key id of another key',
    async ({ request }) => request({ keyThumbprint: (await createKeys()).thumbprint }),
    '401 signature_invalid',
  ],
  ['a nonce of 15 characters', ({ request }) => request({ nonce: 'n'.repeat(15) }), '401 signature_malformed'],
  ['a nonce of 65 characters', ({ request }) => request({ nonce: 'n'.repeat(65) }), '401 signature_malformed'],
  ['a nonce with a slash', ({ request }) => request({ nonce: 'nonce/with/slash' }), '401 signature_malformed'],
  ['another tag', ({ request }) => request({ parameters: { tag: 'agents-worker-v2' } }), '401 signature_invalid'],
  [
    'an end before the beginning',
    ({ request }) => request({ parameters: { expires: startSeconds - 1 } }),
    '401 signature_invalid',
  ],
  [
    'an end at the beginning',
    ({ request }) => request({ parameters: { expires: startSeconds } }),
    '401 signature_invalid',
  ],
  ['a life of 61 s', ({ request }) => request({ parameters: { expires: startSeconds + 61 } }), '401 signature_invalid'],
  [
    'an end 31 s ago',
    ({ request }) => request({ parameters: { created: startSeconds - 61, expires: startSeconds - 31 } }),
    '401 signature_expired',
  ],
  ['a signature of 91 s ago', ({ request }) => request({ nowSeconds: startSeconds - 91 }), '401 signature_expired'],
  ['a signature of in 31 s', ({ request }) => request({ nowSeconds: startSeconds + 31 }), '401 signature_from_future'],
  ['the certificate of another session', async (session) => {
    const certificate = await forgeCertificate({ root: session.root, keys: await createKeys() });
    return session.request({ certificate });
  }, '401 signature_invalid'],
  [
    'a digest of nothing known',
    ({ request }) => request({ headers: { 'content-digest': 'md5=:AAAA:' } }),
    '400 digest_missing',
  ],
  ['no digest at all', ({ request }) => request({ headers: { 'content-digest': null } }), '401 component_missing'],
  ['no content type', async ({ request }) => {
    const signed = await request({ headers: { 'content-type': null } });
    return new Request(signed.url, { method: 'POST', headers: signed.headers, body: await signed.arrayBuffer() });
  }, '401 component_missing'],
  ['a body with a DELETE', ({ request }) => request({ method: 'DELETE', body: 'x' }), '400 body_not_allowed'],
  [
    'a body announced with a GET',
    async ({ request }) => withContentLength(await request({ method: 'GET' }), 5),
    '400 body_not_allowed',
  ],
];

const session = await createSession({ authorities: ['worker.example', 'other.example'] });

describe('a valid request', () => {
  it('is accepted', async () => {
    expect(await verdict(session.authenticator, await session.request())).toBe('ok');
  });

  it.each(onTheWay)('is refused with %s', async (_name, change, code) => {
    const request = await session.request();
    const changed = await change(session, request.clone());
    expect(await verdict(session.authenticator, changed)).toBe(code);
    expect(await verdict(session.authenticator, request)).toBe('ok'); // and what was refused used up nothing
  });

  it.each(signedSo)('is refused with %s, although it was signed so', async (_name, build, code) => {
    expect(await verdict(session.authenticator, await build(session))).toBe(code);
  });

  it('is refused with any single character of its signature changed', async () => {
    const request = await session.request();
    const signature = header(request, 'signature');
    for (let at = 4; at < signature.length - 1; at++) {
      const changed = await tamper(request, { headers: { signature: flip(signature, at) } });
      expect(await verdict(session.authenticator, changed)).toMatch(/^401 signature_(invalid|malformed)$/);
    }
    expect(await verdict(session.authenticator, request)).toBe('ok');
  });
});
