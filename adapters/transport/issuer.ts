/** Issues session certificates, for development, tests, and Group Controllers without an issuer. */

import { checkScopes } from './check-scopes.ts';
import { checkOptions } from '../../src/base/check-options.ts';
import { calculateJwkThumbprint, exportJWK, importJWK, SignJWT } from 'jose';
import { PinnaceError } from '../../src/base/errors.ts';
import type { Scope } from '../../src/base/principal.ts';
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
  /** The session. */
  readonly sub: string;
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

/** A certificate and the private key that signs with it: what `createClient` takes. */
export interface SessionCredential {
  readonly certificate: string;
  readonly key: CryptoKey;
}

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
 * const { certificate, key } = await issuer.issue({ sub: 's1', tenant: 't1', agents: '*', scopes: ['run:create'] });
 */
export async function createIssuer(options: IssuerOptions): Promise<CertificateIssuer> {
  checkOptions('create the issuer', options, {
    iss: ['text', 'the "iss" of the certificates, such as "https://agents.example.com"', /^issuer$/],
    audience: ['text', 'the "aud" of the certificates: the audience of the endpoint', /^aud$/],
  });
  const { iss, audience, privateKey = await generateRootKey(), deployment = false, now = Date.now } = options;
  const { signingKey, publicKey } = await importRoot(privateKey);
  const certify: CertificateIssuer['certify'] = async (request) => {
    checkOptions('issue a certificate', request, {
      sub: ['text', 'the id of the session', /^subject$/],
      tenant: ['text', 'the id of the tenant'],
      agents: [request?.agents === '*' ? 'text' : 'array', '"*" or an array of ids'],
      scopes: ['array', 'an array, such as ["run:create"]', /^scope$/],
    });
    const { sub, tenant, agents, scopes, ttlSeconds = 600 } = request;
    checkScopes('issue a certificate', scopes);
    requireLifetime(ttlSeconds);
    requireDeployment(request, deployment);
    const { kty, crv, x } = await exportJWK(request.publicKey);
    const iat = Math.floor(now() / 1000);
    const times = { iat, nbf: iat, exp: iat + ttlSeconds };
    const claims = { iss, sub, aud: audience, ...times, jti: crypto.randomUUID(), cnf: { jwk: { kty, crv, x } } };
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
