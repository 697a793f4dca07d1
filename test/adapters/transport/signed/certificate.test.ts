import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import { createAuthenticator } from '../../../../adapters/transport/authenticator.ts';
import {
  audience,
  createClock,
  createKeys,
  createRoot,
  createSession,
  forgeCertificate,
  iss,
  startSeconds,
  verdict,
} from './session.ts';

const root = await createRoot();
const keys = await createKeys();
const clock = createClock();
const authenticator = createAuthenticator({
  issuers: [{ iss, keys: [root.trusted] }],
  audience,
  authorities: ['worker.example'],
  storage: memoryStorage(),
  now: clock.now,
});
const session = await createSession();

/** What is said of a request whose certificate is made so. */
async function verdictOn(
  forged: { claims?: Record<string, unknown>; header?: Record<string, unknown> },
): Promise<string> {
  const certificate = await forgeCertificate({ root, keys, ...forged });
  return await verdict(
    authenticator,
    await session.request({ certificate, key: keys.privateKey, keyThumbprint: keys.thumbprint }),
  );
}

describe('a certificate', () => {
  it.each<[string, { claims?: Record<string, unknown>; header?: Record<string, unknown> }]>([
    ['the old name of the algorithm', { header: { alg: 'EdDSA' } }],
    ['all agents', { claims: { agents: '*' } }],
    ['no scopes', { claims: { scope: '' } }],
    ['unknown scopes', { claims: { scope: 'run:create moon:fly' } }],
    ['unknown claims', { claims: { extra: { deep: true } } }],
    ['the longest life', { claims: { exp: startSeconds + 900 } }],
    ['an end within the skew', {
      claims: { iat: startSeconds - 629, nbf: startSeconds - 629, exp: startSeconds - 29 },
    }],
    ['a beginning within the skew', { claims: { nbf: startSeconds + 30 } }],
  ])('with %s is accepted', async (_name, forged) => {
    expect(await verdictOn(forged)).toBe('ok');
  });

  it.each<[string, { claims?: Record<string, unknown>; header?: Record<string, unknown> }, string]>([
    ['no key id', { header: { kid: undefined } }, 'untrusted'],
    ['an unknown key id', { header: { kid: 'unknown' } }, 'untrusted'],
    ['a key of its own', { header: { kid: 'unknown', jwk: keys.publicJwk } }, 'untrusted'],
    ['another type', { header: { typ: 'JWT' } }, 'invalid'],
    ['the type in capitals', { header: { typ: 'GC-SESSION+JWT' } }, 'invalid'],
    ['the long form of the type', { header: { typ: 'application/gc-session+jwt' } }, 'invalid'],
    ['no type', { header: { typ: undefined } }, 'invalid'],
    ['another audience', { claims: { aud: 'other' } }, 'invalid'],
    ['a list of audiences', { claims: { aud: [audience] } }, 'invalid'],
    ['another issuer', { claims: { iss: 'https://evil.example' } }, 'invalid'],
    ['a life of a second too much', { claims: { exp: startSeconds + 901 } }, 'invalid'],
    [
      'a lifetime that ends before it starts',
      { claims: { iat: startSeconds + 20, exp: startSeconds + 10 } },
      'invalid',
    ],
    ['an issue from the future', { claims: { iat: startSeconds + 31, exp: startSeconds + 600 } }, 'invalid'],
    ['a beginning in 31 s', { claims: { nbf: startSeconds + 31 } }, 'invalid'],
    [
      'an end 30 s ago',
      { claims: { iat: startSeconds - 600, nbf: startSeconds - 600, exp: startSeconds - 30 } },
      'expired',
    ],
    ['a time as text', { claims: { exp: String(startSeconds + 600) } }, 'invalid'],
    ['a private key', {
      claims: { cnf: { jwk: { ...keys.publicJwk, d: 'n4Ni-HpISpVObnQMW0wOhCKROaIKqKtW_2ZYb2p9KcU' } } },
    }, 'invalid'],
    ['a key of another type', { claims: { cnf: { jwk: { kty: 'EC', crv: 'P-256', x: 'a', y: 'b' } } } }, 'invalid'],
    ['a key of another curve', { claims: { cnf: { jwk: { ...keys.publicJwk, crv: 'X25519' } } } }, 'invalid'],
    ['a key that is cut', { claims: { cnf: { jwk: { ...keys.publicJwk, x: 'AAAA' } } } }, 'invalid'],
    ['a key by reference', { claims: { cnf: { kid: 'somewhere' } } }, 'invalid'],
    ['two ways to name the key', { claims: { cnf: { jwk: keys.publicJwk, jku: 'https://evil.example' } } }, 'invalid'],
    ['a key that is null', { claims: { cnf: { jwk: null } } }, 'invalid'],
    ['an empty tenant', { claims: { tenant: '' } }, 'invalid'],
    ['a tenant that is no text', { claims: { tenant: ['tenant-1'] } }, 'invalid'],
    ['a subject of 300 characters', { claims: { sub: 's'.repeat(300) } }, 'invalid'],
    ['agents as text', { claims: { agents: 'helper' } }, 'invalid'],
    ['an agent that is no text', { claims: { agents: ['helper', 1] } }, 'invalid'],
    ['scopes as a list', { claims: { scope: ['run:create'] } }, 'invalid'],
    ...['iss', 'sub', 'aud', 'iat', 'nbf', 'exp', 'jti', 'cnf', 'tenant', 'agents', 'scope']
      .map((
        claim,
      ): [string, { claims: Record<string, unknown> }, string] => [
        `no ${claim}`,
        { claims: { [claim]: undefined } },
        'invalid',
      ]),
  ])('with %s is refused', async (_name, forged, why) => {
    expect(await verdictOn(forged)).toBe(`401 certificate_${why}`);
  });

  it('with an unknown critical header is refused', async () => {
    const [, claims, signature] = (await forgeCertificate({ root, keys })).split('.');
    const header = { alg: 'Ed25519', typ: 'gc-session+jwt', kid: root.trusted.kid, crit: ['b65'], b65: true };
    const certificate = `${btoa(JSON.stringify(header)).replace(/=+$/, '')}.${claims}.${signature}`;
    expect(await verdict(authenticator, await session.request({ certificate }))).toBe('401 certificate_invalid');
  });

  it.each(['none', 'HS256', 'ES256', 'RS256'])('that says it is signed with %s is refused', async (alg) => {
    const [, claims, signature] = (await forgeCertificate({ root, keys })).split('.');
    const header = btoa(JSON.stringify({ alg, typ: 'gc-session+jwt', kid: root.trusted.kid })).replace(/=+$/, '');
    expect(await verdict(authenticator, await session.request({ certificate: `${header}.${claims}.${signature}` })))
      .toBe('401 certificate_invalid');
  });

  it('signed by another root under a trusted key id is refused', async () => {
    const evil = await createRoot();
    const certificate = await forgeCertificate({
      root: { ...evil, trusted: { ...evil.trusted, kid: root.trusted.kid } },
      keys,
    });
    expect(await verdict(authenticator, await session.request({ certificate }))).toBe('401 certificate_invalid');
  });

  it('for a tenant that is not its issuer’s is refused', async () => {
    const issuers = [{ iss, keys: [root.trusted], tenants: ['tenant-2'] }];
    const strict = createAuthenticator({
      issuers,
      audience,
      authorities: ['worker.example'],
      storage: memoryStorage(),
      now: clock.now,
    });
    const verdictFor = async (tenant: string) => {
      const certificate = await forgeCertificate({ root, keys, claims: { tenant } });
      return await verdict(
        strict,
        await session.request({ certificate, key: keys.privateKey, keyThumbprint: keys.thumbprint }),
      );
    };
    expect(await verdictFor('tenant-1')).toBe('401 certificate_invalid');
    expect(await verdictFor('tenant-2')).toBe('ok');
  });
});

describe('createAuthenticator', () => {
  const trusted = root.trusted;
  it.each([
    ['a private key', [{ iss, keys: [{ ...trusted, d: 'secret' }] }]],
    ['a key without id', [{ iss, keys: [{ ...trusted, kid: '' }] }]],
    ['a key of another curve', [{ iss, keys: [{ ...trusted, crv: 'P-256' }] }]],
    ['one key of two issuers', [{ iss, keys: [trusted] }, { iss: 'https://other.example', keys: [trusted] }]],
  ])('refuses to trust %s', (_name, issuers) => {
    expect(() => createAuthenticator({ issuers, audience, authorities: [], storage: memoryStorage() }))
      .toThrow(expect.objectContaining({ code: 'invalid_argument' }));
  });
});
