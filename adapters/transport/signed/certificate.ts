/** Session certificates: who may sign requests for a while, with which key, for which tenant and agents. */

import { calculateJwkThumbprint, decodeProtectedHeader, errors, importJWK, type JWTPayload, jwtVerify } from 'jose';
import { BoundedMap } from '../../../src/base/bounded-map.ts';
import type { PinnaceError } from '../../../src/base/errors.ts';
import { isPrincipalName, type Scope, scopes as knownScopes } from '../../../src/base/principal.ts';
import { isActFor, isRoles } from './caller.ts';
import {
  certificateAlgorithms,
  certificateType,
  clockSkewSeconds,
  maxCertificateSeconds,
  refusal,
  type RefusalOptions,
  type RefusalReason,
} from './profile.ts';
import { type FindRoot, mayDeploy, type Root } from './roots.ts';

/** A certificate whose signature and claims were valid when it was parsed. Times are seconds. */
export interface Certificate {
  readonly issuer: string;
  /** The `jti`. */
  readonly certificateId: string;
  /** The `sub`: the subject, or its session where the claim `subject` names the subject. */
  readonly sub: string;
  /** Who owns what the caller creates, unless a request names another: the claim `subject`, otherwise `sub`. */
  readonly subject: string;
  /** Who speaks for the subject (`act.sub`, RFC 8693). */
  readonly actor?: string;
  /** The subjects that a request may name in `Pinnace-Subject` (`act_for`). */
  readonly actFor: readonly string[];
  readonly roles: readonly string[];
  readonly tenant: string;
  readonly agents: '*' | readonly string[];
  readonly scopes: readonly Scope[];
  /** Whether it speaks for the deployment. */
  readonly deployment: boolean;
  readonly issuedAt: number;
  readonly notBefore: number;
  readonly expiresAt: number;
  /** The `kid` of the root key that signed it, and the key itself. */
  readonly rootKeyId: string;
  readonly rootKey: string;
  readonly key: CryptoKey;
  readonly keyThumbprint: string;
}

/** Returns the subject of a certificate; `undefined` rejects it. Receives its claims, which are verified. */
export type SubjectOf = (claims: Readonly<Record<string, unknown>> & { readonly sub: string }) => string | undefined;

interface CertificateOptions {
  readonly findRoot: FindRoot;
  readonly audience: string;
  readonly nowSeconds: number;
  /** The claim `subject`, otherwise `sub`, when absent. */
  readonly subjectOf?: SubjectOf | undefined;
}

const requiredClaims = ['iss', 'sub', 'aud', 'iat', 'nbf', 'exp', 'jti', 'cnf', 'tenant', 'agents', 'scope'];

/**
 * Parses a certificate and checks everything that never changes: signature, type, claims, lifetime, key. {@link requireCurrent}
 * checks whether it is valid now.
 * @throws PinnaceError `certificate_malformed`, `certificate_untrusted`, `certificate_expired` or `certificate_invalid`.
 */
async function readCertificate(token: string, options: CertificateOptions): Promise<Certificate> {
  const root = findRootOf(token, options.findRoot);
  const claims = await verifiedClaims(token, root, options);
  const { agents, iat, nbf, exp, iss } = claims;
  if (claims.aud !== options.audience) throw invalid('certificate_for_other_audience');
  requireLifetime(claims, options);
  const tenant = textOf(claims['tenant'], 'tenant');
  if (root.issuer.tenants?.includes(tenant) === false) throw invalid('certificate_for_other_tenant');
  const scopes = scopesOf(claims['scope']);
  return Object.freeze({
    issuer: iss,
    certificateId: textOf(claims.jti, 'jti'),
    ...personsOf(claims, options),
    roles: listOf(claims['roles'], 'roles', isRoles),
    actFor: listOf(claims['act_for'], 'act_for', isActFor),
    tenant,
    agents: agentsOf(agents),
    scopes,
    deployment: deploymentOf(claims['deployment'], root, scopes),
    issuedAt: iat,
    notBefore: nbf,
    expiresAt: exp,
    rootKeyId: root.key.kid,
    rootKey: root.key.x ?? '',
    ...await sessionKeyOf(claims['cnf']),
  });
}

/**
 * Checks what may have changed since the certificate was parsed: the time, and whether its root key is still trusted, also for
 * the deployment where the certificate speaks for it.
 * @throws PinnaceError `certificate_expired`, `certificate_invalid` before its time, or `certificate_untrusted`.
 */
