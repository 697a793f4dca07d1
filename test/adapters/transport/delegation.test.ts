import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { type AuthenticatorOptions, createAuthenticator } from '../../../adapters/transport/authenticator.ts';
import {
  bearerAuthenticator,
  type BearerToken,
  digestOfToken,
} from '../../../adapters/transport/bearer-authenticator.ts';
import { createClient } from '../../../adapters/transport/client.ts';
import { developmentAuthenticator } from '../../../adapters/transport/development-authenticator.ts';
import { createHandler } from '../../../adapters/transport/http.ts';
import { createIssuer } from '../../../adapters/transport/issuer.ts';
import { jwtAuthenticator } from '../../../adapters/transport/jwt-authenticator.ts';
import { type Authenticator, createPrincipal, type OnError, PinnaceError } from '../../../src/index.ts';
import { createSubjectWatch, type StartedWith } from '../../../adapters/transport/http/admission.ts';
import { createTokenIssuer, issuer as jwtIssuer, resource } from '../../fixtures/mcp/access-tokens.ts';
import { says, scriptedModel } from '../../fixtures/model.ts';
import { readAll, runRequest, testRuntime } from '../../fixtures/runtime.ts';
import { signedEndpoint } from '../../fixtures/signed-endpoint.ts';
import { createSession, iss, tamper, verdict } from './signed/session.ts';

const named = (subject: string) => ({ headers: { 'pinnace-subject': subject } });

/** The principal of a signed request by a certificate with these claims. */
async function principalOf(
  claims: Record<string, unknown>,
  subject?: string,
  options: Partial<AuthenticatorOptions> = {},
) {
  const session = await createSession({ ...options, claims });
  return await session.authenticator.authenticate(await session.request(subject === undefined ? {} : named(subject)));
}

const refused = (code: string, reason?: string) => ({ code, ...(reason !== undefined && { details: { reason } }) });

