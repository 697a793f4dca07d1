/** The bytes of a request's body, read once for all who ask. */

import { PinnaceError } from '../../../src/errors.ts';
import { refusal } from './refusal.ts';

const read = new WeakMap<Request, Promise<Uint8Array<ArrayBuffer>>>();

/**
 * Gives the whole body of a request; none is no bytes. The first call reads it, from a clone, so that whoever does not know of
 * this function can still read the request's own; every later call for the same `Request` object gives the same bytes.
 *
 * @throws PinnaceError `body_too_large` as soon as more than `maxBytes` have come, `invalid_argument` when the body breaks off.
 */
export async function readBody(
  request: Request,
  { maxBytes }: { readonly maxBytes: number },
): Promise<Uint8Array<ArrayBuffer>> {
  const reading = read.get(request) ?? readWithin(request, maxBytes);
  read.set(request, reading);
  const bytes = await reading;
  if (bytes.length > maxBytes) throw refusal('body_too_large');
  return bytes;
}

async function readWithin(request: Request, maxBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  if (request.body === null) return new Uint8Array();
  if (Number(request.headers.get('content-length') ?? 0) > maxBytes) throw refusal('body_too_large');
  const reader = (request.clone().body as ReadableStream<Uint8Array<ArrayBuffer>>).getReader(); // safe: a clone has a body too
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  const take = () => reader.read().catch(brokenOff);
  for (let next = await take(); !next.done; next = await take()) {
    chunks.push(next.value);
    length += next.value.length;
    if (length > maxBytes) {
      // Not awaited: a clone's cancel settles only when the other side is cancelled too.
      void Promise.allSettled([reader.cancel(), request.body.cancel()]);
      throw refusal('body_too_large');
    }
  }
  return join(chunks, length);
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
