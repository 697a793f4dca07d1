/** Verifies signed requests: a session certificate, a signature over the request, a digest of its body, and a nonce used once. */

import { checkKnownOptions, optional, wrongArgument } from '../../src/base/check-options.ts';
import type { Authenticator, NonceUse, NonceVerifier } from '../../src/contracts/authenticator.ts';
import type { Storage } from '../../src/contracts/storage.ts';
import { createPrincipal, type Principal } from '../../src/base/principal.ts';
import { actingFor, isJwt, subjectHeader } from './signed/caller.ts';
import { type BodyOptions, readBody } from './signed/body.ts';
import { type Certificate, createCertificateCache, type SubjectOf } from './signed/certificate.ts';
import {
  createNonceStore,
  createRevocations,
  type Revocable,
  type Revocation,
  type RevocationOptions,
  type Revocations,
} from './signed/revocations.ts';
import { methodsWithoutBody, requireSignature, verifyContentDigest, verifyRequest } from './signed/signature.ts';
import { maxCertificateLength, refusal, scheme } from './signed/profile.ts';
import { createRoots, type Issuers } from './signed/roots.ts';

/** What an endpoint accepts. */
export interface AuthenticatorOptions {
  /** The issuers to trust, with their public root keys: `[issuer.trusted]`, or what `pinnace keys` prints. */
  readonly issuers: Issuers;
  /** The `aud` that certificates must name. */
  readonly audience: string;
  /** The hosts, with port where it is not the default, under which the endpoint is reached. */
  readonly authorities: readonly string[];
  /** Stores used nonces and revocations. Instances that share it reject each other's used nonces. */
  readonly storage: Storage;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
  /** The largest body, in bytes; a function where it differs from route to route. That of the route at an endpoint, and 16 MiB elsewhere, when absent. */
  readonly maxBodyBytes?: number | ((request: Request) => number);
  /**
   * Returns the subject of a certificate from its claims; `undefined` rejects it. For issuers whose `sub` is a session, which changes
   * with each renewal: the subject owns runs, chats and idempotency keys. The claim `subject`, otherwise `sub`, when absent.
   *
   * @example
   * subjectOf: ({ user }) => (typeof user === 'string' ? user : undefined)
   */
  readonly subjectOf?: SubjectOf;
  /** The most certificates to remember. */
  readonly maxCertificates?: number;
  /** How long a copy of the list of revocations is used. */
  readonly revocationMaxAgeMs?: number;
  /** Repeats a task until the returned function is called. Used while sessions are checked. */
  readonly every?: NonNullable<RevocationOptions['every']>;
}

/** An authenticator whose certificates can be revoked. */
export interface SignedAuthenticator extends Authenticator, NonceVerifier {
  /** Revokes certificates, subjects or keys, and calls the listeners of their sessions. */
  revoke(revocation: Revocation): Promise<void>;
  isRevoked(principal: Principal): Promise<boolean>;
  /** Calls the listener once when the principal's session is revoked. Returns the function that removes it: call it when the run has ended. */
  onRevoked(principal: Principal, listener: () => void): () => void;
}

/**
 * Creates the authenticator for signed requests. Instances that share a storage reject nonces that another instance has accepted.
 *
 * @throws PinnaceError `invalid_argument` for root keys that cannot be trusted.
 */
export function createAuthenticator(options: AuthenticatorOptions): SignedAuthenticator {
  checkKnownOptions('authenticate signed requests', options, {
    issuers: [typeof options?.issuers === 'function' ? 'function' : 'array', 'an array, such as [issuer.trusted]'],
    audience: ['text', 'the "aud" of the certificates'],
    authorities: ['array', 'an array of hosts, such as ["agents.example.com"]'],
    storage: ['.commit', 'a storage, such as memoryStorage()'],
    subjectOf: ['function?', 'a function (claims) => subject'],
    ...optional('now', 'maxBodyBytes', 'maxCertificates', 'revocationMaxAgeMs', 'every'),
  });
  checkAuthorities(options.authorities);
  const { storage, now = Date.now, revocationMaxAgeMs: maxAgeMs, every } = options;
  const watching = { ...(maxAgeMs !== undefined && { maxAgeMs }), ...(every && { every }) };
  const revocations = createRevocations({ storage, now, ...watching });
  const verifyAll = createVerifier({ ...options, now, revocations });
  const verify: SignedAuthenticator['verify'] = async (request) => {
    const { certificate, nonce } = await verifyAll(request);
    return { principal: principalOf(certificate, actingFor(request, certificate)), nonce };
  };
  return {
    verify,
    async authenticate(request) {
      const { principal, nonce } = await verify(request);
      await nonce?.commit();
      return principal;
    },
    revoke: (revocation) => revocations.revoke(revocation),
    async isRevoked(principal) {
      const session = revocableOf(principal);
      return session !== undefined && await revocations.isRevoked(session);
    },
    onRevoked(principal, listener) {
      const session = revocableOf(principal);
      return session === undefined ? () => {} : revocations.onRevoked(session, listener);
    },
  };
}