function requireCurrent(certificate: Certificate, { findRoot, nowSeconds }: CertificateOptions): void {
  if (certificate.expiresAt <= nowSeconds - clockSkewSeconds) throw refusal('certificate_expired', { nowSeconds });
  if (certificate.notBefore > nowSeconds + clockSkewSeconds) throw invalid('certificate_from_future', { nowSeconds });
  const root = findRoot(certificate.rootKeyId);
  if (root?.issuer.iss !== certificate.issuer || root.key.x !== certificate.rootKey) {
    throw refusal('certificate_untrusted');
  }
  if (certificate.deployment && !mayDeploy(root.issuer)) throw refusal('certificate_untrusted');
}

/** Finds the root key by the header alone; `jku`, `jwk` and `x5u` are not followed. */
function findRootOf(token: string, findRoot: FindRoot): Root {
  const { typ, alg, kid } = headerOf(token);
  if (typ !== certificateType || !certificateAlgorithms.includes(String(alg))) {
    throw invalid('certificate_type_invalid');
  }
  const root = typeof kid === 'string' ? findRoot(kid) : undefined;
  if (root === undefined) throw refusal('certificate_untrusted');
  return root;
}

function headerOf(token: string): ReturnType<typeof decodeProtectedHeader> {
  try {
    return decodeProtectedHeader(token);
  } catch (error) {
    throw refusal('certificate_malformed', { cause: error });
  }
}

/** The claims; these four are checked to be present and of these types. */
type Claims = JWTPayload & { readonly iss: string; readonly iat: number; readonly nbf: number; readonly exp: number };

async function verifiedClaims(token: string, { key, issuer }: Root, options: CertificateOptions): Promise<Claims> {
  const { kty, crv, x } = key;
  try {
    const { payload } = await jwtVerify(token, await importJWK({ kty, crv, x } as JsonWebKey, 'Ed25519'), { // safe: checked by `createRoots`
      algorithms: certificateAlgorithms,
      typ: certificateType,
      issuer: issuer.iss,
      audience: options.audience,
      clockTolerance: clockSkewSeconds,
      requiredClaims,
      currentDate: new Date(options.nowSeconds * 1000),
    });
    return payload as Claims; // safe: jose requires the claims, compares `iss` and checks that the times are numbers
  } catch (error) {
    const { nowSeconds } = options;
    if (error instanceof errors.JWTExpired) throw refusal('certificate_expired', { nowSeconds, cause: error });
    const reason = reasonOf(error);
    if (reason === 'certificate_claims_invalid') throw wrongClaim(error);
    throw invalid(reason, { cause: error, ...(reason === 'certificate_from_future' && { nowSeconds }) });
  }
}

function invalid(reason: RefusalReason, more: Omit<RefusalOptions, 'reason'> = {}): PinnaceError {
  return refusal('certificate_invalid', { reason, ...more });
}

/** Names the claim, where the library does. */
function wrongClaim(cause: unknown): PinnaceError {
  const { claim, reason } = cause instanceof errors.JWTClaimValidationFailed ? cause : {};
  const isMissing = reason === 'missing';
  return invalid('certificate_claims_invalid', {
    cause,
    claim: claim === 'unspecified' ? undefined : claim,
    isMissing,
  });
}

function invalidClaim(claim: string, more: Omit<RefusalOptions, 'reason'> = {}): PinnaceError {
  return invalid('certificate_claims_invalid', { claim, ...more });
}

function reasonOf(error: unknown): RefusalReason {
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'certificate_signature_invalid';
  if (!(error instanceof errors.JWTClaimValidationFailed)) return 'certificate_claims_invalid';
  const { claim, reason } = error;
  if (reason !== 'check_failed') return 'certificate_claims_invalid';
  if (claim === 'nbf') return 'certificate_from_future';
  if (claim === 'aud') return 'certificate_for_other_audience';
  return 'certificate_claims_invalid';
}

function requireLifetime({ iat, exp }: Claims, { nowSeconds }: CertificateOptions): void {
  if (exp <= iat) throw invalid('certificate_lifetime_negative');
  if (exp - iat > maxCertificateSeconds) throw invalid('certificate_lifetime_too_long');
  if (iat > nowSeconds + clockSkewSeconds) throw invalid('certificate_from_future', { nowSeconds });
}

