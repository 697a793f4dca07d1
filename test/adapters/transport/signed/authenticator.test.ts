import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import { createAuthenticator } from '../../../../adapters/transport/authenticator.ts';
import { PinnaceError, type Storage } from '../../../../src/index.ts';
import { requireScope } from '../../../../src/base/principal.ts';
import { audience, createSession, forgeCertificate, iss, startSeconds, tamper, verdict } from './session.ts';

function counting(storage: Storage): { storage: Storage; commits: () => number; fail: (error: unknown) => void } {
  let commits = 0;
  let failure: unknown;
  const check = <T>(work: () => Promise<T>) => failure === undefined ? work() : Promise.reject(failure);
  return {
    storage: {
      get: (key) => check(() => storage.get(key)),
      list: (options) => check(() => storage.list(options)),
      commit: (changes) => check(() => (commits++, storage.commit(changes))),
    },
    commits: () => commits,
    fail: (error) => void (failure = error),
  };
}

describe('authenticate', () => {
  it('returns a principal with the facts of the certificate', async () => {
    const { authenticator, request, keys, root } = await createSession();
    const principal = await authenticator.authenticate(await request());
    expect(principal).toEqual({
      via: 'http',
      tenant: 'tenant-1',
      subject: 'session-1',
      agents: ['helper'],
      scopes: ['run:create', 'run:read'],
      session: {
        issuer: iss,
        certificateId: 'certificate-1',
        keyThumbprint: keys.thumbprint,
        rootKeyId: root.trusted.kid,
        issuedAt: startSeconds * 1000,
        expiresAt: (startSeconds + 600) * 1000,
      },
    });
    requireScope(principal, 'run:create', 'helper');
    expect(() => requireScope(principal, 'run:create', 'other')).toThrow(
      expect.objectContaining({ code: 'forbidden', status: 403 }),
    );
    expect(() => requireScope(principal, 'tool:approve')).toThrow(
      expect.objectContaining({ code: 'forbidden', status: 403 }),
    );
    expect(() => requireScope({ ...principal }, 'run:create')).toThrow(
      expect.objectContaining({ code: 'unauthenticated' }),
    );
  });

  it('accepts the scheme in another case, as it was signed', async () => {
    const { authenticator, certificate, request } = await createSession();
    const lower = await request({ headers: { authorization: `gc-session ${certificate}` } });
    expect(await authenticator.authenticate(lower)).toMatchObject({ tenant: 'tenant-1' });
  });

  it.each([['GET', 'https://worker.example/v1/runs/run_1/stream'], ['DELETE', 'https://worker.example/v1/runs/run_1'], [
    'POST',
    'https://worker.example/v1/tools/x/validate',
  ]])(
    'accepts a %s without a body',
    async (method, url) => {
      const { authenticator, request } = await createSession();
      expect(await verdict(authenticator, await request({ method, url, body: null }))).toBe('ok');
    },
  );

  it('accepts a last event id that is covered', async () => {
    const { authenticator, request } = await createSession();
    const signed = await request({ method: 'GET', headers: { 'last-event-id': 'run_1:5' } });
    expect(await verdict(authenticator, signed.clone())).toBe('ok');
    const moved = await tamper(await request({ method: 'GET', headers: { 'last-event-id': 'run_1:5' } }), {
      headers: { 'last-event-id': 'run_1:6' },
    });
    expect(await verdict(authenticator, moved)).toBe('401 signature_invalid');
  });

  it.each([[-30, 'ok'], [90, 'ok'], [-31, '401 signature_from_future'], [91, '401 signature_expired']])(
    'says of a signature of %i s ago: %s',
    async (age, said) => {
      const { authenticator, request } = await createSession();
      expect(await verdict(authenticator, await request({ nowSeconds: startSeconds - age }))).toBe(said);
    },
  );

  it('accepts a host in capitals, and any scheme: TLS may end before the endpoint', async () => {
    const { authenticator, request } = await createSession({ authorities: ['WORKER.example', 'worker.example:8000'] });
    expect(await verdict(authenticator, await request({ url: 'http://worker.example/v1/runs' }))).toBe('ok');
    expect(await verdict(authenticator, await request({ url: 'http://worker.example:8000/v1/runs' }))).toBe('ok');
  });

  it('refuses a signature that was used, also at another instance on the same storage', async () => {
    const storage = memoryStorage();
    const first = await createSession({ storage });
    const { root, request, clock } = first;
    const issuers = [{ iss, keys: [root.trusted] }];
    const second = createAuthenticator({ issuers, audience, authorities: ['worker.example'], storage, now: clock.now });
    const signed = await request();
    expect(await verdict(first.authenticator, signed.clone())).toBe('ok');
    expect(await verdict(second, signed.clone())).toBe('401 signature_replayed');
    expect(await verdict(first.authenticator, signed)).toBe('401 signature_replayed');
  });

  it('lets one of 50 copies of a request pass', async () => {
    const { authenticator, request } = await createSession();
    const signed = await request();
    const said = await Promise.all(Array.from({ length: 50 }, () => verdict(authenticator, signed.clone())));
    expect(said.filter((each) => each === 'ok')).toHaveLength(1);
    expect(said.filter((each) => each === '401 signature_replayed')).toHaveLength(49);
  });

  it('never lets one session use up a nonce of another', async () => {
    const storage = memoryStorage();
    const [one, other] = await Promise.all([createSession({ storage }), createSession({ storage })]);
    expect(await verdict(one.authenticator, await one.request({ nonce: 'the-same-nonce-for-both' }))).toBe('ok');
    expect(await verdict(other.authenticator, await other.request({ nonce: 'the-same-nonce-for-both' }))).toBe('ok');
  });

  it('counts a nonce as used only after signature and digest were right', async () => {
    const { storage, commits } = counting(memoryStorage());
    const { authenticator, request } = await createSession({ storage });
    const signed = await request();
    await verdict(authenticator, await tamper(signed, { headers: { signature: `gc=:${btoa('x'.repeat(64))}:` } }));
    await verdict(authenticator, await tamper(signed, { body: '{}' }));
    await verdict(authenticator, await tamper(signed, { url: 'https://evil.example/' }));
    expect(commits()).toBe(0);
    expect(await verdict(authenticator, signed)).toBe('ok');
    expect(commits()).toBe(1);
  });

  it.each([['storage_full', '503 replay_store_full'], ['storage_closed', '503 overloaded']])(
    'rejects every request while the storage says %s',
    async (reason, said) => {
      const storage = memoryStorage({ maxEntries: 0 });
      const { authenticator, request } = await createSession({ storage });
      if (reason === 'storage_closed') await storage.close();
      expect(await verdict(authenticator, await request())).toBe(said);
    },
  );

  it('rejects every request when the list of revocations cannot be read', async () => {
    const { storage, fail } = counting(memoryStorage());
    const { authenticator, request, clock } = await createSession({ storage });
    expect(await verdict(authenticator, await request())).toBe('ok');
    fail(new Error('out of reach'));
    clock.advance(10);
    await expect(authenticator.authenticate(await request())).rejects.toMatchObject({
      code: 'overloaded',
      status: 503,
      retryable: true,
    });
  });

  it('says nothing in an error of what it received', async () => {
    const { authenticator, request } = await createSession();
    const signed = await request({ altered: { signature: 'gc=:c2VjcmV0LXNlbnRpbmVs:' } });
    const error = await authenticator.authenticate(signed).catch((thrown: unknown) => thrown as PinnaceError);
    expect(error).toBeInstanceOf(PinnaceError);
    const { message, details } = error as PinnaceError;
    expect(details).toBeUndefined();
    expect(message).not.toContain('c2VjcmV0LXNlbnRpbmVs');
  });
});

