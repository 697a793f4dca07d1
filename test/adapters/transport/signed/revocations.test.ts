import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import { createAuthenticator } from '../../../../adapters/transport/authenticator.ts';
import { createRevocations, type Revocation, toChange } from '../../../../adapters/transport/signed/revocations.ts';
import { localPrincipal, type Storage } from '../../../../src/index.ts';
import { audience, createSession, iss, startSeconds, type TestSession, verdict } from './session.ts';

const revoked = '401 certificate_revoked';
const kinds: readonly (readonly [string, (session: TestSession) => Revocation])[] = [
  ['its certificate', () => ({ kind: 'certificate', issuer: iss, certificateId: 'certificate-1' })],
  ['its subject', () => ({ kind: 'subject', issuer: iss, subject: 'session-1' })],
  ['its key', ({ keys }) => ({ kind: 'session_key', keyThumbprint: keys.thumbprint })],
  ['its root key', ({ root }) => ({ kind: 'root_key', rootKeyId: root.trusted.kid })],
  ['all that was issued before', () => ({ kind: 'issued_before', issuer: iss, issuedBefore: startSeconds + 1 })],
];
const others: readonly (readonly [string, Revocation])[] = [
  ['another certificate', { kind: 'certificate', issuer: iss, certificateId: 'certificate-2' }],
  ['the same certificate id of another issuer', {
    kind: 'certificate',
    issuer: 'https://other.example',
    certificateId: 'certificate-1',
  }],
  ['the same subject of another issuer', { kind: 'subject', issuer: 'https://other.example', subject: 'session-1' }],
  ['another key', { kind: 'session_key', keyThumbprint: 'other' }],
  ['all that was issued earlier', { kind: 'issued_before', issuer: iss, issuedBefore: startSeconds }],
  ['all that another issuer has issued', {
    kind: 'issued_before',
    issuer: 'https://other.example',
    issuedBefore: startSeconds + 999,
  }],
];

/** Timers that a test moves by hand. */
function createTicker() {
  const tasks = new Set<() => void>();
  return {
    every: (_ms: number, task: () => void) => {
      tasks.add(task);
      return () => void tasks.delete(task);
    },
    running: () => tasks.size,
    tick: async () => {
      for (const task of tasks) task();
      await new Promise((resolve) => setTimeout(resolve)); // lets the reading that was begun end
    },
  };
}

describe('a session', () => {
  it.each(kinds)('is refused at once when %s is revoked, although it is remembered', async (_name, revocation) => {
    const session = await createSession();
    const { authenticator, request } = session;
    const principal = await authenticator.authenticate(await request());
    expect(await authenticator.isRevoked(principal)).toBe(false);
    await authenticator.revoke(revocation(session));
    expect(await verdict(authenticator, await request())).toBe(revoked);
    expect(await authenticator.isRevoked(principal)).toBe(true);
  });

  it.each(others)('goes on when %s is revoked', async (_name, revocation) => {
    const { authenticator, request } = await createSession();
    await authenticator.revoke(revocation);
    expect(await verdict(authenticator, await request())).toBe('ok');
  });

  it('uses up no nonce when it is refused', async () => {
    const { authenticator, request } = await createSession();
    await authenticator.revoke({ kind: 'certificate', issuer: iss, certificateId: 'certificate-1' });
    const signed = await request();
    expect(await verdict(authenticator, signed.clone())).toBe(revoked);
    expect(await verdict(authenticator, signed)).toBe(revoked);
  });

  it('is refused by another instance when its copy of the list is too old', async () => {
    const storage = memoryStorage();
    const { authenticator, request, root, clock } = await createSession({ storage });
    const other = createAuthenticator({
      issuers: [{ iss, keys: [root.trusted] }],
      audience,
      authorities: ['worker.example'],
      storage,
      now: clock.now,
    });
    expect(await verdict(other, await request())).toBe('ok');
    await authenticator.revoke({ kind: 'subject', issuer: iss, subject: 'session-1' });
    clock.advance(5);
    expect(await verdict(other, await request())).toBe(revoked);
  });

  it('is known to be revoked among 2,500 others', async () => {
    const storage = memoryStorage();
    const { authenticator, request } = await createSession({ storage });
    for (let i = 0; i < 2500; i++) {
      await storage.commit([toChange({ kind: 'session_key', keyThumbprint: `key-${i}` }, 0)]);
    }
    await authenticator.revoke({ kind: 'subject', issuer: iss, subject: 'session-1' });
    expect(await verdict(authenticator, await request())).toBe(revoked);
  });

  it('that came in process cannot be revoked', async () => {
    const { authenticator } = await createSession();
    expect(await authenticator.isRevoked(localPrincipal())).toBe(false);
    authenticator.onRevoked(localPrincipal(), () => expect.unreachable())();
  });
});

