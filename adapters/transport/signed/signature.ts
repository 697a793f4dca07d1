/** Creates and verifies HTTP message signatures (RFC 9421) of the profile. */

import { createSignature, isSignatureError, SignatureErrorCode, verifySignature, webcrypto } from 'http-message-sig';
import { type InnerList, parseDictionary, serializeDictionary } from 'structured-headers';
import {
  alwaysCovered,
  clockSkewSeconds,
  coveredWherePresent,
  coveredWithBody,
  maxSignatureHeaderLength,
  maxSignatureSeconds,
  nonceForm,
  requiredParameters,
  signatureAlgorithm,
  signatureLabel,
  signatureTag,
} from './profile.ts';
import { refusal, type RefusalCode } from './refusal.ts';

/** A request to sign, complete but for the signature. */
export interface UnsignedRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Headers;
}

/** The signer and the time. */
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
 *
 * @throws PinnaceError `signature_missing` or `signature_malformed`.
 */
export function requireSignature({ headers }: Request): void {
  const both = [headers.get('signature'), headers.get('signature-input')];
  if (both.includes(null)) throw refusal('signature_missing');
  if (both.some((header) => header !== null && header.length > maxSignatureHeaderLength)) {
    throw refusal('signature_malformed');
  }
}

/** The expected signer, and the time. */
export interface VerificationOptions {
  readonly key: CryptoKey;
  readonly keyThumbprint: string;
  readonly nowSeconds: number;
}

/**
 * Verifies the signature of a request and returns its nonce, which is not yet checked to be unused.
 *
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
    const code = codeOf(error, { request, requiredComponents, nowSeconds });
    const isClock = code === 'signature_expired' || code === 'signature_from_future';
    throw refusal(code, { cause: error, ...(isClock && { nowSeconds }) });
  });
  const { created = 0, expires = 0, nonce = '', keyid, tag } = parameters;
  const lifetime = expires - created;
  if (tag !== signatureTag || keyid !== options.keyThumbprint) throw refusal('signature_invalid');
  if (lifetime <= 0) throw refusal('signature_invalid', { reason: 'signature_lifetime_negative' });
  if (lifetime > maxSignatureSeconds) throw refusal('signature_invalid', { reason: 'signature_lifetime_too_long' });
  if (!nonceForm.test(nonce) || !isSpelledSo(request, signature)) throw refusal('signature_malformed');
  return { nonce };
}

/** What the signature of this request must cover. */
function componentsOf({ method, headers, body }: Request): readonly string[] {
  const present = coveredWherePresent.filter((name) => headers.has(name));
  const hasBody = body !== null && headers.get('content-length') !== '0' && !methodsWithoutBody.has(method);
  return [...alwaysCovered, ...new Set([...present, ...hasBody ? coveredWithBody : []])];
}

/** Methods for which servers provide a body that turns out to be empty. */
export const methodsWithoutBody: ReadonlySet<string> = new Set(['GET', 'HEAD', 'DELETE']);

/** The last character of base64 has unused bits: only one spelling of a signature is accepted. */
function isSpelledSo({ headers }: Request, signature: Uint8Array): boolean {
  const member = serializeDictionary(new Map([[signatureLabel, [signature.slice(), new Map()]]]));
  return headers.get('signature')?.includes(member) === true;
}

interface Facts {
  readonly request: Request;
  readonly requiredComponents: readonly string[];
  readonly nowSeconds: number;
}

function codeOf(error: unknown, facts: Facts): RefusalCode {
  if (!isSignatureError(error)) return 'signature_malformed';
  switch (error.code) {
    case SignatureErrorCode.MissingField:
      return 'component_missing';
    case SignatureErrorCode.VerificationFailed:
    case SignatureErrorCode.AlgorithmMismatch:
      return 'signature_invalid';
    case SignatureErrorCode.PolicyViolation:
      return violationOf(facts);
    default:
      return 'signature_malformed';
  }
}

/** Returns which rule of the policy was broken: the library has only a text for it. The library could parse the header, so this can. */
function violationOf({ request, requiredComponents, nowSeconds }: Facts): RefusalCode {
  const inputs = parseDictionary(request.headers.get('signature-input') ?? '');
  const [components, parameters] = inputs.get(signatureLabel) as InnerList; // safe: so the library found it
  const covered = components.filter(([, { size }]) => size === 0).map(([name]) => name);
  if (requiredComponents.some((name) => !covered.includes(name))) return 'component_missing';
  if (requiredParameters.some((name) => !parameters.has(name))) return 'signature_malformed';
  const created = Number(parameters.get('created'));
  const oldest = nowSeconds - clockSkewSeconds;
  if (created > nowSeconds + clockSkewSeconds) return 'signature_from_future';
  if (Number(parameters.get('expires')) < oldest || created + maxSignatureSeconds < oldest) return 'signature_expired';
  return 'signature_invalid';
}
