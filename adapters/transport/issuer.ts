/** Issues session certificates, for development, tests, and Group Controllers without an issuer. */

import { checkDelegation, type SessionCredential } from './signed/caller.ts';
import { checkAgents, checkScopes } from './check-scopes.ts';
import { checkKnownOptions, checkOptions, optional, wrongArgument } from '../../src/base/check-options.ts';
import { calculateJwkThumbprint, exportJWK, importJWK, SignJWT } from 'jose';
import { PinnaceError } from '../../src/base/errors.ts';
import { isPrincipalName, type Scope } from '../../src/base/principal.ts';
import { certificateType, maxCertificateSeconds } from './signed/profile.ts';
import type { Issuer, RootKey } from './signed/roots.ts';

/** A private root key as a JWK. Store it as a secret. */
export interface PrivateRootKey {
  readonly kty: 'OKP' | (string & {});
  readonly crv?: string;
  readonly x?: string;
  readonly d?: string;
}

/** The issuer and its endpoint. */
export interface IssuerOptions {
  /** The `iss` of the certificates. */
  readonly iss: string;
  /** The `aud` of the certificates: the audience that the endpoint is configured with. */
  readonly audience: string;
  /** The root key; a new one, which is lost with this object, when absent. */
  readonly privateKey?: PrivateRootKey;
  /** Whether its certificates may speak for the deployment: `trusted` then says so. `false` when absent. */
  readonly deployment?: boolean;
  /** Milliseconds since 1970; the clock of the platform when absent. */
  readonly now?: () => number;
}

/** The content of a certificate. */
export interface CertificateClaims {
  /**
   * Who owns what the caller creates: a person, or the group of a chat (`group:42`). The same with each renewal: runs, chats, files and
   * idempotency keys belong to tenant and subject.
   */
  readonly subject?: string;
  /** The session, which may change with each renewal. Owns nothing; a revocation may name it. The claim `sub`; the subject when absent. */
  readonly session?: string;
  /** The claim `sub` itself. Without `subject` it is the subject: never pass a session here. */
  readonly sub?: string;
  /** Who speaks for the subject, such as a member of the group. The claim `act` (RFC 8693). */
  readonly actor?: string;
  /** The subjects that requests may name in `Pinnace-Subject`: whole names, or prefixes (`shop:*`). The claim `act_for`. */
  readonly actFor?: readonly string[];
  /** The caller's roles, which rules and approvers name. */
  readonly roles?: readonly string[];
  readonly tenant: string;
  readonly agents: '*' | readonly string[];
  readonly scopes: readonly Scope[];
  /** Speaks for the deployment, which writes the registry's shared records. Needs the scope `admin` and an issuer that may. */
  readonly deployment?: boolean;
  /** At most 900; 600 is recommended. */
  readonly ttlSeconds?: number;
}

/** The content of a certificate, and its key. */
export interface CertificateRequest extends CertificateClaims {
  /** The session's key pair; when absent, a new one whose private key cannot be exported. */
  readonly keys?: CryptoKeyPair;
}

export type { SessionCredential } from './signed/caller.ts';

/** Issues certificates with one root key. */
export interface CertificateIssuer {
  /** The entry for the `issuers` of `createAuthenticator`. */
  readonly trusted: Issuer;
  issue(request: CertificateRequest): Promise<SessionCredential>;
  /** Returns a certificate for a public key whose private key another party holds. */
  certify(request: CertificateClaims & { readonly publicKey: CryptoKey }): Promise<string>;
}

/** Returns a new private root key, to be stored for more than one issuer object. */
export async function generateRootKey(): Promise<PrivateRootKey> {
  const { privateKey } = await generateKeys(true);
  const { kty = 'OKP', crv = '', x = '', d = '' } = await exportJWK(privateKey);
  return { kty, crv, x, d };
}

/**
 * Creates an issuer.
 *
 * @throws PinnaceError `invalid_argument` when the key is not a private Ed25519 JWK.
 * @example
 * const issuer = await createIssuer({ iss: 'https://gc.example', audience: 'agents-worker' });
 * const { certificate, key } = await issuer.issue({ subject: 'ada', tenant: 'acme', agents: '*', scopes: ['run:create'] });
 */
