/** A Group Controller's session with an endpoint: an issuer, a certificate, signed requests, and a clock that only tests move. */

import { createSignature, type SignatureParameters, webcrypto } from 'http-message-sig';
import { calculateJwkThumbprint, exportJWK, importJWK, type JWK, SignJWT } from 'jose';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import {
  type AuthenticatorOptions,
  createAuthenticator,
  type SignedAuthenticator,
} from '../../../../adapters/transport/authenticator.ts';
import { generateRootKey, type PrivateRootKey } from '../../../../adapters/transport/issuer.ts';
import {
  createContentDigest,
  type SigningOptions,
  signRequest,
  type UnsignedRequest,
} from '../../../../adapters/transport/signed/signature.ts';

export const startSeconds = 1_800_000_000;
export const iss = 'https://gc.example';
export const audience = 'agents-worker:test';
export const url = 'https://worker.example/v1/runs?stream=1';

export interface TestClock {
  readonly now: () => number;
  readonly advance: (seconds: number) => void;
}

export function createClock(): TestClock {
  let ms = startSeconds * 1000;
  return { now: () => ms, advance: (seconds) => void (ms += seconds * 1000) };
}

/** A root key as an issuer keeps it and as an endpoint trusts it. */
export interface TestRoot {
  readonly secret: PrivateRootKey;
  readonly trusted: { readonly kty: string; readonly crv: string; readonly x: string; readonly kid: string };
}

export async function createRoot(): Promise<TestRoot> {
  const secret = await generateRootKey();
  const { kty, crv = '', x = '' } = secret;
  return { secret, trusted: { kty, crv, x, kid: await calculateJwkThumbprint({ kty, crv, x }) } };
}

export interface TestKeys {
  readonly privateKey: CryptoKey;
  readonly publicJwk: { readonly kty: string; readonly crv: string; readonly x: string };
  readonly thumbprint: string;
}

export async function createKeys(): Promise<TestKeys> {
  const { privateKey, publicKey } = await crypto.subtle.generateKey('Ed25519', false, ['sign', 'verify']);
  const { kty = '', crv = '', x = '' } = await exportJWK(publicKey);
  return { privateKey, publicJwk: { kty, crv, x }, thumbprint: await calculateJwkThumbprint({ kty, crv, x }) };
}

/** Signs a certificate that may be as wrong as a test wants. `undefined` removes a claim. */
export async function forgeCertificate(
  { root, keys, nowSeconds = startSeconds, claims = {}, header = {} }: {
    root: TestRoot;
    keys: TestKeys;
    nowSeconds?: number;
    claims?: Record<string, unknown>;
    header?: Record<string, unknown>;
  },
): Promise<string> {
  const right = {
    iss,
    sub: 'session-1',
    aud: audience,
    iat: nowSeconds,
    nbf: nowSeconds,
    exp: nowSeconds + 600,
    jti: 'certificate-1',
    cnf: { jwk: keys.publicJwk },
    tenant: 'tenant-1',
    agents: ['helper'],
    scope: 'run:create run:read',
  };
  return await new SignJWT({ ...right, ...claims })
    .setProtectedHeader({ alg: 'Ed25519', typ: 'gc-session+jwt', kid: root.trusted.kid, ...header })
    .sign(await importJWK(root.secret as JWK, 'Ed25519'));
}

/** What a request is made of; a test changes one thing. */
export interface RequestParts {
  readonly method?: string;
  readonly url?: string;
  readonly body?: string | null;
  /** Before signing; `null` removes one. */
  readonly headers?: Readonly<Record<string, string | null>>;
  /** After signing. */
  readonly altered?: Readonly<Record<string, string | null>>;
  readonly nowSeconds?: number;
  readonly nonce?: string;
  readonly keyThumbprint?: string;
  readonly key?: CryptoKey;
  readonly certificate?: string;
  /** Parameters of the signature that `signRequest` would never make. */
  readonly parameters?: SignatureParameters;
}

let nonces = 0;

/** A session that is right in everything. */
export interface TestSession {
  readonly clock: TestClock;
  readonly root: TestRoot;
  readonly keys: TestKeys;
  readonly certificate: string;
  readonly authenticator: SignedAuthenticator;
  readonly request: (parts?: RequestParts) => Promise<Request>;
}

