import { describe, expect, it } from 'vitest';
import { createCertificateSource } from '../../../../demo/endpoint/worker/certificate-source.ts';

const url = 'http://127.0.0.1:5173/development/certificate';

function issuer(): { readonly fetch: typeof fetch; readonly bodies: unknown[] } {
  const bodies: unknown[] = [];
  return {
    bodies,
    fetch: async (_url, init) => {
      bodies.push(await new Response(init?.body).json());
      return Response.json({ certificate: `certificate-${bodies.length}` });
    },
  };
}

describe('createCertificateSource', () => {
  it('has one key certified again and again, and shows its public half alone', async () => {
    const { fetch, bodies } = issuer();
    const certificate = await createCertificateSource(url, { fetch });
    const [first, second] = [await certificate(), await certificate()];
    expect([first.certificate, second.certificate]).toEqual(['certificate-1', 'certificate-2']);
    expect(first.key).toBe(second.key);
    expect(first.key.extractable).toBe(false);
    expect(bodies[0]).toEqual({ kty: 'OKP', crv: 'Ed25519', x: expect.any(String) });
    expect(bodies[1]).toEqual(bodies[0]);
  });

  it.each<[string, () => Promise<Response>]>([
    ['is not found', async () => new Response('Not found', { status: 404 })],
    ['is a page', async () => new Response('<!DOCTYPE html>')],
    ['cannot be reached', () => Promise.reject(new TypeError('Failed to fetch'))],
  ])('says that there is no issuer when it %s', async (_, fetch) => {
    await expect(createCertificateSource(url, { fetch })).rejects.toMatchObject({
      code: 'unavailable',
      details: { reason: 'no_issuer' },
    });
  });
});
