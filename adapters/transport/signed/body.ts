/** The bytes of a request's body, received once for every reader, within limits. */

import { PinnaceError } from '../../../src/base/errors.ts';
import { refusal } from './profile.ts';

export interface BodyOptions {
  /** Absent: the limit of the route, see {@link limitBody}. */
  readonly maxBytes?: number;
  readonly tenant?: string;
}

/** The pieces that a body may have besides one for each {@link bytesPerPiece}: each costs time, however few bytes it has. */
const freePieces = 4_096;
const bytesPerPiece = 128;
/** So many pieces are taken in one turn, so that other requests have theirs. In each, Deno receives more than it hands over. */
const piecesPerTurn = 256;
/** The first buffer; it doubles. A length that is only announced takes no more. */
const firstBufferBytes = 16_384;

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

const bodyLimits = new WeakMap<Request, number>();

/** Sets the largest body of a request, in bytes, for everything that reads it. */
export function limitBody(request: Request, maxBytes: number): void {
  bodyLimits.set(request, maxBytes);
}

/**
 * Returns the whole body of a request; empty without one. Every call for the same `Request` returns the same bytes. An endpoint's own
 * request has no other reader. Any other is received from a clone, so that its server can still read it.
 * @throws PinnaceError `body_too_large` as soon as more than `maxBytes` have arrived, `body_timeout` when they arrive too slowly,
 * `body_in_pieces` when they arrive in too many pieces, `rate_limited` or `overloaded` from the intake, `invalid_argument` when the
 * body breaks off.
 */
export async function readBody(
  request: Request,
  { maxBytes = bodyLimits.get(request) ?? largeBodyBytes, tenant }: BodyOptions = {},
): Promise<Uint8Array<ArrayBuffer>> {
  const receiving = received.get(request) ?? receive(request, { maxBytes, tenant });
  received.set(request, receiving);
  const bytes = await receiving;
  if (bytes.length > maxBytes) throw refusal('body_too_large');
  return bytes;
}

/** Cancels a body that has no reader, without reading it. Does nothing for a body that is being read. */
export function dropBody({ body, bodyUsed }: Request): void {
  if (body !== null && !bodyUsed && !body.locked) void body.cancel().catch(() => undefined);
}

async function receive(
  request: Request,
  { maxBytes, tenant }: { readonly maxBytes: number; readonly tenant: string | undefined },
): Promise<Uint8Array<ArrayBuffer>> {
  if (request.body === null) return new Uint8Array();
  const announced = Number(request.headers.get('content-length') ?? 0);
  if (announced > maxBytes) throw refusal('body_too_large');
  const known = receptions.get(request);
  const { intake, ...sender }: Reception = known ?? { intake: createBodyIntake() };
  const arrival = intake.enter(tenant === undefined ? sender : { ...sender, tenant });
  const source = known ? request : request.clone();
  const reader = (source.body as ReadableStream<Uint8Array<ArrayBuffer>>).getReader(); // safe: a clone has a body too
  const buffer = new BodyBuffer(announced);
  const deadline = startDeadline(intake.limits, { arrived: () => buffer.length, onLate: () => drop(reader, request) });
  try {
    for (let pieces = 0;; pieces++) {
      const { done, value } = await reader.read().catch((error: unknown) => brokenOff(error, deadline.isOver()));
      if (deadline.isOver()) throw refusal('body_timeout');
      if (done) return buffer.bytes();
      if (pieces > freePieces + buffer.length / bytesPerPiece) throw inPieces();
      if (pieces > freePieces && pieces % piecesPerTurn === 0) {
        await new Promise<void>((resolve) => setTimeout(resolve));
      }
      if (buffer.length + value.length > maxBytes) throw refusal('body_too_large');
      arrival.take(value.length);
      buffer.add(value);
    }
  } catch (error) {
    drop(reader, request);
    throw error;
  } finally {
    deadline.stop();
    arrival.leave();
  }
}

/** Not awaited: a clone's cancel settles only when the other side is canceled too. */
function drop(reader: ReadableStreamDefaultReader, request: Request): void {
  const rest = request.body?.locked === false ? request.body.cancel() : undefined;
  void Promise.allSettled([reader.cancel(), rest]);
}

class BodyBuffer {
  readonly #announced: number;
  #bytes: Uint8Array<ArrayBuffer>;
  length = 0;

  constructor(announced: number) {
    this.#announced = announced;
    this.#bytes = new Uint8Array(announced > 0 ? Math.min(announced, firstBufferBytes) : firstBufferBytes);
  }