export async function createSession(
  { claims = {}, ...options }: Partial<AuthenticatorOptions> & { claims?: Record<string, unknown> } = {},
): Promise<TestSession> {
  const clock = createClock();
  const [root, keys] = await Promise.all([createRoot(), createKeys()]);
  const certificate = await forgeCertificate({ root, keys, claims });
  const authenticator = createAuthenticator({
    issuers: [{ iss, keys: [root.trusted] }],
    audience,
    authorities: ['worker.example'],
    storage: memoryStorage({ now: clock.now }),
    now: clock.now,
    every: () => () => {},
    ...options,
  });
  const signer = { certificate, keys, clock };
  return { clock, root, keys, certificate, authenticator, request: (parts) => buildRequest(parts, signer) };
}

async function buildRequest(
  parts: RequestParts = {},
  { certificate, keys, clock }: { certificate: string; keys: TestKeys; clock: TestClock },
): Promise<Request> {
  const { method = 'POST', body = method === 'POST' ? '{"agentId":"helper"}' : null } = parts;
  const headers = new Headers({ authorization: `GC-Session ${parts.certificate ?? certificate}` });
  if (body !== null) {
    headers.set('content-type', 'application/json');
    headers.set('content-digest', await createContentDigest(new TextEncoder().encode(body)));
    headers.set('idempotency-key', '"8e03978e-40d5-43e8-bc93-6894a57f9324"');
  }
  change(headers, parts.headers);
  const target = new URL(parts.url ?? url);
  const signing = {
    key: parts.key ?? keys.privateKey,
    keyThumbprint: parts.keyThumbprint ?? keys.thumbprint,
    nowSeconds: parts.nowSeconds ?? Math.floor(clock.now() / 1000),
    nonce: parts.nonce ?? `nonce-for-tests-${++nonces}`,
  };
  const unsigned = { method, url: target, headers };
  const signed = parts.parameters === undefined
    ? await signRequest(unsigned, signing)
    : await signOddly(unsigned, { ...signing, parameters: parts.parameters });
  change(signed, parts.altered);
  return new Request(target, { method, headers: signed, ...(body !== null && { body }) });
}

/** Signs with any parameters, over all headers. */
async function signOddly(
  { method, url: target, headers }: UnsignedRequest,
  { key, keyThumbprint, nowSeconds, nonce, parameters }: SigningOptions & { parameters: SignatureParameters },
): Promise<Headers> {
  const right = {
    created: nowSeconds,
    expires: nowSeconds + 60,
    nonce,
    keyid: keyThumbprint,
    alg: 'ed25519',
    tag: 'agents-worker-v1',
  };
  const fields = [...headers].map(([name, value]) => ({ name, value }));
  const made = await createSignature({ kind: 'request', method, targetUri: target.href, fields }, {
    label: 'gc',
    components: ['@method', '@authority', '@path', '@query', ...headers.keys()],
    parameters: { ...right, ...parameters },
    signer: webcrypto.signer(key),
  });
  const signed = new Headers(headers);
  signed.set('signature', made.signature);
  signed.set('signature-input', made.signatureInput);
  return signed;
}

function change(headers: Headers, changes: Readonly<Record<string, string | null>> = {}): void {
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) headers.delete(name);
    else headers.set(name, value);
  }
}

/** The same request with one thing changed, as a man in the middle would. */
export async function tamper(
  request: Request,
  { method = request.method, url: target = request.url, headers: changes = {}, body }: {
    method?: string;
    url?: string;
    headers?: Readonly<Record<string, string | null>>;
    body?: string;
  },
): Promise<Request> {
  const headers = new Headers(request.headers);
  change(headers, changes);
  const own = request.body === null ? null : await request.clone().text();
  const sent = body ?? own;
  return new Request(target, { method, headers, ...(sent !== null && method !== 'GET' && { body: sent }) });
}

/** `401 signature_invalid`, or `ok`: what an authenticator says of a request. */
export async function verdict(authenticator: SignedAuthenticator, request: Request): Promise<string> {
  try {
    await authenticator.authenticate(request);
    return 'ok';
  } catch (error) {
    const { status, code } = error as { status?: number; code?: string };
    if (status === undefined) throw error;
    return `${status} ${code}`;
  }
}

/** A server's request names the length of its body; a browser drops that header from the requests that it makes. */
export function withContentLength(request: Request, length: number): Request {
  const headers = new Headers(request.headers);
  headers.set('content-length', String(length));
  return Object.defineProperty(request, 'headers', { value: headers });
}
