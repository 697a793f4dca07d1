/**
 * Sends notices to receivers outside, as Standard Webhooks.
 *
 * What must hold:
 *
 * 1. A delivery is on record before anything is sent, and stays until a receiver has accepted it or the last try has failed: each notice
 *    arrives at least once, with the same `webhook-id` at every try.
 * 2. A try is claimed by a commit that moves the due key behind the longest time a try takes. A process that dies in between is
 *    followed by another one; two never send the same try.
 * 3. A webhook informs and never asks: no decision comes back, and a redirect is a failure. Its body names things, and has texts of people
 *    and models only for receivers with `detail`.
 * 4. Requests go through the guarded egress, to the origin of the receiver alone. Secrets are read for each try, so a rotation takes
 *    effect with the next one.
 */

import { fromBase64, toBase64 } from '../base/base64.ts';
import { PinnaceError, toPinnaceError } from '../base/errors.ts';
import { requireDestination } from '../base/origins.ts';
import type { SecretRef } from '../base/schema.ts';
import { raceAbort } from '../base/until-aborted.ts';
import { createTraceId } from '../events/trace-ids.ts';
import { traceAt } from '../events/span.ts';
import type { Change } from '../contracts/storage.ts';
import { dueChange, dueKey } from '../log/due.ts';
import { readJournal } from '../log/journal-record.ts';
import type { Delivery, Receiver } from '../log/notices.ts';
import { runPrefix, type RunState } from '../runtime/run-record.ts';
import type { RuntimeParts } from '../runtime/run-context.ts';

/** How long after a failed try the next one comes: those of Svix, which receivers know. */
const waitsMs = [5, 300, 1_800, 7_200, 18_000, 36_000, 36_000].map((seconds) => seconds * 1000);
const timeoutMs = 10_000;
const claimMs = 30_000;
const mostBytes = 65_536;
const ttlMs = 7 * 86_400_000;

/** Sends a notice that is due. Resolves to whether a try was made here. */
export async function deliverNotice(parts: RuntimeParts, id: string, dueAt: number): Promise<boolean> {
  const { storage, now, notices } = parts;
  const entry = await storage.get(['delivery', id]);
  const delivery = entry?.value as Delivery | undefined; // only notices write it
  const receiver = notices?.receivers.find((one) => one.id === delivery?.receiver);
  if (delivery && !receiver) return false; // another instance has the receiver, or none until it expires
  if (!entry || !delivery || !receiver || await storage.get(offKey(receiver))) {
    await storage.commit([{ key: ['delivery', id] }, { key: dueKey(dueAt, id) }]);
    return false;
  }
  const time = now();
  if ((delivery.busyUntil ?? 0) > time) return false;
  const retryAt = time + claimMs;
  const claimed: Delivery = { ...delivery, tries: delivery.tries + 1, busyUntil: retryAt };
  const moved = dueAt === retryAt ? [] : [{ key: dueKey(dueAt, id) }];
  const claim = await storage.commit([
    { key: ['delivery', id], value: claimed, ifVersion: entry.version, ttlMs },
    ...moved,
    dueChange({ at: retryAt, id, tenant: delivery.tenant }, ttlMs),
  ]);
  if (!claim.ok) return false;
  await storage.commit([
    ...await sent(parts, { id, delivery: claimed, receiver }),
    { key: dueKey(retryAt, id) },
  ]);
  return true;
}

/** Sends it once. Returns what becomes of the delivery. */
async function sent(
  parts: RuntimeParts,
  { id, delivery, receiver }: { readonly id: string; readonly delivery: Delivery; readonly receiver: Receiver },
): Promise<readonly Change[]> {
  const { now, due } = parts;
  const done: Change = { key: ['delivery', id] };
  const status = await post(parts, { id, delivery, receiver }).catch((error: unknown) => toPinnaceError(error).code);
  if (typeof status === 'number' && status >= 200 && status < 300) {
    emit(parts, { delivery, receiver, action: 'notify.send', status });
    return [done];
  }
  const waitMs = waitsMs[delivery.tries - 1];
  if (status === 410 || waitMs === undefined) {
    emit(parts, { delivery, receiver, action: 'notify.failed', status });
    return status === 410 ? [done, { key: offKey(receiver), value: now() }] : [done];
  }
  const at = now() + waitMs;
  due.arm(at);
  const { busyUntil: _, ...waiting } = delivery;
  return [{ ...done, value: waiting, ttlMs }, dueChange({ at, id, tenant: delivery.tenant }, ttlMs)];
}