describe('the order of the checks', () => {
  it('is that of the profile: of two faults, the first is named', async () => {
    const { authenticator, request, root, keys } = await createSession();
    const expired = await forgeCertificate({
      root,
      keys,
      claims: { iat: startSeconds - 700, nbf: startSeconds - 700, exp: startSeconds - 100 },
    });
    const wrongSignature = { signature: `gc=:${btoa('x'.repeat(64))}:` };
    const steps: readonly (readonly [string, Parameters<typeof request>[0]])[] = [
      ['401 authentication_required', {
        altered: { authorization: null, signature: null, 'content-encoding': 'gzip' },
      }],
      ['401 signature_missing', { altered: { signature: null, 'content-encoding': 'gzip' } }],
      ['415 content_encoding_not_allowed', { url: 'https://evil.example/', altered: { 'content-encoding': 'gzip' } }],
      ['421 misdirected_request', { url: 'https://evil.example/', certificate: expired }],
      ['401 certificate_expired', { certificate: expired, altered: wrongSignature }],
      ['401 signature_invalid', { altered: { ...wrongSignature }, headers: { 'content-digest': 'md5=:AAAA:' } }],
      ['400 digest_missing', { headers: { 'content-digest': 'md5=:AAAA:' } }],
    ];
    for (const [said, parts] of steps) expect(await verdict(authenticator, await request(parts))).toBe(said);
  });
});
