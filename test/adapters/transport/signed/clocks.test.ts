import type { SignatureParameters } from 'http-message-sig';
import { describe, expect, it } from 'vitest';
import { createSession, forgeCertificate, type RequestParts, startSeconds } from './session.ts';

const serverTime = new Date(startSeconds * 1000).toISOString();

async function errorOfClaims(claims: Record<string, unknown>): Promise<unknown> {
  const { authenticator, request, root, keys } = await createSession();
  const certificate = await forgeCertificate({ root, keys, claims });
  return await authenticator.authenticate(await request({ certificate })).catch((error: unknown) => error);
}

describe('a refusal due to a clock or a lifetime', () => {
  it('names the time of the endpoint when the certificate is from the future', async () => {
    const ahead = startSeconds + 45;
    expect(await errorOfClaims({ iat: ahead, nbf: ahead, exp: ahead + 600 })).toMatchObject({
      code: 'certificate_invalid',
      message: expect.stringContaining('clock') as string,
      details: { reason: 'certificate_from_future', serverTime },
    });
    expect(await errorOfClaims({ iat: ahead, exp: ahead + 600 })).toMatchObject({
      details: { reason: 'certificate_from_future', serverTime },
    });
  });

  it('names the time of the endpoint when the signature is from the future or has expired', async () => {
    const { authenticator, request } = await createSession();
    for (const [offset, code] of [[45, 'signature_from_future'], [-100, 'signature_expired']] as const) {
      const signed = await request({ nowSeconds: startSeconds + offset });
      await expect(authenticator.authenticate(signed)).rejects.toMatchObject({
        code,
        message: expect.stringContaining('clock') as string,
        details: { reason: code, serverTime },
      });
    }
  });

  it('says that the certificate is valid for too long', async () => {
    expect(await errorOfClaims({ exp: startSeconds + 901 })).toMatchObject({
      code: 'certificate_invalid',
      message: expect.stringContaining('900 s') as string,
      details: { reason: 'certificate_lifetime_too_long' },
    });
  });

  it('says that the signature is valid for too long', async () => {
    const { authenticator, request } = await createSession();
    const signed = await request({ parameters: { expires: startSeconds + 61 } });
    await expect(authenticator.authenticate(signed)).rejects.toMatchObject({
      code: 'signature_invalid',
      message: expect.stringContaining('60 s') as string,
      details: { reason: 'signature_lifetime_too_long' },
    });
  });

  it.each<[string, Record<string, unknown>]>([
    ['certificate_for_other_audience', { aud: 'other' }],
    ['certificate_lifetime_negative', { iat: startSeconds + 20, exp: startSeconds + 10 }],
    ['certificate_claims_invalid', { tenant: undefined }],
    ['certificate_key_invalid', { cnf: { kid: 'somewhere' } }],
  ])('is distinguished from %s', async (reason, claims) => {
    expect(await errorOfClaims(claims)).toMatchObject({ code: 'certificate_invalid', details: { reason } });
  });

  it.each<[string, Record<string, unknown>, string]>([
    ['nbf', { nbf: undefined }, 'its claim "nbf" is missing'],
    ['jti', { jti: undefined }, 'its claim "jti" is missing'],
    ['iss', { iss: 'https://other.example' }, 'must be the name of the issuer whose root key signed it'],
    ['scope', { scope: ['run:create'] }, 'must be one text, with spaces between the scopes'],
    ['agents', { agents: 'helper' }, 'must be "*", or an array of agent ids'],
    ['exp', { exp: 'soon' }, 'must be whole seconds since 1970'],
    ['roles', { roles: 'finance' }, 'must be an array of names'],
    ['act', { act: 'bo' }, 'must be an object with "sub"'],
  ])('names the claim "%s" that is wrong, not what it says', async (claim, claims, text) => {
    const error = await errorOfClaims(claims);
    expect(error).toMatchObject({ details: { reason: 'certificate_claims_invalid', claim } });
    expect(String(error)).toContain(text);
    expect(String(error)).not.toMatch(/other\.example|helper|finance|soon|bo"/);
  });
});

describe('a signature that lacks something', () => {
  it.each<[string, RequestParts, { readonly code: string; readonly details: unknown }]>([
    ['nonce', { parameters: { nonce: undefined } as unknown as SignatureParameters }, {
      code: 'signature_malformed',
      details: { reason: 'signature_parameter_missing', missing: ['nonce'] },
    }],
    ['a nonce of the right form', { nonce: 'short' }, {
      code: 'signature_malformed',
      details: { reason: 'signature_nonce_invalid' },
    }],
  ])('is told what: %s', async (_, parts, error) => {
    const { authenticator, request } = await createSession();
    await expect(authenticator.authenticate(await request(parts))).rejects.toMatchObject(error);
  });
});
