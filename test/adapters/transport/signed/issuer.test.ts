import { decodeJwt, decodeProtectedHeader } from 'jose';
import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import { createAuthenticator } from '../../../../adapters/transport/authenticator.ts';
import { createIssuer, generateRootKey } from '../../../../adapters/transport/issuer.ts';
import { audience, createClock, iss, startSeconds } from './session.ts';

const clock = createClock();
const session = { sub: 's1', tenant: 't1', agents: ['helper'], scopes: ['run:create', 'run:read'] } as const;

describe('createIssuer', () => {
  it('issues certificates with every claim of the profile', async () => {
    const issuer = await createIssuer({ iss, audience, now: clock.now });
    const { certificate } = await issuer.issue({ ...session, ttlSeconds: 300 });
    expect(decodeProtectedHeader(certificate)).toEqual({
      alg: 'Ed25519',
      typ: 'gc-session+jwt',
      kid: issuer.trusted.keys[0]?.kid,
    });
    expect(decodeJwt(certificate)).toEqual({
      iss,
      sub: 's1',
      aud: audience,
      iat: startSeconds,
      nbf: startSeconds,
      exp: startSeconds + 300,
      jti: expect.stringMatching(/^[0-9a-f-]{36}$/),
      cnf: { jwk: { kty: 'OKP', crv: 'Ed25519', x: expect.stringMatching(/^[\w-]{43}$/) } },
      tenant: 't1',
      agents: ['helper'],
      scope: 'run:create run:read',
    });
  });

  it('returns a session key that cannot be exported', async () => {
    const { key } = await (await createIssuer({ iss, audience })).issue(session);
    expect(key).toMatchObject({ type: 'private', extractable: false, usages: ['sign'] });
    await expect(crypto.subtle.exportKey('jwk', key)).rejects.toMatchObject({ name: 'InvalidAccessError' });
  });

  it('publishes no private key', async () => {
    const { trusted } = await createIssuer({ iss, audience });
    expect(Object.keys(trusted.keys[0] ?? {}).toSorted()).toEqual(['crv', 'kid', 'kty', 'x']);
    expect(() => createAuthenticator({ issuers: [trusted], audience, authorities: [], storage: memoryStorage() })).not
      .toThrow();
  });

  it('uses a key that is stored elsewhere, the same each time', async () => {
    const privateKey = await generateRootKey();
    const [one, two] = await Promise.all([
      createIssuer({ iss, audience, privateKey }),
      createIssuer({ iss, audience, privateKey }),
    ]);
    expect(one.trusted).toEqual(two.trusted);
  });

  it('certifies a key pair that the session has made itself', async () => {
    const keys = await crypto.subtle.generateKey('Ed25519', false, ['sign', 'verify']);
    const { certificate, key } = await (await createIssuer({ iss, audience })).issue({ ...session, keys });
    expect(key).toBe(keys.privateKey);
    const { x } = await crypto.subtle.exportKey('jwk', keys.publicKey);
    expect(decodeJwt(certificate)).toMatchObject({ cnf: { jwk: { x } } });
  });

  it.each([0, -1, 901, 1.5])('refuses a life of %d s', async (ttlSeconds) => {
    const issuer = await createIssuer({ iss, audience });
    await expect(issuer.issue({ ...session, ttlSeconds })).rejects.toMatchObject({ code: 'invalid_argument' });
  });

  it('refuses a public key', async () => {
    const { d: _, ...publicKey } = await generateRootKey();
    await expect(createIssuer({ iss, audience, privateKey: publicKey })).rejects.toMatchObject({
      code: 'invalid_argument',
    });
  });
});