describe('the owner of what a signed request creates', () => {
  it.each<[string, Record<string, unknown>, string | undefined, object]>([
    ['is sub', { sub: 'ada' }, undefined, { subject: 'ada' }],
    ['is the claim subject before sub', { sub: 'session-9', subject: 'ada' }, undefined, {
      subject: 'ada',
      session: { sub: 'session-9' },
    }],
    ['is the subject that the request names', { sub: 'shop-server', act_for: ['shop:*'] }, 'shop:ada', {
      subject: 'shop:ada',
      actor: 'shop-server',
    }],
    ['is a group that a member speaks for', { sub: 'session-9', subject: 'ada', act_for: ['group:42'] }, 'group:42', {
      subject: 'group:42',
      actor: 'ada',
    }],
    [
      'is a group whose speaker the certificate names',
      { sub: 's', subject: 'group:42', act: { sub: 'bo' } },
      undefined,
      {
        subject: 'group:42',
        actor: 'bo',
      },
    ],
    ['is the caller itself where it names itself', { sub: 'ada' }, 'ada', { subject: 'ada' }],
    ['comes with its roles', { sub: 'ada', roles: ['finance', 'lead'] }, undefined, { roles: ['finance', 'lead'] }],
  ])('%s', async (_, claims, subject, expected) => {
    const principal = await principalOf(claims, subject);
    expect(principal).toMatchObject(expected);
    expect(Object.hasOwn(principal, 'actor')).toBe('actor' in expected);
  });

  it.each<[string, Record<string, unknown>, string]>([
    ['without the claim', {}, 'shop:ada'],
    ['outside its prefixes', { act_for: ['shop:*', 'bank:eve'] }, 'bank:ada'],
    ['with more than a whole name', { act_for: ['bank:eve'] }, 'bank:eve2'],
    ['in another case', { act_for: ['shop:*'] }, 'Shop:ada'],
    ['for a prefix that only ends so', { act_for: ['shop:*'] }, 'x-shop:ada'],
    ['with an empty list', { act_for: [] }, 'shop:ada'],
  ])('is refused %s', async (_, claims, subject) => {
    await expect(principalOf(claims, subject)).rejects.toMatchObject({
      ...refused('forbidden', 'not_delegated'),
      status: 403,
    });
  });

  it.each(['', ' ', 'a,b', 'shop:ada, shop:bo', 'x'.repeat(257)])('is refused for the header %j', async (text) => {
    const wrong = principalOf({ act_for: ['*'] }, text);
    await expect(wrong).rejects.toMatchObject({ ...refused('invalid_argument', 'invalid_subject'), status: 400 });
  });

  it('cannot be named, changed or left out by someone on the way', async () => {
    const { authenticator, request } = await createSession({ claims: { act_for: ['*'] } });
    const uncovered = await tamper(await request(), { headers: { 'pinnace-subject': 'shop:eve' } });
    expect(await verdict(authenticator, uncovered)).toBe('401 component_missing');
    const changed = await tamper(await request(named('shop:ada')), { headers: { 'pinnace-subject': 'shop:eve' } });
    expect(await verdict(authenticator, changed)).toBe('401 signature_invalid');
    const left = await tamper(await request(named('shop:ada')), { headers: { 'pinnace-subject': null } });
    expect(await verdict(authenticator, left)).toMatch(/^401 /);
  });

  it.each<[string, Record<string, unknown>]>([
    ['act_for of a text', { act_for: 'shop:*' }],
    ['act_for with a star inside', { act_for: ['sh*p:ada'] }],
    ['act_for with no name', { act_for: ['shop:*', ''] }],
    ['act_for of too many', { act_for: Array.from({ length: 65 }, (_, i) => `s${i}`) }],
    ['roles of a text', { roles: 'finance' }],
    ['roles with a control character', { roles: ['fin\nance'] }],
    ['a subject that is none', { subject: '' }],
    ['a subject of a missing value', { subject: 'undefined' }],
    ['a subject of another type', { subject: 7 }],
    ['an actor without a name', { act: {} }],
    ['an actor of a text', { act: 'bo' }],
    ['a tenant of a missing value', { tenant: 'null' }],
  ])('is nobody by a certificate with %s', async (_, claims) => {
    await expect(principalOf(claims)).rejects.toMatchObject(
      refused('certificate_invalid', 'certificate_claims_invalid'),
    );
  });

  it('is what subjectOf says of the claims, which are verified', async () => {
    const subjectOf: AuthenticatorOptions['subjectOf'] = ({ user }) => typeof user === 'string' ? user : undefined;
    expect(await principalOf({ sub: 'session-9', user: 'ada' }, undefined, { subjectOf })).toMatchObject({
      subject: 'ada',
      session: { sub: 'session-9' },
    });
    const throws = () => {
      throw new Error('no user');
    };
    for (const wrong of [subjectOf, throws, () => '', () => 'undefined']) {
      await expect(principalOf({}, undefined, { subjectOf: wrong }))
        .rejects.toMatchObject(refused('certificate_invalid', 'certificate_claims_invalid'));
    }
  });

  it.each(['session-9', 'ada', 'shop:bo'])('can be revoked as %s', async (subject) => {
    const session = await createSession({ claims: { sub: 'session-9', subject: 'ada', act_for: ['shop:*'] } });
    const principal = await session.authenticator.authenticate(await session.request(named('shop:bo')));
    const heard: string[] = [];
    session.authenticator.onRevoked(principal, () => heard.push(subject));
    await session.authenticator.revoke({ kind: 'subject', issuer: iss, subject });
    expect(heard).toEqual([subject]);
    expect(await verdict(session.authenticator, await session.request(named('shop:bo')))).toBe(
      '401 certificate_revoked',
    );
    expect(await session.authenticator.isRevoked(principal)).toBe(true);
  });
});

