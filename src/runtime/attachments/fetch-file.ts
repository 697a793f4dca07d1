/** Fetches a file by its address, which a user or a model chose: only through the guarded egress, and without secrets. */

import { PinnaceError, toPinnaceError } from '../../base/errors.ts';
import type { FileAccess } from './files.ts';

/** The whole exchange, the body too. */
const fetchMs = 15_000;

/** Returns the bytes. @throws PinnaceError `forbidden`, `not_found`, `unavailable`, or `invalid_argument` for a file that is too large. */
export async function fetchFile(url: string, access: FileAccess): Promise<Uint8Array<ArrayBuffer>> {
  const { egress, signal, limits: { attachmentLength: maxBytes } } = access;
  if (!egress) throw noWay('this runtime has no egress');
  try {
    const answer = await egress.fetch(new Request(url), {
      origins: 'any',
      accept: 'media',
      maxBytes,
      timeoutMs: fetchMs,
      signal,
      circuit: 'attachment',
    });
    if (!answer.ok) await answer.body?.cancel();
    requireOk(answer.status);
    return await readAll(answer);
  } catch (thrown) {
    signal.throwIfAborted();
    throw refusalOf(toPinnaceError(thrown), maxBytes);
  }
}

/** Reads the body part by part: so an error of the egress arrives as it is, on every platform. */
async function readAll({ body }: Response): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  const reader = body?.getReader();
  for (;;) {
    const next = await reader?.read();
    if (!next || next.done) return new Uint8Array(await new Blob(parts).arrayBuffer());
    parts.push(next.value);
  }
}

function requireOk(status: number): void {
  if (status >= 200 && status < 300) return;
  if (status >= 400 && status < 500 && status !== 408 && status !== 429) {
    throw new PinnaceError('not_found', `Cannot load a file by its address: its host answered with status ${status}`, {
      details: { reason: 'attachment_missing', status },
    });
  }
  throw unreachable(`its host answered with status ${status}`);
}

/** What the egress refused, in the words of a message's sender. Its own reason is `details.cause`. */
function refusalOf(error: PinnaceError, maxBytes: number): PinnaceError {
  const cause = error.details?.['reason'];
  if (cause === 'attachment_missing' || cause === 'attachment_unreachable') return error;
  if (cause === 'response_too_large') {
    return new PinnaceError('invalid_argument', `Cannot load a file by its address: it has over ${maxBytes} bytes`, {
      cause: error,
      details: { reason: 'attachment_too_large', maxBytes },
    });
  }
  if (cause === 'content_type') {
    return new PinnaceError('invalid_argument', 'Cannot load a file by its address: it is a page or a program', {
      cause: error,
      details: { reason: 'attachment_type' },
    });
  }
  if (error.code === 'forbidden' || cause === 'egress_unpinned') return noWay('the egress refuses it', error);
  return unreachable('its host does not answer as it should', error);
}

function noWay(why: string, error?: PinnaceError): PinnaceError {
  const message = `Cannot load a file by its address: ${why}; send its content as a data URL or upload it`;
  const cause = error?.details?.['reason'];
  return new PinnaceError('forbidden', message, {
    cause: error,
    details: { reason: 'egress', ...(typeof cause === 'string' && { cause }) },
  });
}

function unreachable(why: string, cause?: PinnaceError): PinnaceError {
  return new PinnaceError('unavailable', `Cannot load a file by its address: ${why}`, {
    cause,
    details: { reason: 'attachment_unreachable' },
  });
}
