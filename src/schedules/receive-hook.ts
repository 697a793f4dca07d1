/**
 * Signed hooks in, as Standard Webhooks: what must hold before an event may start a run.
 *
 * 1. An id without a schedule and a wrong signature get the same answer, so no caller learns which hooks exist.
 * 2. Only what is signed counts against the limit: a stranger cannot use it up.
 * 3. The event is data: it is never a part of what the schedule says to its agent.
 */

import { PinnaceError, toPinnaceError } from '../base/errors.ts';
import { fromBase64 } from '../base/base64.ts';
import { canonicalJson } from '../base/json.ts';
import { takeToken } from '../log/rate-limit.ts';
import type { RuntimeParts } from '../runtime/run-context.ts';
import type { HookRequest } from '../runtime/schedule.ts';
import { hookKey } from '../webhooks/webhooks.ts';

const mostBytes = 65_536;
const perMinute = 60;
const toleranceMs = 300_000;

/** Verifies an event. Returns it as canonical JSON. @throws PinnaceError `unauthenticated`, `invalid_argument`, `rate_limited`. */
export async function verifyHook(
  parts: RuntimeParts,
  { id, tenant, secret, request }: {
    readonly id: string;
    readonly tenant: string;
    readonly secret: string | readonly string[];
    readonly request: HookRequest;
  },
): Promise<string> {
  const { body, headers: { id: eventId, timestamp, signature } } = request;
  const isRecent = /^\d{1,12}$/.test(timestamp) && Math.abs(parts.now() - Number(timestamp) * 1000) <= toleranceMs;
  if (body.length > mostBytes || !isRecent || !/^[\w.:-]{1,128}$/.test(eventId)) throw notVerified();
  const text = new TextEncoder().encode(`${eventId}.${timestamp}.`);
  const signed = new Uint8Array(text.length + body.length);
  signed.set(text);
  signed.set(body, text.length);
  if (!await isSigned(parts, { secret, tenant, signature, signed })) throw notVerified();
  await takeToken({ key: ['rate', 'hook', id], perMinute }, parts).catch((error: unknown) => {
    const { code, retryAfterMs } = toPinnaceError(error);
    if (code !== 'rate_limited') throw error;
    const message = `Cannot take the event: a hook takes ${perMinute} a minute`;
    throw new PinnaceError('rate_limited', message, { ...(retryAfterMs !== undefined && { retryAfterMs }) });
  });
  try {
    return canonicalJson(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body)));
  } catch (cause) {
    throw new PinnaceError('invalid_argument', 'Cannot take the event: its body is not JSON', {
      cause,
      details: { reason: 'malformed_json' },
    });
  }
}

async function isSigned(
  { secrets }: RuntimeParts,
  { secret, tenant, signature, signed }: {
    readonly secret: string | readonly string[];
    readonly tenant: string;
    readonly signature: string;
    readonly signed: Uint8Array<ArrayBuffer>;
  },
): Promise<boolean> {
  const given = signature.split(' ').slice(0, 10).flatMap((one) =>
    one.startsWith('v1,') ? [fromBase64(one.slice(3))] : []
  );
  for (const id of [secret].flat()) {
    const key = await hookKey(secrets, { ref: { id }, tenant });
    for (const bytes of given) if (bytes && await crypto.subtle.verify('HMAC', key, bytes, signed)) return true;
  }
  return false;
}

/** The one answer for an id that no schedule has, and for a signature that is none of it. */
export function notVerified(): PinnaceError {
  return new PinnaceError('unauthenticated', 'Cannot take the event: its id or its signature is wrong', {
    details: { reason: 'hook_not_verified' },
  });
}
