import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import { createAuthenticator } from '../../../../adapters/transport/authenticator.ts';
import { bearerAuthenticator, digestOfToken } from '../../../../adapters/transport/bearer-authenticator.ts';
import { developmentAuthenticator } from '../../../../adapters/transport/development-authenticator.ts';
import { createIssuer } from '../../../../adapters/transport/issuer.ts';
import { parseIdempotencyKey } from '../../../../adapters/transport/signed/caller.ts';
import type { Issuer } from '../../../../adapters/transport/signed/roots.ts';
import vectors from '../../../fixtures/vectors/idempotency-key-cases.json' with { type: 'json' };
import {
  audience,
  createClock,
  createKeys,
  createRoot,
  createSession,
  forgeCertificate,
  iss,
  type TestRoot,
} from './session.ts';

const [root, keys] = [await createRoot(), await createKeys()];
const clock = createClock();
const session = await createSession();

function trusting(issuer: Partial<Issuer>, of: TestRoot = root) {
  const issuers = [{ iss, keys: [of.trusted], ...issuer }];
  const authorities = ['worker.example'];
  return createAuthenticator({ issuers, audience, authorities, storage: memoryStorage(), now: clock.now });
}

async function authenticate(issuer: Partial<Issuer>, claims: Record<string, unknown>) {
  const certificate = await forgeCertificate({ root, keys, claims });
  const request = await session.request({ certificate, key: keys.privateKey, keyThumbprint: keys.thumbprint });
  return await trusting(issuer).authenticate(request);
}

const asAdmin = { scope: 'run:create admin', deployment: true };

describe('a certificate for the deployment', () => {
  it('speaks for it when its issuer may say so and it has the scope admin', async () => {
    expect(await authenticate({ deployment: true }, asAdmin)).toMatchObject({ tenant: 'tenant-1', deployment: true });
  });

  it('without the claim belongs to its tenant alone, with the scope admin too', async () => {
    for (const deployment of [undefined, false]) {
      const principal = await authenticate({ deployment: true }, { ...asAdmin, deployment });
      expect(principal.deployment).toBeUndefined();
    }
  });

  it.each<[string, Partial<Issuer>, Record<string, unknown>]>([
    ['an issuer that may not', {}, asAdmin],
    ['an issuer of some tenants', { tenants: ['tenant-1'] }, asAdmin],
    ['no scope admin', { deployment: true }, { ...asAdmin, scope: 'run:create registry:write' }],
    ['another value than true', { deployment: true }, { ...asAdmin, deployment: 'true' }],
  ])('is refused with %s', async (_, issuer, claims) => {
    await expect(authenticate(issuer, claims)).rejects.toMatchObject({
      code: 'certificate_invalid',
      status: 401,
      message: expect.stringContaining('speak for the deployment'),
      details: { reason: 'certificate_deployment_not_allowed' },
    });
  });

  it('is refused from the moment when its issuer may no longer say so', async () => {
    const issuers: { deployment: boolean }[] = [{ deployment: true }];
    const authenticator = createAuthenticator({
      issuers: () => issuers.map((issuer) => ({ iss, keys: [root.trusted], ...issuer })),
      audience,
      authorities: ['worker.example'],
      storage: memoryStorage(),
      now: clock.now,
    });
    const certificate = await forgeCertificate({ root, keys, claims: asAdmin });
    const request = () => session.request({ certificate, key: keys.privateKey, keyThumbprint: keys.thumbprint });
    await expect(authenticator.authenticate(await request())).resolves.toMatchObject({ deployment: true });
    issuers[0] = { deployment: false };
    await expect(authenticator.authenticate(await request())).rejects.toMatchObject({ code: 'certificate_untrusted' });
  });

  it('comes from an issuer that was created for it, and from no other', async () => {
    const claims = { sub: 's1', tenant: 't1', agents: '*', scopes: ['admin'], deployment: true } as const;
    const plain = await createIssuer({ iss, audience });
    expect(plain.trusted).not.toHaveProperty('deployment');
    await expect(plain.issue(claims)).rejects.toMatchObject({ code: 'invalid_argument' });
    const issuer = await createIssuer({ iss, audience, deployment: true });
    expect(issuer.trusted).toMatchObject({ deployment: true });
    await expect(issuer.issue({ ...claims, scopes: ['registry:write'] })).rejects.toMatchObject({
      code: 'invalid_argument',
    });
    await expect(issuer.issue(claims)).resolves.toHaveProperty('certificate');
  });

  it('cannot come from an issuer that is limited to tenants', () => {
    expect(() => trusting({ tenants: ['t1'], deployment: true })).toThrow(
      expect.objectContaining({ code: 'invalid_argument' }),
    );
  });
});

