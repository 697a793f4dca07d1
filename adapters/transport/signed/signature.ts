/** Creates and verifies HTTP message signatures (RFC 9421) of the profile. */

import { createSignature, isSignatureError, SignatureErrorCode, verifySignature, webcrypto } from 'http-message-sig';
import { type Dictionary, type InnerList, isInnerList, parseDictionary, serializeDictionary } from 'structured-headers';
import type { PinnaceError } from '../../../src/base/errors.ts';
import {
  alwaysCovered,
  clockSkewSeconds,
  coveredWherePresent,
  coveredWithBody,
  maxSignatureHeaderLength,
  maxSignatureSeconds,
  nonceForm,
  refusal,
  requiredParameters,
  signatureAlgorithm,
  signatureLabel,
  signatureTag,
} from './profile.ts';

export interface UnsignedRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Headers;
}

export interface SigningOptions {
  readonly key: CryptoKey;
  readonly keyThumbprint: string;
  readonly nowSeconds: number;
  readonly nonce: string;
}

/** Returns the headers with those of the signature added. It covers every component of the profile that the request has. */
export async function signRequest(
  { method, url, headers }: UnsignedRequest,
  options: SigningOptions,
): Promise<Headers> {
  const fields = [...headers].map(([name, value]) => ({ name, value }));
  const { signature, signatureInput } = await createSignature(
    { kind: 'request', method, targetUri: url.href, fields },
    {
      label: signatureLabel,
      components: [...alwaysCovered, ...coveredWherePresent.filter((name) => headers.has(name))],
      parameters: {
        created: options.nowSeconds,
        expires: options.nowSeconds + maxSignatureSeconds,
        nonce: options.nonce,
        keyid: options.keyThumbprint,
        alg: signatureAlgorithm,
        tag: signatureTag,
      },
      signer: webcrypto.signer(options.key),
    },
  );
  const signed = new Headers(headers);
  signed.set('signature', signature);
  signed.set('signature-input', signatureInput);
  return signed;
}

/**
 * Checks that there is a signature within the size limit, before anything is computed.
 * @throws PinnaceError `signature_missing` or `signature_malformed`.
 */
export function requireSignature({ headers }: Request): void {
  const both = [headers.get('signature'), headers.get('signature-input')];
  if (both.includes(null)) throw refusal('signature_missing');
  if (both.some((header) => header !== null && header.length > maxSignatureHeaderLength)) {
    throw refusal('signature_malformed');
  }
}

interface VerificationOptions {
  readonly key: CryptoKey;
  readonly keyThumbprint: string;
  readonly nowSeconds: number;
}

/**
 * Verifies the signature of a request and returns its nonce, which is not yet checked to be unused.
 * @throws PinnaceError with the code of what is wrong.
 */
export async function verifyRequest(
  request: Request,
  options: VerificationOptions,
): Promise<{ readonly nonce: string }> {
  const requiredComponents = componentsOf(request);
  const { parameters, signature } = await verifySignature(request, {
    label: signatureLabel,
    policy: {
      algorithms: [signatureAlgorithm],
      requiredComponents,
      requiredParameters,
      maxAge: maxSignatureSeconds,
      clockSkew: clockSkewSeconds,
      now: options.nowSeconds,
    },
    resolveVerifier: () => webcrypto.verifier(options.key),
  }).catch((error: unknown) => {
    const { nowSeconds } = options;
    throw refusalOf(error, { request, requiredComponents, nowSeconds });
  });
  const { created = 0, expires = 0, nonce = '', keyid, tag } = parameters;
  const lifetime = expires - created;
  if (tag !== signatureTag || keyid !== options.keyThumbprint) throw refusal('signature_invalid');
  if (lifetime <= 0) throw refusal('signature_invalid', { reason: 'signature_lifetime_negative' });
  if (lifetime > maxSignatureSeconds) throw refusal('signature_invalid', { reason: 'signature_lifetime_too_long' });
  if (!nonceForm.test(nonce)) throw refusal('signature_malformed', { reason: 'signature_nonce_invalid' });
  if (!isSpelledSo(request, signature)) throw refusal('signature_malformed');
  return { nonce };
}

function componentsOf({ method, headers, body }: Request): readonly string[] {
  const present = coveredWherePresent.filter((name) => headers.has(name));
  const hasBody = body !== null && headers.get('content-length') !== '0' && !methodsWithoutBody.has(method);
  return [...alwaysCovered, ...new Set([...present, ...hasBody ? coveredWithBody : []])];
}

