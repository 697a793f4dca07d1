/** A token for Prometheus, which cannot sign requests. It reads the metrics of the deployment and opens no other route. */

import type { MiddlewareHandler } from 'hono';
import { PinnaceError } from '../../../src/base/errors.ts';
import { bearerTokenOf } from '../bearer-token.ts';
import type { SignedEnv } from './env.ts';
import { declare, type SignedOperation } from './operation.ts';

/** Returns whether a request has the token. */
export type MetricsToken = (request: Request) => Promise<boolean>;

/** The fewest and the most characters of a token. */
const [minLength, maxLength] = [32, 512] as const;

/** @throws PinnaceError `invalid_argument` for a token that is too short or long, or that no header can carry. */
export function createMetricsToken(token: string): MetricsToken {
  if (token.length < minLength || token.length > maxLength || !/^[\x21-\x7e]+$/.test(token)) {
    const message =
      `Cannot protect the metrics: the token must have ${minLength} to ${maxLength} visible ASCII characters, without spaces`;
    throw new PinnaceError('invalid_argument', message, { details: { reason: 'metrics_token' } });
  }
  let expected: Promise<Uint8Array> | undefined;
  return async (request) => {
    const given = bearerTokenOf(request, maxLength);
    if (given === undefined) return false;
    const [known, found] = await Promise.all([expected ??= digest(token), digest(given)]);
    return isEqual(known, found);
  };
}

/** Accepts requests with the token; others must be verified as usual. */
export function orMetricsToken(
  signed: MiddlewareHandler<SignedEnv>,
  { operation, hasToken }: { readonly operation: SignedOperation; readonly hasToken: MetricsToken | undefined },
): MiddlewareHandler<SignedEnv> {
  if (!hasToken) return signed;
  return declare(operation, async (c, next) => {
    if (!await hasToken(c.req.raw)) return await signed(c, next);
    c.set('isScrape', true);
    return await next();
  });
}

async function digest(text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)));
}

/** Visits every byte: the time taken reveals nothing, and digests reveal no part of a token. */
function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  let difference = a.length ^ b.length;
  for (const [at, byte] of a.entries()) difference |= byte ^ (b[at] ?? 0);
  return difference === 0;
}