describe('onRevoked', () => {
  const subject: Revocation = { kind: 'subject', issuer: iss, subject: 'session-1' };

  it('calls the listeners of a revoked session, each once, and no others', async () => {
    const storage = memoryStorage();
    const one = await createSession({ storage });
    const two = await createSession({ claims: { sub: 'session-2' } });
    const [first, second] = [
      await one.authenticator.authenticate(await one.request()),
      await two.authenticator.authenticate(await two.request()),
    ];
    const told: string[] = [];
    one.authenticator.onRevoked(first, () => told.push('first run'));
    one.authenticator.onRevoked(first, () => told.push('second run'));
    one.authenticator.onRevoked(first, () => told.push('ended run'))();
    one.authenticator.onRevoked(second, () => told.push('other session'));
    await one.authenticator.revoke(subject);
    await one.authenticator.revoke(subject);
    expect(told).toEqual(['first run', 'second run']);
  });

  it('calls listeners for what another instance has revoked, without any request', async () => {
    const storage = memoryStorage();
    const ticker = createTicker();
    const session = await createSession({ storage, every: ticker.every });
    const principal = await session.authenticator.authenticate(await session.request());
    let told = 0;
    session.authenticator.onRevoked(principal, () => told++);
    expect(ticker.running()).toBe(1);
    await createRevocations({ storage, now: session.clock.now }).revoke(subject);
    session.clock.advance(6);
    await ticker.tick();
    expect(told).toBe(1);
    expect(ticker.running()).toBe(0);
  });

  it('runs no timer without listeners', async () => {
    const ticker = createTicker();
    const { authenticator, request } = await createSession({ every: ticker.every });
    const principal = await authenticator.authenticate(await request());
    expect(ticker.running()).toBe(0);
    const stops = [authenticator.onRevoked(principal, () => {}), authenticator.onRevoked(principal, () => {})];
    expect(ticker.running()).toBe(1);
    for (const stop of stops) stop();
    expect(ticker.running()).toBe(0);
  });
});

describe('the copy of the list', () => {
  const session = {
    issuer: iss,
    certificateId: 'c',
    subjects: ['s'],
    keyThumbprint: 'k',
    rootKeyId: 'r',
    issuedAt: startSeconds,
  };
  const key: Revocation = { kind: 'session_key', keyThumbprint: 'k' };

  it('is read once for all who ask at the same time', async () => {
    const storage = memoryStorage();
    let reads = 0;
    const counted: Storage = { ...storage, list: (options) => (reads++, storage.list(options)) };
    const revocations = createRevocations({ storage: counted, now: () => 0 });
    await Promise.all(Array.from({ length: 100 }, () => revocations.isRevoked(session)));
    expect(reads).toBe(1);
  });

  it('is not undone by a slow read that started before', async () => {
    const storage = memoryStorage();
    const slow = Promise.withResolvers<void>();
    let lists = 0;
    const held: Storage = {
      ...storage,
      async list(options) {
        const isFirst = lists++ === 0;
        const page = await storage.list(options);
        if (isFirst) await slow.promise;
        return page;
      },
    };
    const revocations = createRevocations({ storage: held, now: () => 0 });
    const early = revocations.isRevoked(session);
    await revocations.revoke(key);
    slow.resolve();
    expect(await early).toBe(false);
    expect(await revocations.isRevoked(session)).toBe(true);
  });

  it('forgets a certificate that would have expired anyway, and no key', async () => {
    let now = startSeconds * 1000;
    const storage = memoryStorage({ now: () => now });
    const revocations = createRevocations({ storage, now: () => now });
    await revocations.revoke(key);
    await revocations.revoke({ kind: 'certificate', issuer: iss, certificateId: 'c' });
    await revocations.revoke({ kind: 'issued_before', issuer: iss, issuedBefore: startSeconds });
    now += 2 * 86_400_000;
    expect((await storage.list({ prefix: ['auth'], limit: 10 })).map(({ value }) => value)).toEqual([key]);
  });
});