/** Methods for which servers provide a body that turns out to be empty. */
export const methodsWithoutBody: ReadonlySet<string> = new Set(['GET', 'HEAD', 'DELETE']);

/** The last character of base64 has unused bits: only one spelling of a signature is accepted. */
function isSpelledSo({ headers }: Request, signature: Uint8Array): boolean {
  const member = serializeDictionary(new Map([[signatureLabel, [new Uint8Array(signature).buffer, new Map()]]]));
  return headers.get('signature')?.includes(member) === true;
}

interface Facts {
  readonly request: Request;
  readonly requiredComponents: readonly string[];
  readonly nowSeconds: number;
}

function refusalOf(cause: unknown, facts: Facts): PinnaceError {
  if (!isSignatureError(cause)) return refusal('signature_malformed', { cause });
  switch (cause.code) {
    case SignatureErrorCode.MissingField:
      return refusal('component_missing', { cause });
    case SignatureErrorCode.VerificationFailed:
    case SignatureErrorCode.AlgorithmMismatch:
      return refusal('signature_invalid', { cause });
    case SignatureErrorCode.PolicyViolation:
      return violationOf(cause, facts);
    default:
      return refusal('signature_malformed', { cause });
  }
}

/** Returns which rule of the policy was broken: the library has only a text for it. The library could parse the header, so this can. */
function violationOf(cause: unknown, { request, requiredComponents, nowSeconds }: Facts): PinnaceError {
  const inputs = parseDictionary(request.headers.get('signature-input') ?? '');
  const [components, parameters] = inputs.get(signatureLabel) as InnerList; // safe: so the library found it
  const covered = components.filter(([, { size }]) => size === 0).map(([name]) => name);
  const uncovered = requiredComponents.filter((name) => !covered.includes(name));
  if (uncovered.length > 0) return refusal('component_missing', { cause, lacks: uncovered });
  const absent = requiredParameters.filter((name) => !parameters.has(name));
  if (absent.length > 0) {
    return refusal('signature_malformed', { cause, reason: 'signature_parameter_missing', lacks: absent });
  }
  const created = Number(parameters.get('created'));
  const oldest = nowSeconds - clockSkewSeconds;
  if (created > nowSeconds + clockSkewSeconds) return refusal('signature_from_future', { cause, nowSeconds });
  const isOld = Number(parameters.get('expires')) < oldest || created + maxSignatureSeconds < oldest;
  return isOld ? refusal('signature_expired', { cause, nowSeconds }) : refusal('signature_invalid', { cause });
}

const algorithms: ReadonlyMap<string, string> = new Map([['sha-256', 'SHA-256'], ['sha-512', 'SHA-512']]);

/** Both digests take 140 characters; the rest is room for algorithms that are ignored. */
const longestHeader = 1024;

export async function createContentDigest(body: Uint8Array<ArrayBuffer>): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', body);
  return serializeDictionary(new Map([['sha-256', [digest, new Map()]]]));
}

/**
 * Checks the header against the body: every known digest must match, and there must be one.
 * @throws PinnaceError `digest_missing` without a known digest, `digest_mismatch` when one differs.
 */
export async function verifyContentDigest(header: string | null, body: Uint8Array<ArrayBuffer>): Promise<void> {
  const digests = header === null || header.length > longestHeader ? undefined : readDictionary(header);
  const known = [...algorithms].filter(([name]) => digests?.has(name));
  if (digests === undefined || known.length === 0) throw refusal('digest_missing');
  for (const [name, algorithm] of known) {
    const claimed = bytesOf(digests, name);
    const actual = new Uint8Array(await crypto.subtle.digest(algorithm, body));
    if (claimed === undefined || !isSame(claimed, actual)) throw refusal('digest_mismatch');
  }
}

function readDictionary(header: string): Dictionary | undefined {
  try {
    return parseDictionary(header);
  } catch {
    return undefined;
  }
}

function bytesOf(digests: Dictionary, name: string): Uint8Array | undefined {
  const member = digests.get(name);
  if (member === undefined || isInnerList(member) || !(member[0] instanceof ArrayBuffer)) return undefined;
  return new Uint8Array(member[0]);
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}
