/** The bytes of a request's body, received once for every reader, within limits. */

import { PinnaceError } from '../../../src/base/errors.ts';
import { type BodyIntake, type BodyLimits, type BodySender, createBodyIntake } from '../http/body-intake.ts';
import { refusal } from './refusal.ts';

/** Options of receiving a body. */
export interface BodyOptions {
  readonly maxBytes: number;
  /** The tenant that authentication has found, when the intake does not know it yet. */
  readonly tenant?: string;
}

/** Where the body of a request is counted. */
interface Reception extends BodySender {
  readonly intake: BodyIntake;
}

const received = new WeakMap<Request, Promise<Uint8Array<ArrayBuffer>>>();
const receptions = new WeakMap<Request, Reception>();

/** Counts the body of this request in the intake of an endpoint. Call it again when more of the sender is known. */
export function receiveBy(intake: BodyIntake, request: Request, sender: BodySender): void {
  receptions.set(request, { ...receptions.get(request), ...sender, intake });
}

/**
 * Returns the whole body of a request; empty without one. The first call receives it from a clone, so that other readers can still
 * read the request's own body. Every later call for the same `Request` returns the same bytes.
 *
 * @throws PinnaceError `body_too_large` as soon as more than `maxBytes` have arrived, `body_timeout` when they arrive too slowly,
 * `rate_limited` or `overloaded` from the intake, `invalid_argument` when the body breaks off.
 */
export async function readBody(request: Request, options: BodyOptions): Promise<Uint8Array<ArrayBuffer>> {
  const receiving = received.get(request) ?? receive(request, options);
  received.set(request, receiving);
  const bytes = await receiving;
  if (bytes.length > options.maxBytes) throw refusal('body_too_large');
  return bytes;
}

/** Cancels a body that has no reader, without reading it. Does nothing for a body that is being read. */
export function dropBody({ body, bodyUsed }: Request): void {
  if (body !== null && !bodyUsed && !body.locked) void body.cancel().catch(() => undefined);
}

async function receive(request: Request, { maxBytes, tenant }: BodyOptions): Promise<Uint8Array<ArrayBuffer>> {
  if (request.body === null) return new Uint8Array();
  if (Number(request.headers.get('content-length') ?? 0) > maxBytes) throw refusal('body_too_large');
  const { intake, ...sender }: Reception = receptions.get(request) ?? { intake: createBodyIntake() };
  const arrival = intake.enter(tenant === undefined ? sender : { ...sender, tenant });
  const reader = (request.clone().body as ReadableStream<Uint8Array<ArrayBuffer>>).getReader(); // safe: a clone has a body too
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  const deadline = startDeadline(intake.limits, () => length);
  try {
    for (;;) {
      const { done, value } = await Promise.race([deadline.late, reader.read().catch(brokenOff)]);
      if (done) return join(chunks, length);
      chunks.push(value);
      length += value.length;
      if (length > maxBytes) throw refusal('body_too_large');
      arrival.take(value.length);
    }
  } catch (error) {
    // Not awaited: a clone's cancel settles only when the other side is cancelled too.
    void Promise.allSettled([reader.cancel(), request.body.cancel()]);
    throw error;
  } finally {
    deadline.clear();
    arrival.leave();
  }
}

/** Rejects when a body takes longer than the limits allow for the bytes that have arrived. */
function startDeadline(
  { deadlineMs, bytesPerSecond }: BodyLimits,
  arrived: () => number,
): { readonly late: Promise<never>; readonly clear: () => void } {
  const { promise: late, reject } = Promise.withResolvers<never>();
  late.catch(() => undefined); // after the last read nothing awaits it
  let timer: ReturnType<typeof setTimeout> | undefined;
  const wait = (passedMs: number): void => {
    const allowedMs = deadlineMs + arrived() / bytesPerSecond * 1000;
    if (allowedMs - passedMs < 1) return reject(refusal('body_timeout'));
    timer = setTimeout(() => wait(allowedMs), allowedMs - passedMs);
  };
  wait(0);
  return { late, clear: () => clearTimeout(timer) };
}

function brokenOff(cause: unknown): never {
  throw new PinnaceError('invalid_argument', 'Cannot read the body: it broke off', {
    details: { reason: 'body_broken_off' },
    cause,
  });
}

function join(chunks: readonly Uint8Array<ArrayBuffer>[], length: number): Uint8Array<ArrayBuffer> {
  const [first] = chunks;
  if (first !== undefined && chunks.length === 1) return first;
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}