describe('tokens for the deployment', () => {
  it('are bearer tokens that say so and have the scope admin', async () => {
    const facts = { digest: await digestOfToken('a-token'), tenant: 't1', subject: 'operator', agents: '*' } as const;
    const headers = { authorization: 'Bearer a-token' };
    const request = new Request('https://worker.example/v1/agents', { headers });
    const principalOf = (scopes: ['admin'], deployment?: boolean) =>
      bearerAuthenticator({ tokens: [{ ...facts, scopes, ...(deployment && { deployment }) }] }).authenticate(request);
    expect(await principalOf(['admin'], true)).toMatchObject({ deployment: true });
    expect(await principalOf(['admin'])).not.toHaveProperty('deployment');
    expect(() => bearerAuthenticator({ tokens: [{ ...facts, scopes: ['registry:write'], deployment: true }] })).toThrow(
      expect.objectContaining({ code: 'invalid_argument' }),
    );
  });

  it('are the tokens of a developer at a loopback endpoint', async () => {
    const headers = { authorization: 'Bearer a-token-of-16-chars' };
    const request = new Request('http://127.0.0.1:8787/v1/agents', { headers });
    const principal = await developmentAuthenticator({ token: 'a-token-of-16-chars' }).authenticate(request);
    expect(principal).toMatchObject({ tenant: 'development', deployment: true });
  });
});

const malformed = { status: 400, code: 'idempotency_key_malformed' };

/** Halves of surrogate pairs too. */
const anyCharacter = fc.nat({ max: 0xffff }).map((code) => String.fromCharCode(code));

describe('parseIdempotencyKey', () => {
  it.each(vectors.cases.filter(({ valid }) => valid))('reads $header', ({ header, key }) => {
    expect(parseIdempotencyKey(header)).toBe(key);
  });

  it.each(vectors.cases.filter(({ valid }) => !valid))('refuses $header as $code', ({ header, code }) => {
    expect(() => parseIdempotencyKey(header)).toThrow(expect.objectContaining({ status: 400, code }));
  });

  it('gives every printable key of 16 to 255 characters back, whatever was escaped', () => {
    const printable = fc.string({
      unit: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)),
      minLength: 16,
      maxLength: 255,
    });
    fc.assert(fc.property(printable, (key) => {
      expect(parseIdempotencyKey(`"${key.replace(/["\\]/g, '\\$&')}"`)).toBe(key);
    }));
  });

  it('refuses any other text without breaking', () => {
    fc.assert(fc.property(fc.string({ unit: anyCharacter, maxLength: 600 }), (header) => {
      fc.pre(!/^ *"/.test(header));
      expect(() => parseIdempotencyKey(header)).toThrow(expect.objectContaining(malformed));
    }));
  });

  it.each([
    ['a key with parameters', '"kkkkkkkkkkkkkkkkkkkk";a=1'],
    ['a list', '("kkkkkkkkkkkkkkkkkkkk")'],
    ['a token', 'kkkkkkkkkkkkkkkkkkkk'],
    ['a number', '1234567890123456'],
    ['what is not ASCII', '"ключключключключ"'],
    ['a megabyte', `"${'k'.repeat(1_000_000)}"`],
  ])('refuses %s', (_name, header) => {
    expect(() => parseIdempotencyKey(header)).toThrow(expect.objectContaining(malformed));
  });
});