/** A receiver that answers 410 gets nothing more, until its address is another one. */
function offKey({ id, url }: Receiver) {
  return ['delivery-off', id, url];
}

async function post(
  parts: RuntimeParts,
  { id, delivery, receiver }: { readonly id: string; readonly delivery: Delivery; readonly receiver: Receiver },
): Promise<number> {
  const { egress, now } = parts;
  if (!egress) throw new PinnaceError('unavailable', 'Cannot send webhooks: the composition has no egress');
  const body = JSON.stringify(await bodyOf(parts, delivery, receiver));
  const timestamp = String(Math.floor(now() / 1000));
  const signatures = await Promise.all(
    [receiver.secret].flat().map((ref) =>
      signatureOf(parts, { ref, tenant: delivery.tenant, text: `${id}.${timestamp}.${body}` })
    ),
  );
  const headers = {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
  };
  const signal = AbortSignal.timeout(timeoutMs);
  const { origin } = new URL(receiver.url);
  const request = new Request(receiver.url, { method: 'POST', headers, body, signal });
  const sending = egress.fetch(request, {
    origins: [origin],
    privateOrigins: egress.privateOrigins ?? [],
    maxBytes: mostBytes,
    timeoutMs,
    signal,
    redirects: 'refuse',
    limits: 'caller',
  });
  const response = await raceAbort(sending, signal); // one that never answers must not keep a sweep
  await response.body?.cancel();
  return response.status;
}

async function bodyOf({ storage }: RuntimeParts, delivery: Delivery, { detail, link }: Receiver): Promise<object> {
  const { type, at, item, data: { detail: texts, ...data } } = delivery;
  const run = type === 'run.ended' ? (await readJournal<RunState>(storage, runPrefix(item)))?.head.state : undefined;
  const ended = run && {
    state: run.state,
    ...(run.error && { error: { code: run.error.code, retryable: run.error.retryable } }),
  };
  const facts = { id: item, ...data, ...ended };
  const address = link?.({ type, tenant: delivery.tenant, ...facts });
  return {
    type,
    timestamp: new Date(run?.endedAt ?? at).toISOString(),
    data: {
      ...facts,
      ...(address !== undefined && { link: address }),
      ...(detail === true && texts !== undefined && { detail: texts }),
    },
  };
}

/** Signs as Standard Webhooks do: HMAC with SHA-256 over id, time and body. */
async function signatureOf(
  { secrets }: RuntimeParts,
  { ref, tenant, text }: { readonly ref: SecretRef; readonly tenant: string; readonly text: string },
): Promise<string> {
  const signature = await crypto.subtle.sign(
    'HMAC',
    await hookKey(secrets, { ref, tenant }),
    new TextEncoder().encode(text),
  );
  return `v1,${toBase64(new Uint8Array(signature))}`;
}

/** The one place that reveals the secret of a hook, to the platform's cryptography. */
export async function hookKey(
  secrets: RuntimeParts['secrets'],
  { ref, tenant }: { readonly ref: SecretRef; readonly tenant: string },
): Promise<CryptoKey> {
  const signal = AbortSignal.timeout(timeoutMs);
  const secret = secrets &&
    requireDestination(
      await raceAbort(secrets.resolve(ref, { scope: { tenant, agentId: '' }, signal }), signal),
      undefined,
    );
  const bytes = fromBase64(secret?.reveal().replace(/^(?:v1,)?whsec_/, '') ?? '');
  if (!bytes || bytes.length < 16) {
    throw new PinnaceError(
      'unavailable',
      `Cannot use the secret "${ref.id}" of a hook: it must be "whsec_" and at least 16 bytes as base64`,
      {
        retryable: false,
        details: { reason: 'hook_secret' },
      },
    );
  }
  return await crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign', 'verify']);
}

function emit(
  { emit: to, now }: RuntimeParts,
  { delivery: { tenant, tries, type }, receiver, action, status }: {
    readonly delivery: Delivery;
    readonly receiver: Receiver;
    readonly action: 'notify.send' | 'notify.failed';
    readonly status: number | string;
  },
): void {
  const actor = { type: 'system' as const, id: 'webhooks' };
  traceAt({ traceId: createTraceId(), tenant, actor }, { emit: to, now }).emit({
    action,
    target: { type: 'webhook', id: receiver.id },
    status: action === 'notify.send' ? 'ok' : 'error',
    payload: { type, tries, answer: String(status) },
  });
}
