import { describe, expect, it } from 'vitest';
import {
  bearerAuthenticator,
  type BearerToken,
  digestOfToken,
} from '../../../adapters/transport/bearer-authenticator.ts';

const token = 'f4c1b7a0-1111-4222-8333-444455556666';
const facts = { tenant: 't1', subject: 'editor', agents: ['helper'], scopes: ['run:create'] } as const;

async function authenticator(overrides: Partial<BearerToken> = {}, now = () => 1000) {
  const tokens = [{ digest: await digestOfToken(token), ...facts, ...overrides }];
  const made = bearerAuthenticator({ tokens, now });
  return (asking: Request) => made.authenticate(asking);
}

function request(authorization?: string): Request {
  return new Request('https://worker.example/mcp', authorization === undefined ? {} : { headers: { authorization } });
}

describe('bearerAuthenticator', () => {
  it('returns the principal that the token is bound to', async () => {
    const authenticate = await authenticator();
    expect(await authenticate(request(`Bearer ${token}`))).toEqual({ via: 'http', ...facts });
  });

  it.each([
    ['no token', undefined, 'authentication_required'],
    ['another scheme', `Basic ${token}`, 'authentication_required'],
    ['a token that is unknown', 'Bearer another-token', 'token_invalid'],
    ['the digest instead of the token', 'digest', 'token_invalid'],
    ['a token of too many characters', `Bearer ${'a'.repeat(513)}`, 'authentication_required'],
  ])('refuses %s', async (_, header, code) => {
    const authenticate = await authenticator();
    const given = header === 'digest' ? `Bearer ${await digestOfToken(token)}` : header;
    await expect(authenticate(request(given))).rejects.toMatchObject({ code, status: 401 });
  });

  it('refuses a token from the moment when it expires', async () => {
    let time = 999;
    const authenticate = await authenticator({ expiresAt: 1000 }, () => time);
    await expect(authenticate(request(`Bearer ${token}`))).resolves.toMatchObject({ subject: 'editor' });
    time = 1000;
    await expect(authenticate(request(`Bearer ${token}`))).rejects.toMatchObject({ code: 'token_expired' });
  });

  it('says nothing of the token in its errors', async () => {
    const authenticate = await authenticator();
    const error = await authenticate(request('Bearer my-other-secret-token')).catch(String);
    expect(error).not.toContain('my-other-secret-token');
  });

  it.each([['a token in clear', [token]], ['the same token twice', ['a'.repeat(64), 'a'.repeat(64)]]])(
    'refuses to be made of %s',
    (_, digests) => {
      const tokens = digests.map((digest) => ({ digest, ...facts }));
      expect(() => bearerAuthenticator({ tokens })).toThrow(expect.objectContaining({ code: 'invalid_argument' }));
    },
  );
});
