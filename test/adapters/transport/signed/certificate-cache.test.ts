import { describe, expect, it } from 'vitest';
import { createCertificateCache } from '../../../../adapters/transport/signed/certificate.ts';
import {
  audience,
  createKeys,
  createRoot,
  createSession,
  forgeCertificate,
  iss,
  startSeconds,
  verdict,
} from './session.ts';

describe('a remembered certificate', () => {
  it('is refused as soon as it has expired', async () => {
    const { authenticator, request, clock } = await createSession();
    expect(await verdict(authenticator, await request())).toBe('ok');
    clock.advance(629);
    expect(await verdict(authenticator, await request())).toBe('ok');
    clock.advance(1);
    expect(await verdict(authenticator, await request())).toBe('401 certificate_expired');
  });

  it('is refused when the clock is set back before its time', async () => {
    const { authenticator, request, clock } = await createSession();
    expect(await verdict(authenticator, await request())).toBe('ok');
    clock.advance(-40);
    expect(await verdict(authenticator, await request())).toBe('401 certificate_invalid');
  });

  it('is refused as soon as its root key is removed, and both keys count while one replaces the other', async () => {
    const [old, fresh] = await Promise.all([createRoot(), createRoot()]);
    let trusted = [old.trusted];
    const { authenticator, request, keys } = await createSession({ issuers: () => [{ iss, keys: trusted }] });
    const [before, after] = await Promise.all([old, fresh].map((root) => forgeCertificate({ root, keys })));
    const said = async () => [
      await verdict(authenticator, await request({ certificate: before as string })),
      await verdict(authenticator, await request({ certificate: after as string })),
    ];
    expect(await said()).toEqual(['ok', '401 certificate_untrusted']);
    trusted = [fresh.trusted, old.trusted];
    expect(await said()).toEqual(['ok', 'ok']);
    trusted = [fresh.trusted];
    expect(await said()).toEqual(['401 certificate_untrusted', 'ok']);
  });

  it('is refused when its root key was replaced under the same id', async () => {
    const [old, fresh] = await Promise.all([createRoot(), createRoot()]);
    let trusted = old.trusted;
    const { authenticator, request, keys } = await createSession({ issuers: () => [{ iss, keys: [trusted] }] });
    const certificate = await forgeCertificate({ root: old, keys });
    expect(await verdict(authenticator, await request({ certificate }))).toBe('ok');
    trusted = { ...fresh.trusted, kid: old.trusted.kid };
    expect(await verdict(authenticator, await request({ certificate }))).toBe('401 certificate_untrusted');
  });

  it('is refused when its root key now belongs to another issuer', async () => {
    const root = await createRoot();
    let issuer = iss;
    const { authenticator, request, keys } = await createSession({
      issuers: () => [{ iss: issuer, keys: [root.trusted] }],
    });
    const certificate = await forgeCertificate({ root, keys });
    expect(await verdict(authenticator, await request({ certificate }))).toBe('ok');
    issuer = 'https://other.example';
    expect(await verdict(authenticator, await request({ certificate }))).toBe('401 certificate_untrusted');
  });

  it('makes room for others: those used last are remembered', async () => {
    const [root, keys] = await Promise.all([createRoot(), createKeys()]);
    const [a, b, c] = await Promise.all(
      ['a', 'b', 'c'].map((jti) => forgeCertificate({ root, keys, claims: { jti } })),
    );
    const certificateOf = createCertificateCache({ maxEntries: 2 });
    const certificates = [];
    for (const token of [a, b, a, c, a, b]) {
      const findRoot = () => ({ issuer: { iss, keys: [] }, key: root.trusted });
      certificates.push(await certificateOf(token ?? '', { findRoot, audience, nowSeconds: startSeconds }));
    }
    const [a1, b1, a2, , a3, b2] = certificates;
    expect(a2).toBe(a1);
    expect(a3).toBe(a1);
    expect(b2).not.toBe(b1); // c has taken its place
  });
});
