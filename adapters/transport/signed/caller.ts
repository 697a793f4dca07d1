/** Who calls, for whom, and with which retry: what authenticators, routes and clients share of a request's headers. */

import type { JSONWebKeySet, JWTPayload } from 'jose';
import { isInnerList, type Item, parseItem } from 'structured-headers';
import { wrongArgument } from '../../../src/base/check-options.ts';
import { PinnaceError } from '../../../src/base/errors.ts';
import type { PrivateOrigins } from '../../../src/base/origins.ts';
import { isPrincipalName, type Principal } from '../../../src/base/principal.ts';
import type { Authenticator, NonceVerifier } from '../../../src/contracts/authenticator.ts';
import type { Egress } from '../../../src/contracts/egress.ts';

/** The header that names the owner of what a request creates. A signature must cover it. */
export const subjectHeader = 'pinnace-subject';

/** Whom the credentials of a caller stand for, and whom it may name instead. */
interface Caller {
  readonly subject: string;
  /** Who speaks for the subject, where the credentials say so. */
  readonly actor?: string | undefined;
  /** The subjects that a request may name: whole names, or prefixes with `*`. None when absent. */
  readonly actFor?: readonly string[] | undefined;
}

/**
 * Returns the owner of what a request creates, and who speaks for it: without the header, those of the credentials. A caller that names
 * another is the actor, unless its credentials name one.
 * @throws PinnaceError `invalid_argument` (reason `invalid_subject`) for a header that is no name, and `forbidden` (reason
 * `not_delegated`) for a subject that the credentials do not allow.
 */
export function actingFor(
  { headers }: Request,
  { subject, actor, actFor = [] }: Caller,
): { readonly subject: string; readonly actor?: string } {
  const named = headers.get(subjectHeader) ?? subject;
  if (named === subject) return { subject, ...(actor !== undefined && { actor }) };
  if (!isSubjectHeader(named)) {
    throw new PinnaceError(
      'invalid_argument',
      'Cannot read Pinnace-Subject: send one name of 1 to 256 visible ASCII characters, without commas',
      { details: { reason: 'invalid_subject' } },
    );
  }
  if (!actFor.some((pattern) => matches(named, pattern))) throw notDelegated();
  return { subject: named, actor: actor ?? subject };
}

/** Checks that an authenticator has heeded the header: one that ignores it would file what is another's under the caller. */
export function requireNamedSubject({ headers }: Request, { subject }: Pick<Caller, 'subject'>): void {
  if ((headers.get(subjectHeader) ?? subject) !== subject) throw notDelegated();
}

function notDelegated(): PinnaceError {
  return new PinnaceError(
    'forbidden',
    'Cannot act for the subject of Pinnace-Subject: the credentials of the caller do not allow it',
    { details: { reason: 'not_delegated' } },
  );
}

/** Whether a text can be sent as the header: two headers are joined by a comma, and characters beyond ASCII depend on the server. */
export function isSubjectHeader(text: unknown): text is string {
  return isPrincipalName(text) && /^[\x21-\x2b\x2d-\x7e]+$/.test(text);
}

function matches(name: string, pattern: string): boolean {
  return pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
}

/** The most patterns of one caller. */
const mostPatterns = 64;

export function isActFor(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.length <= mostPatterns && value.every(isPattern);
}

/** A star within a name would read as a wildcard and be none. */
function isPattern(value: unknown): boolean {
  return isPrincipalName(value) && !value.slice(0, -1).includes('*');
}

/** Checks roles and subjects of a caller that a composition configures. @throws PinnaceError `invalid_argument`. */
export function checkDelegation(
  action: string,
  { actFor, roles }: { readonly actFor?: unknown; readonly roles?: unknown },
): void {
  if (actFor !== undefined && !isActFor(actFor)) {
    throw wrongArgument(action, 'actFor', '"actFor" must be an array of names and prefixes, such as ["shop:*"]');
  }
  if (roles !== undefined && !isRoles(roles)) {
    throw wrongArgument(action, 'roles', '"roles" must be an array of names, such as ["finance"]');
  }
}

export function isRoles(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.length <= mostPatterns && value.every(isPrincipalName);
}

/**
 * Returns the token of `Authorization: Bearer …`; `undefined` where there is none, or a longer one. The scheme is case-insensitive
 * (RFC 9110, section 11.1).
 */
