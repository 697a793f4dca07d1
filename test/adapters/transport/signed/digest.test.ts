import { describe, expect, it } from 'vitest';
import { createContentDigest, verifyContentDigest } from '../../../../adapters/transport/signed/signature.ts';
import vectors from '../../../fixtures/vectors/rfc9530-digests.json' with { type: 'json' };

const bytesOf = (text: string) => new TextEncoder().encode(text);

describe('verifyContentDigest', () => {
  it.each(vectors.cases)('accepts both digests that RFC 9530 gives for $body', async ({ body, ...digests }) => {
    const [short, long] = [`sha-256=:${digests['sha-256']}:`, `sha-512=:${digests['sha-512']}:`];
    for (const header of [short, long, `${long}, ${short}`]) {
      await expect(verifyContentDigest(header, bytesOf(body))).resolves.toBeUndefined();
    }
  });

  it.each(vectors.headerCases.filter(({ ok }) => ok))('accepts "$header" for its body', async ({ header, body }) => {
    await expect(verifyContentDigest(header, bytesOf(body))).resolves.toBeUndefined();
  });

  it.each(vectors.headerCases.filter(({ ok }) => !ok))('refuses "$header" for its body', async ({ header, body }) => {
    const code: unknown = expect.stringMatching(/^digest_(missing|mismatch)$/);
    await expect(verifyContentDigest(header, bytesOf(body))).rejects.toMatchObject({ status: 400, code });
  });

  it.each<[string, string | null, string]>([
    ['no header', null, 'digest_missing'],
    ['an empty header', '', 'digest_missing'],
    ['unknown algorithms alone', 'md5=:1B2M2Y8AsgTpgAmY7PhCfg==:', 'digest_missing'],
    ['a header that is no dictionary', 'sha-256=:', 'digest_missing'],
    ['a header of 2 KB', `x=:${'A'.repeat(2048)}:`, 'digest_missing'],
    ['a digest of something else', `sha-256=:${btoa('x'.repeat(32))}:`, 'digest_mismatch'],
    ['a digest that is cut', `sha-256=:${btoa('x'.repeat(16))}:`, 'digest_mismatch'],
    [
      'the beginning of the right digest',
      'sha-256=:LPJNul+wow4m6DsqxbninhsWHlwfp0Jecw==:',
      'digest_mismatch',
    ],
    ['text where bytes should be', 'sha-256="abc"', 'digest_mismatch'],
    ['a list where bytes should be', 'sha-256=(:AAAA:)', 'digest_mismatch'],
  ])('names what is wrong with %s', async (_name, header, code) => {
    await expect(verifyContentDigest(header, bytesOf('hello'))).rejects.toMatchObject({ status: 400, code });
  });

  it('accepts what createContentDigest gives', async () => {
    const body = bytesOf('{"hello": "world"}\n');
    const header = await createContentDigest(body);
    expect(header).toBe(`sha-256=:${vectors.cases[0]?.['sha-256']}:`);
    await verifyContentDigest(header, body);
  });
});
