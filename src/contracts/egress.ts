/** The port to the network. */

import type { EgressList, PrivateOrigins } from '../base/origins.ts';
import type { SecretRef } from '../base/schema.ts';
import type { Secret } from '../base/secret.ts';

/** The terms of one request. */
export interface EgressOptions {
  /**
   * The only origins that may be reached, redirects included; `any`: every public one, and then without secrets. An entry with a `*`
   * allows public hosts alone. An egress that does not know that form refuses such hosts.
   */
  readonly origins: EgressList | 'any';
  /** The longest body of the answer, in bytes as they are read. */
  readonly maxBytes: number;
  /** Aborts the request. */
  readonly signal: AbortSignal;
  /** For the whole exchange, the body too; 10 s when absent. */
  readonly timeoutMs?: number;
  /** Of the listed origins, those that the composition lets lead to a private address, or over plain http. Never from a record. */
  readonly privateOrigins?: PrivateOrigins;
  /**
   * `caller`: the caller limits time, load and the kind of the answer, as for a model's stream: without `timeoutMs` there is no
   * timeout, neither the circuit breaker nor the limit of concurrent calls applies, and a body of any type is read. An abort then
   * rejects with the signal's own reason.
   */
  readonly limits?: 'caller';
  /** The W3C `traceparent` of the request, for its own origin alone; platforms whose servers would refuse it leave it out. */
  readonly traceparent?: string | undefined;
  /** Header values with secrets. */
  readonly secretHeaders?: Readonly<Record<string, SecretText>>;
  /** Fields of a body of JSON or form data, with secrets. */
  readonly secretFields?: Readonly<Record<string, SecretText>>;
  /** Names the requests that share a circuit breaker at their origin; those of the same path, ids aside, when absent. */
  readonly circuit?: string;
  /** For whom it is sent: its failures and open calls count for this tenant alone, and are not in the way of others. */
  readonly tenant?: string;
  /** `media`: a body of an image, a sound, a PDF or bytes without a type is read too; text and JSON alone when absent. */
  readonly accept?: 'media';
  /**
   * Cookies of the request's origin, by name: they are sent with it, and its answer changes them, as load balancers that keep a
   * session on one node want it. Another origin gets none of them. Platforms that hide cookies, such as browsers, leave it as it is.
   */
  readonly cookies?: Map<string, string>;
  /**
   * `refuse`: an answer that is a redirect is `forbidden`, with its path in `details.location` where it stays at its origin; `follow`
   * when absent.
   */
  readonly redirects?: 'follow' | 'refuse';
}

/**
 * The way out: sends a request where it may go, and nowhere else.
 *
 * Every hop is checked before its socket opens: `checkUrl`, the listed origins, and, where the platform can, that every address
 * behind the name is public and is the one that the socket uses. Redirects are followed by hand, at most 5, never from https to
 * http. Another origin gets neither secrets nor the request's own headers, nor has it them back later. PUT, PATCH and DELETE
 * follow no redirect, a POST is repeated at its own origin only; 303, and 301 or 302 of a POST, go on as a GET without body.
 * Secrets are added last, to header values and named body fields, never to a URL.
 *
 * Requests to a path that fails again and again are refused for a while as `unavailable` with the reason `dependency_unavailable`,
 * `retryAfterMs` and the cause in `details.lastFailure`; other paths of its origin are not.
 *
 * A request that may not go is `forbidden`, one that is not well formed `invalid_argument`. A host that does not answer, a
 * body that is neither text nor JSON (see `accept`), and a platform that cannot check are `unavailable`; a body that is too long is
 * `budget_exceeded`, on reading too. An answer of any status is no error: where it refuses, or has no type, a body that is neither
 * text nor JSON is an error of reading it. Its headers are the harmless ones; never a cookie.
 * No error names a URL (but for `details.location`), a header value or a body; one may name the host of a listed origin, which is configuration.
 */
export interface Egress {
  fetch(request: Request, options: EgressOptions): Promise<Response>;
  /** The private and plain-http origins that every request may reach that lists them, as the composition allows. */
  readonly privateOrigins?: PrivateOrigins;
}

/**
 * Resolves a secret reference to its value and its destinations (`Secret.origins`). A secret is sent only to its origins: for another
 * one `resolve` rejects with `forbidden` and the reason `secret_origin_mismatch`, and the runtime and the egress check it again. A
 * secret whose definition declares no origins has none, unless the composition sets a default at the source. Rejects with `not_found`
 * for a missing secret, `forbidden` for a denied one, and `unavailable` when the source does not answer. Honors the signal. Errors
 * contain no more than the id and origins.
 */
export interface SecretSource {
  resolve(ref: SecretRef, options: { readonly scope: SecretScope; readonly signal: AbortSignal }): Promise<Secret>;
}

/** The requester of a secret and its destination. */
export interface SecretScope {
  readonly tenant: string;
  readonly agentId: string;
  readonly toolId?: string;
  /** The origin that would receive the value. Absent: a function of the composition would, and the secret must name `code`. */
  readonly origin?: string;
}

/** A text with secrets in it, part by part: `['Bearer ', secret]`. It is put together by the adapter that opens the socket. */
export type SecretText = readonly (string | Secret)[];
