/** Makes a response safe to read: harmless headers, text or JSON only, its body counted and ended in time. */

import { PinnaceError } from '../../src/base/errors.ts';
import type { EgressOptions } from '../../src/contracts/egress.ts';
import { requirePieces } from '../../src/base/read-text.ts';
import type { Deadline } from './deadline.ts';
import { allowedResponseHeaders } from './headers.ts';
import { unreachable, unusable } from './refusals.ts';

export interface BodyLimits {
  readonly maxBytes: number;
  readonly deadline: Deadline;
  /** Whether a body of any type is read, and breaks as that of a `fetch` does; otherwise it must be text or JSON. */
  readonly callerLimits: boolean;
  /** Which other bodies are read. */
  readonly accept?: EgressOptions['accept'];
  /** Called when the body is read, canceled or broken; may be called again. */
  readonly onEnd: () => void;
}

/** Returns the response with only what a tool may read. A body that may not be read is canceled. */
export async function guardAnswer(answer: Response, limits: BodyLimits): Promise<Response> {
  try {
    const headers = allowedResponseHeaders(answer.headers);
    const init = { status: answer.status, headers };
    if (answer.body === null) return ended(new Response(null, init), limits);
    const refusal = limits.callerLimits ? undefined : typeRefusal(answer.headers, limits.accept);
    if (refusal && answer.ok && answer.headers.has('content-type')) throw refusal;
    const isNamed = answer.headers.has('content-type');
    return new Response(guardBody(answer.body, { ...limits, refusal, isNamed }), init);
  } catch (error) {
    limits.onEnd();
    await answer.body?.cancel().catch(() => {});
    throw error;
  }
}

function ended(answer: Response, { onEnd }: BodyLimits): Response {
  onEnd();
  return answer;
}

/** Text, JSON and XML, with their relatives. */
const readable =
  /^(?:text\/[\w.+-]+|application\/(?:[\w.-]+\+)?(?:json|xml)|application\/(?:x-)?(?:ndjson|jsonl|json|json-rpc|jsonrequest|www-form-urlencoded))$/;

/** Images, sounds, PDF, and bytes that their host calls nothing else. */
const media = /^(?:(?:image|audio)\/[\w.+-]+|application\/(?:pdf|octet-stream)|binary\/octet-stream|)$/;

/**
 * Returns the error of a body whose type is not read. An empty chunked body has no type, and the status of a refusal counts whatever
 * its body is, so for both the error waits for the first byte that is read. A body without a type that starts as JSON is JSON.
 */
function typeRefusal(headers: Headers, accept: EgressOptions['accept']): PinnaceError | undefined {
  const type = headers.get('content-type')?.split(';')[0]?.trim().toLowerCase() ?? '';
  const isEmpty = headers.get('content-length') === '0';
  if (isEmpty || readable.test(type) || (accept === 'media' && media.test(type))) return undefined;
  return unusable('content_type', accept === 'media' ? 'it is no file' : 'it is neither text nor JSON');
}

function startsJson(bytes: Uint8Array): boolean {
  return /^\s*[{[]/.test(new TextDecoder().decode(bytes.subarray(0, 64)));
}

type Bytes = Uint8Array<ArrayBuffer>;

function guardBody(
  body: ReadableStream<Bytes>,
  { maxBytes, deadline, onEnd, callerLimits, refusal, isNamed }: BodyLimits & {
    readonly refusal: PinnaceError | undefined;
    readonly isNamed: boolean;
  },
): ReadableStream<Bytes> {
  const source = body.getReader();
  let bytes = 0;
  let pieces = 0;
  const giveUp = async (reason: unknown): Promise<void> => {
    onEnd();
    await source.cancel(reason).catch(() => {});
  };
  deadline.signal.addEventListener('abort', () => void giveUp(deadline.signal.reason), { once: true });
  return new ReadableStream<Bytes>({
    async pull(controller) {
      try {
        const { done, value } = await deadline.race(source.read());
        deadline.signal.throwIfAborted(); // an abort ends the source too, and a part must not look like the whole
        if (done) return finish(controller, onEnd);
        const isFirst = bytes === 0 && value.byteLength > 0;
        if (isFirst && refusal && (isNamed || !startsJson(value))) throw refusal;
        bytes += value.byteLength; // counted up: there may be no limit to count down from
        if (bytes > maxBytes) throw tooLarge(maxBytes);
        requirePieces(++pieces, bytes);
        controller.enqueue(value);
      } catch (error) {
        void giveUp(error);
        deadline.signal.throwIfAborted(); // with its own reason instead of the platform's
        if (error instanceof PinnaceError) throw error;
        if (callerLimits) throw new TypeError('The answer broke off', { cause: error }); // as the body of a fetch does
        throw unreachable('unreachable', 'the answer broke off', { cause: error });
      }
    },
    cancel: giveUp,
  }, { highWaterMark: 0 });
}

function finish(controller: ReadableStreamDefaultController, onEnd: () => void): void {
  onEnd();
  controller.close();
}

function tooLarge(maxBytes: number): PinnaceError {
  return new PinnaceError('budget_exceeded', `Cannot use the answer: it is longer than ${maxBytes} bytes`, {
    details: { reason: 'response_too_large', maxBytes },
  });
}