describe('the issuer', () => {
  const facts = { tenant: 'acme', agents: '*', scopes: ['run:create'] } as const;
  const setup = async () => {
    const issuer = await createIssuer({ iss, audience: 'agents' });
    return (claims: object) => issuer.issue({ ...facts, ...claims });
  };
  const claimsOf = ({ certificate }: { certificate: string }) =>
    JSON.parse(atob(certificate.split('.')[1]!.replaceAll('-', '+').replaceAll('_', '/')));

  it('writes the owner and its session, and the owner alone as sub', async () => {
    const issue = await setup();
    expect(claimsOf(await issue({ subject: 'ada', session: 's-1' }))).toMatchObject({ sub: 's-1', subject: 'ada' });
    const alone = claimsOf(await issue({ subject: 'ada' }));
    expect([alone.sub, alone.subject]).toEqual(['ada', undefined]);
    expect(claimsOf(await issue({ sub: 'ada' })).sub).toBe('ada');
    const all = { subject: 'group:42', session: 's-1', actor: 'bo', actFor: ['shop:*'], roles: ['lead'] };
    expect(claimsOf(await issue(all))).toMatchObject({
      sub: 's-1',
      subject: 'group:42',
      act: { sub: 'bo' },
      act_for: ['shop:*'],
      roles: ['lead'],
    });
  });

  it.each<[object, string]>([
    [{}, 'subject'],
    [{ session: 's-1' }, 'subject'],
    [{ subject: 'ada', sub: 's', session: 's' }, 'session'],
    [{ subject: '' }, 'subject'],
    [{ subject: 'undefined' }, 'subject'],
    [{ subject: 'a\u0000b' }, 'subject'],
    [{ subject: 'ada', actor: '' }, 'actor'],
    [{ subject: 'ada', actFor: 'shop:*' }, 'actFor'],
    [{ subject: 'ada', actFor: ['*shop'] }, 'actFor'],
    [{ subject: 'ada', roles: ['', 'x'] }, 'roles'],
    [{ subject: 'ada', tenant: 'null' }, 'tenant'],
  ])('refuses %j', async (claims, field) => {
    await expect((await setup())(claims)).rejects.toMatchObject({
      code: 'invalid_argument',
      details: { reason: 'wrong_argument', field },
    });
  });
});

describe('the owner of what a request with a token creates', () => {
  const facts = { tenant: 'acme', agents: '*', scopes: ['run:create'] } as const;
  const by = (authenticator: Authenticator) => (sent: Request) => authenticator.authenticate(sent);
  const request = (subject?: string, token = 'the-token-of-the-shop') =>
    new Request('http://127.0.0.1/v1/runs', {
      headers: { authorization: `Bearer ${token}`, ...(subject !== undefined && { 'pinnace-subject': subject }) },
    });

  it('is named by the request, where the record of the token allows it', async () => {
    const digest = await digestOfToken('the-token-of-the-shop');
    const shop = { digest, subject: 'shop-server', actFor: ['shop:*'], roles: ['service'], ...facts };
    const authenticate = by(bearerAuthenticator({ tokens: [shop] }));
    expect(await authenticate(request('shop:ada'))).toMatchObject({
      subject: 'shop:ada',
      actor: 'shop-server',
      roles: ['service'],
    });
    expect(await authenticate(request())).toMatchObject({ subject: 'shop-server' });
    await expect(authenticate(request('bank:ada'))).rejects.toMatchObject(refused('forbidden', 'not_delegated'));
    for (const wrong of ['shop:a,shop:b', 'shop:\u00e5', 'shop: a', 'null']) {
      await expect(authenticate(request(wrong))).rejects.toMatchObject(refused('invalid_argument', 'invalid_subject'));
    }
  });

  it.each<[string, object]>([
    ['actFor', { actFor: 'shop:*' }],
    ['actFor', { actFor: ['a*b'] }],
    ['roles', { roles: 'finance' }],
    ['roles', { roles: ['undefined'] }],
    ['subject', { subject: 'null' }],
    ['tenant', { tenant: 'a\tb' }],
  ])('cannot be configured with a wrong %s: %j', async (field, parts) => {
    const digest = await digestOfToken('the-token-of-the-shop');
    const token = { digest, subject: 'shop-server', ...facts, ...parts } as BearerToken; // wrong on purpose
    expect(() => bearerAuthenticator({ tokens: [token] })).toThrow(
      expect.objectContaining({ details: { reason: 'wrong_argument', field } }),
    );
  });

  it('is named by the request, where the host of access tokens allows it', async () => {
    const server = await createTokenIssuer();
    const authenticate = by(jwtAuthenticator({
      issuer: jwtIssuer,
      audience: resource,
      keys: server.keys,
      principalOf: ({ sub, act_for }) => ({
        subject: sub,
        ...facts,
        ...(Array.isArray(act_for) && { actFor: act_for }),
      }),
    }));
    const token = await server.token({ act_for: ['shop:*'] });
    expect(await authenticate(request('shop:bo', token))).toMatchObject({ subject: 'shop:bo', actor: 'ada' });
    await expect(authenticate(request('bank:bo', token))).rejects.toMatchObject(refused('forbidden', 'not_delegated'));
    await expect(authenticate(request('shop:bo', await server.token()))).rejects.toMatchObject({ code: 'forbidden' });
    const wrong = await server.token({ act_for: ['a*b'] });
    await expect(authenticate(request('shop:bo', wrong))).rejects.toMatchObject({ code: 'token_invalid' });
  });

  it('is anyone for a developer at their own machine', async () => {
    const authenticate = by(developmentAuthenticator({ token: 'the-token-of-the-shop' }));
    expect(await authenticate(request('group:42'))).toMatchObject({ subject: 'group:42', actor: 'developer' });
  });
});