  add(piece: Uint8Array): void {
    const needed = this.length + piece.length;
    if (needed > this.#bytes.length) {
      const doubled = Math.max(needed, this.#bytes.length * 2);
      const larger = new Uint8Array(needed <= this.#announced ? Math.min(doubled, this.#announced) : doubled);
      larger.set(this.#bytes.subarray(0, this.length));
      this.#bytes = larger;
    }
    this.#bytes.set(piece, this.length);
    this.length = needed;
  }

  bytes(): Uint8Array<ArrayBuffer> {
    return this.length === this.#bytes.length ? this.#bytes : this.#bytes.slice(0, this.length);
  }
}

/** Ends a body that takes longer than the limits allow for the bytes that have arrived. One timer at a time. */
function startDeadline(
  { deadlineMs, bytesPerSecond }: BodyLimits,
  { arrived, onLate }: { readonly arrived: () => number; readonly onLate: () => void },
): { readonly isOver: () => boolean; readonly stop: () => void } {
  let isOver = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const wait = (passedMs: number): void => {
    const allowedMs = deadlineMs + arrived() / bytesPerSecond * 1000;
    if (allowedMs - passedMs >= 1) timer = setTimeout(() => wait(allowedMs), allowedMs - passedMs);
    else {
      isOver = true;
      onLate();
    }
  };
  wait(0);
  return { isOver: () => isOver, stop: () => clearTimeout(timer) };
}

function brokenOff(cause: unknown, isLate: boolean): never {
  if (isLate) throw refusal('body_timeout');
  throw new PinnaceError('invalid_argument', 'Cannot read the body: it broke off', {
    details: { reason: 'body_broken_off' },
    cause,
  });
}

function inPieces(): PinnaceError {
  return new PinnaceError(
    'invalid_argument',
    `Cannot receive the body: it comes in pieces of less than ${bytesPerPiece} bytes; send larger ones`,
    { details: { reason: 'body_in_pieces' } },
  );
}

export interface BodyLimits {
  /** A body may take this long, and longer only while it keeps to the rate. */
  readonly deadlineMs: number;
  /** Received bytes extend the deadline at this rate: an import over a slow line may continue, a trickle may not. */
  readonly bytesPerSecond: number;
  /** Bodies at once of one tenant, of one client address where it is known, and of the endpoint. */
  readonly perTenant: number;
  readonly perAddress: number;
  readonly total: number;
  /** The bytes that the bodies being received of one tenant hold together, and those of all. */
  readonly tenantBytes: number;
  readonly totalBytes: number;
}

export const defaultBodyLimits: BodyLimits = {
  deadlineMs: 10_000,
  bytesPerSecond: 65_536,
  perTenant: 512,
  perAddress: 512,
  total: 2_048,
  tenantBytes: 67_108_864,
  totalBytes: 134_217_728,
};

interface BodySender {
  readonly tenant?: string | undefined;
  readonly address?: string | undefined;
}

interface Arrival {
  /** Counts bytes. @throws PinnaceError `rate_limited` or `overloaded` when tenant or endpoint hold the most that they may. */
  take(bytes: number): void;
  leave(): void;
}

export interface BodyIntake {
  readonly limits: BodyLimits;
  /** @throws PinnaceError `rate_limited` (429) or `overloaded` (503) when a limit is reached. */
  enter(sender: BodySender): Arrival;
}

export function createBodyIntake(given: Partial<BodyLimits> = {}): BodyIntake {
  const limits = { ...defaultBodyLimits, ...given };
  const counts = new Map<string, number>();
  let bytes = 0;
  const add = (name: string, by: number): void => {
    const next = (counts.get(name) ?? 0) + by;
    if (next === 0) counts.delete(name);
    else counts.set(name, next);
  };
  return {
    limits,
    enter({ tenant, address }) {
      const slots = slotsOf({ tenant, address }, limits);
      for (const { name, most, error } of slots) if ((counts.get(name) ?? 0) >= most) throw error();
      for (const { name } of slots) add(name, 1);
      const held = `bytes:${tenant ?? ''}`;
      const most = tenant === undefined ? Infinity : limits.tenantBytes;
      let own = 0;
      let left = false;
      return {
        take(length) {
          own += length;
          bytes += length;
          add(held, length);
          if ((counts.get(held) ?? 0) > most) throw tooMany('tenant_body_bytes', 'this tenant');
          if (bytes > limits.totalBytes) throw busy('instance_body_bytes');
        },
        leave() {
          if (left) return;
          left = true;
          bytes -= own;
          add(held, -own);
          for (const { name } of slots) add(name, -1);
        },
      };
    },
  };
}

interface Slot {
  readonly name: string;
  readonly most: number;
  readonly error: () => PinnaceError;
}

function slotsOf({ tenant, address }: BodySender, { total, perTenant, perAddress }: BodyLimits): readonly Slot[] {
  const all: Slot[] = [{ name: 'total', most: total, error: () => busy('instance_bodies') }];
  if (tenant !== undefined) {
    all.push({ name: `tenant:${tenant}`, most: perTenant, error: () => tooMany('tenant_bodies', 'this tenant') });
  }
  if (address !== undefined) {
    all.push({ name: `address:${address}`, most: perAddress, error: () => tooMany('address_bodies', 'this address') });
  }
  return all;
}

function tooMany(reason: string, whose: string): PinnaceError {
  const message = `Cannot receive the body: too many bodies of ${whose} are on their way, send fewer at once`;
  return new PinnaceError('rate_limited', message, { details: { reason } });
}

function busy(reason: string): PinnaceError {
  return new PinnaceError('overloaded', 'Cannot receive the body: the endpoint receives as much as it can', {
    details: { reason },
  });
}

export const usualBodyBytes = 1_048_576;
/** The largest chat, catalog and file, and the largest files for a data source. */
export const largeBodyBytes = 16_777_216;