/** Compared with the `host` of requests, which has neither a scheme nor a path. */
function checkAuthorities(authorities: readonly string[]): void {
  const wrong = authorities.find((authority) => !/^[^\s/?#@]+$/.test(authority));
  if (wrong === undefined) return;
  const why = `"authorities" takes hosts, such as "agents.example.com" or "localhost:8000", not ${
    JSON.stringify(wrong)
  }`;
  throw wrongArgument('authenticate signed requests', 'authorities', why);
}

/**
 * Creates the verifier. Each step rejects a request that fails it, the cheap steps first. The nonce comes last, so that a request
 * that fails cannot use up the nonce of another caller.
 */
function createVerifier(
  { audience, storage, now, maxBodyBytes, subjectOf, revocations, ...options }: AuthenticatorOptions & {
    readonly now: () => number;
    readonly revocations: Revocations;
  },
): (request: Request) => Promise<{ readonly certificate: Certificate; readonly nonce: NonceUse }> {
  const findRoot = createRoots(options.issuers);
  const authorities = new Set(options.authorities.map((authority) => authority.toLowerCase()));
  const certificateOf = createCertificateCache({ maxEntries: options.maxCertificates ?? 1000 });
  const nonces = createNonceStore({ storage });
  return async (request) => {
    const token = tokenOf(request);
    requireSignature(request);
    requirePlainBody(request);
    requireAuthority(request, authorities);
    const nowSeconds = Math.floor(now() / 1000);
    const certificate = await certificateOf(token, { findRoot, audience, nowSeconds, subjectOf });
    if (await revocations.isRevoked(revocableBy(certificate, request))) throw refusal('certificate_revoked');
    const { nonce } = await verifyRequest(request, { ...certificate, nowSeconds });
    const maxBytes = typeof maxBodyBytes === 'function' ? maxBodyBytes(request) : maxBodyBytes;
    await requireBody(request, { tenant: certificate.tenant, ...(maxBytes !== undefined && { maxBytes }) });
    return { certificate, nonce: nonces.open(certificate.keyThumbprint, nonce) };
  };
}

function tokenOf({ headers }: Request): string {
  const [given, token = '', ...rest] = (headers.get('authorization') ?? '').split(' ');
  if (given?.toLowerCase() !== scheme.toLowerCase()) throw refusal('authentication_required');
  if (rest.length > 0 || token.length > maxCertificateLength || !isJwt(token)) {
    throw refusal('certificate_malformed');
  }
  return token;
}

/** The digest covers the bytes that are parsed, so content encodings are rejected. */
function requirePlainBody({ headers }: Request): void {
  if (headers.has('content-encoding')) throw refusal('content_encoding_not_allowed');
}

function requireAuthority({ url }: Request, authorities: ReadonlySet<string>): void {
  if (!authorities.has(new URL(url).host)) throw refusal('misdirected_request');
}

async function requireBody(request: Request, options: BodyOptions): Promise<void> {
  const body = await readBody(request, options);
  const { method, headers } = request;
  if (methodsWithoutBody.has(method) && (body.length > 0 || announcesBody(headers))) throw refusal('body_not_allowed');
  const digest = headers.get('content-digest');
  if (body.length > 0 || digest !== null) await verifyContentDigest(digest, body);
}

/** Servers hide the body of a GET, but its `content-length` shows it. */
function announcesBody(headers: Headers): boolean {
  return headers.has('transfer-encoding') || Number(headers.get('content-length') ?? 0) > 0;
}

function principalOf(certificate: Certificate, persons: Pick<Principal, 'subject' | 'actor'>): Principal {
  const { tenant, agents, scopes, roles, deployment, issuer, sub, certificateId, keyThumbprint, rootKeyId } =
    certificate;
  const [issuedAt, expiresAt] = [certificate.issuedAt * 1000, certificate.expiresAt * 1000];
  const facts = { issuer, certificateId, keyThumbprint, rootKeyId, issuedAt, expiresAt };
  const session = Object.freeze({ ...facts, ...(sub !== persons.subject && { sub }) });
  return createPrincipal({
    via: 'http',
    tenant,
    ...persons,
    ...(roles.length > 0 && { roles }),
    agents,
    scopes,
    ...(deployment && { deployment }),
    session,
  });
}

/** The facts that a revocation may name before a request is verified: the subject that it names counts as well. */
function revocableBy(certificate: Certificate, { headers }: Request): Revocable {
  const { sub, subject, actor } = certificate;
  return { ...certificate, subjects: namesOf(sub, subject, actor, headers.get(subjectHeader)) };
}

/** The facts that a revocation may name; an in-process principal has none. */
function revocableOf({ subject, actor, session }: Principal): Revocable | undefined {
  return session && { ...session, subjects: namesOf(session.sub, subject, actor), issuedAt: session.issuedAt / 1000 };
}

function namesOf(...names: readonly (string | null | undefined)[]): readonly string[] {
  return [...new Set(names.filter((name) => typeof name === 'string'))];
}
