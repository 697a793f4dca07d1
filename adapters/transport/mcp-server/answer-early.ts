/**
 * Starts a slow response as a stream. A server that has not started to respond may not notice that its client has left (Deno's
 * does not, for clients that send headers and body apart); a server that streams does, and then the tool can be stopped.
 */

/** When to start the stream, and what to do when the client leaves after that. */
interface EarlyOptions {
  readonly waitMs: number;
  readonly onLeave: () => void;
}

const headers = { 'content-type': 'text/event-stream', 'cache-control': 'no-cache', 'x-accel-buffering': 'no' };

/** Returns the response if it comes in time, else an event stream that it will be written to. */
export async function answerEarly(answer: Promise<Response>, { waitMs, onLeave }: EarlyOptions): Promise<Response> {
  const { promise: late, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => resolve(undefined), waitMs);
  const inTime = await Promise.race([answer, late]);
  clearTimeout(timer);
  if (inTime) return inTime;
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  void pass(answer, writable, onLeave).catch(() => undefined); // the client has left
  return new Response(readable, { headers });
}

async function pass(
  answer: Promise<Response>,
  writable: WritableStream<Uint8Array>,
  onLeave: () => void,
): Promise<void> {
  const encoder = new TextEncoder();
  const writer = writable.getWriter();
  let waiting = true;
  writer.closed.catch(() => waiting && onLeave());
  await writer.write(encoder.encode(': the tool is at work\n\n'));
  const response = await answer;
  waiting = false;
  if (response.body && response.headers.get('content-type')?.includes('text/event-stream')) {
    writer.releaseLock();
    return await response.body.pipeTo(writable);
  }
  const message = await response.text(); // JSON in one line
  if (message !== '') await writer.write(encoder.encode(`event: message\ndata: ${message}\n\n`));
  await writer.close();
}

/** Calls `done` when the response is read to its end, or canceled. */
export function whenRead(response: Response, done: () => void): Response {
  if (response.body === null) {
    done();
    return response;
  }
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  void response.body.pipeTo(writable).catch(() => undefined).finally(done);
  return new Response(readable, response);
}