export async function createIssuer(options: IssuerOptions): Promise<CertificateIssuer> {
  checkKnownOptions('create the issuer', options, {
    iss: ['text', 'the "iss" of the certificates, such as "https://agents.example.com"', /^issuer$/],
    audience: ['text', 'the "aud" of the certificates: the audience of the endpoint', /^aud$/],
    ...optional('privateKey', 'deployment', 'now'),
  });
  const { iss, audience, privateKey = await generateRootKey(), deployment = false, now = Date.now } = options;
  const { signingKey, publicKey } = await importRoot(privateKey);
  const certify: CertificateIssuer['certify'] = async (request) => {
    checkOptions('issue a certificate', request, {
      tenant: ['text', 'the id of the tenant'],
      agents: [request?.agents === '*' ? 'text' : 'array', '"*" or an array of ids'],
      scopes: ['array', 'an array, such as ["run:create"]', /^scope$/],
    });
    const { tenant, agents, scopes, ttlSeconds = 600 } = request;
    checkScopes('issue a certificate', scopes);
    checkAgents('issue a certificate', agents);
    checkDelegation('issue a certificate', request);
    const persons = personsOf(request);
    requireLifetime(ttlSeconds);
    requireDeployment(request, deployment);
    const { kty, crv, x } = await exportJWK(request.publicKey);
    const iat = Math.floor(now() / 1000);
    const times = { iat, nbf: iat, exp: iat + ttlSeconds };
    const claims = {
      iss,
      ...persons,
      aud: audience,
      ...times,
      jti: crypto.randomUUID(),
      cnf: { jwk: { kty, crv, x } },
    };
    const deploys = request.deployment === true && { deployment: true };
    return await new SignJWT({ ...claims, tenant, agents, scope: scopes.join(' '), ...deploys })
      .setProtectedHeader({ alg: 'Ed25519', typ: certificateType, kid: publicKey.kid })
      .sign(signingKey);
  };
  return {
    trusted: { iss, keys: [publicKey], ...(deployment && { deployment }) },
    certify,
    async issue({ keys, ...claims }) {
      const session = keys ?? await generateKeys(false);
      return { certificate: await certify({ ...claims, publicKey: session.publicKey }), key: session.privateKey };
    },
  };
}

/** The claims that say whom a certificate is about. @throws PinnaceError `invalid_argument` without a subject, or for what is no name. */
function personsOf(request: CertificateClaims): { readonly sub: string } & Readonly<Record<string, unknown>> {
  const { subject, session, actor, actFor, roles } = request;
  if (request.sub !== undefined && session !== undefined) {
    throw wrongArgument('issue a certificate', 'session', '"session" and "sub" are the same claim; pass one of them');
  }
  const sub = request.sub ?? session ?? subject;
  if ((subject ?? request.sub) === undefined) {
    throw wrongArgument('issue a certificate', 'subject', '"subject" is missing; pass the id of the person or group');
  }
  for (const [field, value] of Object.entries({ subject: subject ?? sub, sub, actor, tenant: request.tenant })) {
    if (isPrincipalName(value) || (field === 'actor' && value === undefined)) continue;
    throw wrongArgument('issue a certificate', field, `"${field}" must be 1 to 256 characters, none of them a control`);
  }
  return {
    sub: String(sub),
    ...(subject !== undefined && subject !== sub && { subject }),
    ...(actor !== undefined && { act: { sub: actor } }),
    ...(actFor && { act_for: actFor }),
    ...(roles && { roles }),
  };
}

async function generateKeys(extractable: boolean): Promise<CryptoKeyPair> {
  return await crypto.subtle.generateKey('Ed25519', extractable, ['sign', 'verify']);
}

async function importRoot({ kty, crv, x, d }: PrivateRootKey): Promise<{ signingKey: CryptoKey; publicKey: RootKey }> {
  if (kty !== 'OKP' || crv !== 'Ed25519' || x === undefined || d === undefined) {
    throw new PinnaceError('invalid_argument', 'Cannot issue certificates: the root key must be a private Ed25519 JWK');
  }
  const jwk = { kty: 'OKP', crv, x, d } as const;
  const signingKey = await importJWK(jwk, 'Ed25519', { extractable: false });
  return { signingKey, publicKey: { kty, crv, x, kid: await calculateJwkThumbprint({ kty, crv, x }) } };
}

function requireDeployment({ deployment, scopes }: CertificateClaims, mayDeploy: boolean): void {
  if (deployment !== true || (mayDeploy && scopes.includes('admin'))) return;
  const why = mayDeploy ? 'it lacks the scope "admin"' : 'the issuer was created without "deployment"';
  throw new PinnaceError('invalid_argument', `Cannot issue a certificate for the deployment: ${why}`);
}

function requireLifetime(ttlSeconds: number): void {
  if (Number.isInteger(ttlSeconds) && ttlSeconds > 0 && ttlSeconds <= maxCertificateSeconds) return;
  throw new PinnaceError(
    'invalid_argument',
    `Cannot issue a certificate for ${ttlSeconds} s: use 1 to ${maxCertificateSeconds}`,
  );
}