function textOf(value: unknown, claim: string): string {
  if (!isPrincipalName(value)) throw invalidClaim(claim);
  return value;
}

/** Who is called what by a certificate: its session, the owner of what it creates, and who speaks for the owner. */
function personsOf(claims: Claims, { subjectOf }: CertificateOptions): Pick<Certificate, 'sub' | 'subject' | 'actor'> {
  const sub = textOf(claims.sub, 'sub');
  const { act, subject = sub } = claims;
  const named = subjectOf ? subjectFrom(subjectOf, { ...claims, sub }) : subject;
  const owner = textOf(named, 'subject');
  if (act === undefined) return { sub, subject: owner };
  const actor: unknown = typeof act === 'object' && act !== null && 'sub' in act ? act.sub : undefined;
  return { sub, subject: owner, actor: textOf(actor, 'act') };
}

function subjectFrom(subjectOf: SubjectOf, claims: Parameters<SubjectOf>[0]): string | undefined {
  try {
    return subjectOf(claims);
  } catch (cause) {
    throw invalidClaim('subject', { cause });
  }
}

/** A list of names; none when absent. */
function listOf(
  value: unknown,
  claim: string,
  isList: (value: unknown) => value is readonly string[],
): readonly string[] {
  if (value !== undefined && !isList(value)) throw invalidClaim(claim);
  return Object.freeze([...value ?? []]);
}

function agentsOf(claim: unknown): '*' | readonly string[] {
  if (claim === '*') return claim;
  if (!Array.isArray(claim)) throw invalidClaim('agents');
  return Object.freeze(claim.map((agent) => textOf(agent, 'agents')));
}

/** Unknown scopes grant nothing. */
function scopesOf(claim: unknown): readonly Scope[] {
  if (typeof claim !== 'string') throw invalidClaim('scope');
  const granted = claim.split(' ');
  return Object.freeze(knownScopes.filter((scope) => granted.includes(scope)));
}

/** The claim needs the scope `admin` and an issuer that may make it; otherwise the certificate is rejected. */
function deploymentOf(claim: unknown, { issuer }: Root, scopes: readonly Scope[]): boolean {
  if (claim === undefined || claim === false) return false;
  if (claim !== true || !mayDeploy(issuer) || !scopes.includes('admin')) {
    throw invalid('certificate_deployment_not_allowed');
  }
  return true;
}

/** The key of `cnf` (RFC 7800): exactly a public Ed25519 JWK. */
async function sessionKeyOf(cnf: unknown): Promise<{ readonly key: CryptoKey; readonly keyThumbprint: string }> {
  const { jwk } = recordOf(cnf, ['jwk']);
  const { kty, crv, x } = recordOf(jwk, ['crv', 'kty', 'x']);
  if (kty !== 'OKP' || crv !== 'Ed25519' || typeof x !== 'string') throw invalid('certificate_key_invalid');
  try {
    const key = await importJWK({ kty, crv, x }, 'Ed25519');
    return { key, keyThumbprint: await calculateJwkThumbprint({ kty, crv, x }) };
  } catch (error) {
    throw invalid('certificate_key_invalid', { cause: error });
  }
}

/** The claim as an object with these members and no others. */
function recordOf(claim: unknown, names: readonly string[]): Readonly<Record<string, unknown>> {
  if (typeof claim !== 'object' || claim === null) throw invalid('certificate_key_invalid');
  const own = Object.keys(claim);
  if (own.length !== names.length || !names.every((name) => own.includes(name))) {
    throw invalid('certificate_key_invalid');
  }
  return claim as Readonly<Record<string, unknown>>; // safe: an object
}

type VerifyCertificate = (token: string, options: CertificateOptions) => Promise<Certificate>;

/**
 * Caches the certificates used last, at most `maxEntries`. Facts that can change are checked every time: a certificate that has
 * expired, or whose root key was removed, is rejected although it is cached.
 */
export function createCertificateCache(
  { maxEntries }: { readonly maxEntries: number },
): VerifyCertificate {
  const known = new BoundedMap<string, Certificate>(maxEntries);
  return async (token, options) => {
    const certificate = known.get(token) ?? await readCertificate(token, options);
    requireCurrent(certificate, options);
    known.set(token, certificate);
    return certificate;
  };
}