export function bearerTokenOf({ headers }: Request, maxLength: number): string | undefined {
  const token = /^Bearer +([\x21-\x7e]+)$/i.exec(headers.get('authorization') ?? '')?.[1];
  return token !== undefined && token.length <= maxLength ? token : undefined;
}

/** Whether a token has the form of a JSON Web Token in its compact serialization (RFC 7515). */
export function isJwt(token: string): boolean {
  return /^[\w-]+\.[\w-]+\.[\w-]+$/.test(token);
}

/** The fewest and most characters that a key may have. */
export const idempotencyKeyLength = { min: 16, max: 255 } as const;

/** Room for every character escaped, and the quotes. */
const longestHeader = 2 * idempotencyKeyLength.max + 2;

/**
 * @throws PinnaceError with status 400: `idempotency_key_missing`, or `idempotency_key_malformed` for anything other than one
 * string of 16 to 255 characters without parameters.
 */
export function parseIdempotencyKey(header: string | null): string {
  if (header === null) {
    const advice =
      'send a header such as Idempotency-Key: "turn-17-of-chat-c1", or use POST /v1/agents/<id>/chat for useChat';
    throw new PinnaceError('idempotency_key_missing', `Cannot start: ${advice}`);
  }
  const key = header.length > longestHeader ? undefined : readString(header);
  if (key === undefined || key.length < idempotencyKeyLength.min || key.length > idempotencyKeyLength.max) {
    const right = `a quoted string of ${idempotencyKeyLength.min} to ${idempotencyKeyLength.max} characters`;
    throw new PinnaceError('idempotency_key_malformed', `Cannot read the Idempotency-Key: send ${right}`);
  }
  return key;
}

function readString(header: string): string | undefined {
  const item = readItem(header);
  if (item === undefined || isInnerList(item)) return undefined;
  const [value, parameters] = item;
  return typeof value === 'string' && parameters.size === 0 ? value : undefined;
}

function readItem(header: string): Item | undefined {
  try {
    return parseItem(header);
  } catch {
    return undefined;
  }
}

/** A certificate and the private key that signs with it: what `createClient` takes. */
export interface SessionCredential {
  readonly certificate: string;
  readonly key: CryptoKey;
}

/** An authenticator that knows when sessions are revoked. */
export interface Revocable {
  onRevoked(principal: Principal, listener: () => void): () => void;
}

/** The claims of a token that was verified. */
export type JwtClaims = JWTPayload & { readonly iss: string; readonly sub: string; readonly exp: number };

/** What a token or a session stands for. */
export interface CallerFacts extends Pick<Principal, 'tenant' | 'subject' | 'roles' | 'agents' | 'scopes'> {
  /** Who speaks for the subject, such as a member of a group; `act.sub` of a token (RFC 8693) when absent. */
  readonly actor?: string;
  /** The subjects that requests may name in `Pinnace-Subject`: whole names, or prefixes (`shop:*`). None when absent. */
  readonly actFor?: readonly string[];
}

export interface AccessTokenOptions {
  /** The `iss` of tokens, exactly: the authorization server. */
  readonly issuer: string;
  /** The public keys: a set, or its https URL (`jwks_uri`), which needs an `egress`. They are loaded again after 10 minutes, and for an unknown key. */
  readonly keys: JSONWebKeySet | string;
  /** The way to the URL of the keys. */
  readonly egress?: Egress;
  /** Allows a URL of the keys on a private network, as that of `modelSource`. */
  readonly privateOrigins?: PrivateOrigins;
  /**
   * Whether the header of a token must say that it is an access token, `"typ": "at+jwt"` (RFC 9068): an ID token whose audience fits is
   * refused. `true` when absent. `false` also accepts `JWT` and no type, for authorization servers that do not set it.
   */
  readonly requireType?: boolean;
  /**
   * Returns whom a token stands for; `undefined` refuses it, and so does a tenant or subject that is empty or the text of a missing
   * claim. Take `subject` from `sub`, and choose scopes: a token's own `scope` is the authorization server's text, not one of Pinnace.
   */
  readonly principalOf: (claims: JwtClaims) => Promise<CallerFacts | undefined> | CallerFacts | undefined;
}

/** An authenticator of requests, with what else it can do. */
export type RequestAuthenticator = Authenticator & Partial<Revocable> & Partial<NonceVerifier>;
