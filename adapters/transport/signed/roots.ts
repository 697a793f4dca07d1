/** The issuers that the endpoint trusts. */

import { PinnaceError } from '../../../src/base/errors.ts';

/** The public root key of an issuer, an Ed25519 JWK. */
export interface RootKey {
  readonly kty: 'OKP' | (string & {});
  readonly crv?: string;
  readonly x?: string;
  /** Its thumbprint (RFC 7638); certificates name it. */
  readonly kid: string;
}

/** An issuer of certificates. While it changes its root key it has two. */
export interface Issuer {
  /** The `iss` of its certificates. */
  readonly iss: string;
  readonly keys: readonly RootKey[];
  /** The tenants that it may issue for; any when absent. Name them where there are several issuers. */
  readonly tenants?: readonly string[];
  /**
   * Whether its certificates may speak for the deployment, which writes the registry's shared records. `false` when absent; never
   * together with `tenants`.
   */
  readonly deployment?: boolean;
}

/** The issuers, or a function that returns the current ones: a key that it no longer returns is no longer trusted. */
export type Issuers = readonly Issuer[] | (() => readonly Issuer[]);

export function mayDeploy({ tenants, deployment }: Issuer): boolean {
  return deployment === true && tenants === undefined;
}

export interface Root {
  readonly issuer: Issuer;
  readonly key: RootKey;
}

/** Finds root keys by `kid`, always among the current ones. */
export type FindRoot = (kid: string) => Root | undefined;

/**
 * @throws PinnaceError `invalid_argument` for a key that is not a public Ed25519 key with a `kid`, a repeated `kid`, or an issuer with
 * both `tenants` and `deployment`.
 */
export function createRoots(issuers: Issuers): FindRoot {
  const list = typeof issuers === 'function' ? issuers : () => issuers;
  checkIssuers(list());
  return (kid) => {
    for (const issuer of list()) {
      const key = issuer.keys.find((candidate) => candidate.kid === kid);
      if (key !== undefined) return { issuer, key };
    }
    return undefined;
  };
}

function checkIssuers(issuers: readonly Issuer[]): void {
  if (issuers.some((issuer) => !Array.isArray(issuer?.keys))) {
    throw invalidRoot('an issuer is { iss, keys }; pass "issuer.trusted", or what `pinnace keys` prints');
  }
  if (issuers.some(({ tenants, deployment }) => tenants !== undefined && deployment === true)) {
    throw invalidRoot('an issuer with "tenants" cannot have "deployment": leave one of them out');
  }
  const seen = new Set<string>();
  for (const { kid, ...key } of issuers.flatMap(({ keys }) => keys)) {
    if (typeof kid !== 'string' || kid === '') throw invalidRoot('each needs a "kid"');
    if (seen.has(kid)) throw invalidRoot('two have the same "kid"');
    seen.add(kid);
    if (key.kty !== 'OKP' || key.crv !== 'Ed25519' || typeof key.x !== 'string') throw invalidRoot('use Ed25519 JWKs');
    if ('d' in key) throw invalidRoot('one is a private key, give the public one');
  }
}

function invalidRoot(why: string): PinnaceError {
  return new PinnaceError('invalid_argument', `Cannot trust the root keys: ${why}`);
}
