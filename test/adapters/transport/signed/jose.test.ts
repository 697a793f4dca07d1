import { calculateJwkThumbprint, compactVerify, importJWK, type JWK } from 'jose';
import { describe, expect, it } from 'vitest';
import vectors from '../../../fixtures/vectors/jose-ed25519-vectors.json' with { type: 'json' };

const bytesOf = (hex: string) => Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));

describe('jose', () => {
  const { jwk, jws_eddsa: jws, payload, thumbprint_sha256: thumbprint } = vectors.rfc8037;
  const { d: _, ...publicJwk } = jwk;

  it('verifies the signature of RFC 8037', async () => {
    const verified = await compactVerify(jws, await importJWK(publicJwk, 'EdDSA'), { algorithms: ['EdDSA'] });
    expect(new TextDecoder().decode(verified.payload)).toBe(payload);
  });

  it('refuses it with one character changed', async () => {
    const key = await importJWK(publicJwk, 'EdDSA');
    const at = jws.indexOf('.') + 2;
    const changed = `${jws.slice(0, at)}${jws[at] === 'A' ? 'B' : 'A'}${jws.slice(at + 1)}`;
    await expect(compactVerify(changed, key)).rejects.toMatchObject({ code: 'ERR_JWS_SIGNATURE_VERIFICATION_FAILED' });
  });

  it('gives the thumbprints of RFC 8037 and RFC 7638', async () => {
    expect(await calculateJwkThumbprint(publicJwk as JWK)).toBe(thumbprint);
    expect(await calculateJwkThumbprint(vectors.rfc7638.jwk as JWK)).toBe(vectors.rfc7638.thumbprint_sha256);
  });
});

describe('the platform', () => {
  it.each(vectors.rfc8032)(
    'verifies the Ed25519 signature of RFC 8032 over "$message"',
    async ({ public: key, message, signature }) => {
      const imported = await crypto.subtle.importKey('raw', bytesOf(key), 'Ed25519', false, ['verify']);
      expect(await crypto.subtle.verify('Ed25519', imported, bytesOf(signature), bytesOf(message))).toBe(true);
      expect(await crypto.subtle.verify('Ed25519', imported, bytesOf(signature), bytesOf(`${message}00`))).toBe(false);
    },
  );
});