describe('a client that names a subject', () => {
  it('is refused by an endpoint whose authenticator does not know the header', async () => {
    const ada = createPrincipal({ via: 'http', tenant: 't1', subject: 'ada', agents: '*', scopes: ['run:create'] });
    const handler = createHandler(testRuntime(scriptedModel(says('Hi'))), {
      authenticator: { authenticate: () => Promise.resolve(ada) },
    });
    const clientOf = (subject?: string) =>
      createClient({
        url: 'https://worker.example',
        credentials: { bearer: 'x' },
        fetch: handler,
        attempts: 1,
        ...(subject !== undefined && { subject }),
      });
    await expect(clientOf('bo').run(runRequest())).rejects.toMatchObject({ details: { reason: 'not_delegated' } });
    for (const subject of ['ada', undefined]) await readAll(await clientOf(subject).run(runRequest()));
  });

  it('signs it, and each request is for it', async () => {
    const subjects: string[] = [];
    const runtime = testRuntime(scriptedModel(says('Hi')));
    const watched = {
      ...runtime,
      start: ((input, principal, given) => {
        subjects.push(`${principal.actor} for ${principal.subject}`);
        return runtime.start(input, principal, given);
      }) satisfies typeof runtime.start,
    };
    const endpoint = await signedEndpoint(watched);
    const client = await endpoint.client({ subject: 'shop-server', actFor: ['shop:*'] }, { subject: 'shop:ada' });
    await readAll(await client.run(runRequest()));
    expect(subjects).toEqual(['shop-server for shop:ada']);
    const other = await endpoint.client({ subject: 'shop-server', actFor: ['shop:*'] }, { subject: 'bank:ada' });
    await expect(other.run(runRequest())).rejects.toMatchObject({
      code: 'forbidden',
      details: { reason: 'not_delegated' },
    });
  });

  it.each(['', 'a b', 'a,b', 'å', 'x'.repeat(257), 'undefined'])('refuses %j', (subject) => {
    expect(() => createClient({ url: 'https://agents.example', credentials: { bearer: 'x' }, subject })).toThrow(
      expect.objectContaining({ details: { reason: 'wrong_argument', field: 'subject' } }),
    );
  });
});

