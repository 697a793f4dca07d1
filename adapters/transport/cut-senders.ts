/**
 * Closes connections that keep sending a body without a reader, and limits the memory of a body in small pieces. Deno itself would
 * read until the body ends, and allocate 64 KiB for each piece.
 */

import type { Handler } from './handler.ts';

/**
 * Wraps the handler for `Deno.serve`. When the handler stops reading the body before its end, the client gets the whole response
 * with the next bytes that arrive from it, and the connection is closed.
 */
export function cutSenders(handler: Handler): Handler {
  return async (request, connection) => {
    if (request.body === null) return await handler(request, connection);
    const { body, isRead, rest } = observeBody(request.body);
    const observed = new Request(request, { body, duplex: 'half' } as RequestInit); // the type does not know `duplex` yet
    const response = await handler(observed, connection);
    if (isRead() || await within(rest)) return response;
    const bytes = new Uint8Array(await response.arrayBuffer()); // a problem, and so short: the body was not read
    const headers = new Headers(response.headers);
    headers.set('content-length', String(bytes.length));
    return new Response(cutAfter(bytes), { status: response.status, headers });
  };
}

type Piece = ReadableStreamReadResult<Uint8Array>;

/** Deno cannot close a connection while it waits for bytes of the body, so the pending read is awaited. */
function observeBody(source: ReadableStream<Uint8Array>) {
  const reader = source.getReader();
  const { promise: rest, resolve } = Promise.withResolvers<boolean>();
  let pending: Promise<Piece | undefined> = Promise.resolve(undefined);
  let read = false;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const next = reader.read();
      pending = next.catch(() => undefined);
      next.catch(() => resolve(false)); // the sender has left
      const { done, value } = await next;
      if (!done) return controller.enqueue(compact(value));
      read = true;
      resolve(true);
      controller.close();
    },
    async cancel() {
      resolve(read || await discard(reader, pending));
    },
  }, { highWaterMark: 0 });
  return { body, isRead: (): boolean => read, rest };
}

/** Copies bytes that fill less than half of their buffer: readers hold the pieces of a body, and with each its whole buffer. */
function compact(piece: Uint8Array): Uint8Array {
  return piece.length * 2 < piece.buffer.byteLength ? piece.slice() : piece;
}

/** The rest of a body may arrive for this long, up to so many bytes and pieces: then the connection can be reused. */
const discardMs = 1_000;
const discardBytes = 65_536;
const discardPieces = 256;

/** Reads and drops the rest of a body. Returns whether it reached the end. No read is pending when it resolves. */
async function discard(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  pending: Promise<Piece | undefined>,
): Promise<boolean> {
  let late = false;
  const timer = setTimeout(() => (late = true), discardMs);
  try {
    let [bytes, pieces] = [0, 0];
    for (let next = await pending; next?.done !== true; next = await reader.read()) {
      bytes += next?.value.length ?? 0;
      pieces += 1;
      if (late || bytes > discardBytes || pieces > discardPieces) {
        await reader.cancel();
        return false;
      }
    }
    return true;
  } catch {
    return false; // the sender has left
  } finally {
    clearTimeout(timer);
  }
}

/** A sender that sends nothing more gets its response after this time, and Deno holds the connection until it leaves. */
const longestWaitMs = 2_000;

async function within(rest: Promise<boolean>): Promise<boolean> {
  const { promise: late, resolve } = Promise.withResolvers<false>();
  const timer = setTimeout(() => resolve(false), longestWaitMs);
  return await Promise.race([rest, late]).finally(() => clearTimeout(timer));
}

/** Streams the bytes and then an error, which closes the connection. The client knows the length, so its response is complete. */
function cutAfter(bytes: Uint8Array<ArrayBuffer>): ReadableStream<Uint8Array<ArrayBuffer>> {
  let sent = bytes.length === 0;
  return new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull(controller) {
      // A text without a stack: Deno prints it.
      if (sent) return controller.error('Closed a connection whose request body did not arrive in time');
      sent = true;
      controller.enqueue(bytes);
    },
  }, { highWaterMark: 0 });
}