describe('subjects that look like sessions', () => {
  /** An endpoint, what its operator hears, and a clock. */
  async function setup() {
    let now = 1_800_000_000_000;
    const messages: string[] = [];
    const onError: OnError = (cause, { id }) =>
      void messages.push(`${id}: ${cause instanceof PinnaceError ? cause.message : ''}`);
    const issuer = await createIssuer({ iss, audience: 'agents', now: () => now });
    const authenticator = createAuthenticator({
      issuers: [issuer.trusted],
      audience: 'agents',
      authorities: ['worker.example'],
      storage: memoryStorage({ now: () => now }),
      now: () => now,
      every: () => () => {},
    });
    const handler = createHandler(testRuntime({ ...scriptedModel(says('Hi')), onError, now: () => now }), {
      authenticator,
      now: () => now,
    });
    const ask = async (claims: { readonly sub: string } | { readonly subject: string; readonly session?: string }, {
      chat = 'c1',
      key = crypto.randomUUID() as string,
    }) => {
      const facts = { tenant: 'acme', agents: ['helper'], scopes: ['run:create'] } as const;
      const client = createClient({
        url: 'https://worker.example',
        ...await issuer.issue({ ...claims, ...facts }),
        fetch: handler,
        attempts: 1,
        now: () => now,
      });
      await readAll(
        await client.run(runRequest({ chat: { ...runRequest().chat, id: chat } }), { idempotencyKey: key }),
      );
    };
    return { ask, messages, pass: (ms: number) => void (now += ms) };
  }

  it('are reported to the operator once, when one chat has several', async () => {
    const { ask, messages } = await setup();
    await ask({ sub: 'session-1' }, {});
    expect(messages).toEqual([]);
    await ask({ sub: 'session-2' }, {});
    await ask({ sub: 'session-3' }, {});
    expect(messages).toEqual([expect.stringMatching(/^subject_looks_like_session: .*"subjectOf"/)]);
  });

  it.each<[string, readonly [StartedWith, StartedWith], number]>([
    ['one idempotency key', [{ idempotencyKey: 'k' }, { idempotencyKey: 'k' }], 1],
    ['one chat', [{ chatId: 'c', idempotencyKey: 'k1' }, { chatId: 'c', idempotencyKey: 'k2' }], 1],
    ['a chat with the name of a key', [{ chatId: 'c', idempotencyKey: 'k1' }, { idempotencyKey: 'c' }], 0],
    ['nothing in common', [{ chatId: 'c1', idempotencyKey: 'k1' }, { chatId: 'c2', idempotencyKey: 'k2' }], 0],
  ])('are reported when several have %s', (_, [first, second], reports) => {
    const heard: unknown[] = [];
    const watch = createSubjectWatch({ report: (error) => heard.push(error), now: () => 0 });
    const of = (subject: string, issuer = iss, tenant = 'acme') => {
      const times = { issuedAt: 0, expiresAt: 1 };
      const session = { issuer, certificateId: 'c', keyThumbprint: 'k', rootKeyId: 'r', ...times };
      return createPrincipal({ via: 'http', tenant, subject, agents: '*', scopes: [], session });
    };
    watch(of('session-1'), first);
    for (const other of [of('session-2', 'https://other.example'), of('session-2', iss, 'other')]) watch(other, second);
    watch(createPrincipal({ via: 'http', tenant: 'acme', subject: 's', agents: '*', scopes: [] }), second); // a token
    expect(heard).toEqual([]);
    watch(of('session-2'), second);
    expect(heard).toHaveLength(reports);
  });

  it('takes bounded memory', () => {
    const watch = createSubjectWatch({ report: () => expect.unreachable(), now: () => 0 });
    const session = { issuer: iss, certificateId: 'c', keyThumbprint: 'k', rootKeyId: 'r', issuedAt: 0, expiresAt: 1 };
    const of = (subject: string) =>
      createPrincipal({ via: 'http', tenant: 'acme', subject, agents: '*', scopes: [], session });
    for (let i = 0; i < 10_000; i++) watch(of('ada'), { idempotencyKey: `key-${i}` });
    watch(of('bo'), { idempotencyKey: 'key-0' }); // was evicted
  });

  it('are none where certificates are renewed for one subject, and where a name is used again an hour later', async () => {
    const { ask, messages, pass } = await setup();
    for (const session of ['session-1', 'session-2', 'session-3']) await ask({ subject: 'ada', session }, {});
    pass(3_600_001);
    await ask({ subject: 'bo' }, {});
    expect(messages).toEqual([]);
  });
});
