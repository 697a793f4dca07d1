/** Reads the text of documents in the page, each in a worker of its own. */

import { fromData, PinnaceError } from '../../../src/base/errors.ts';
import { ownScript } from '../../control/trusted.ts';
import type { ReadingAnswer, ReadingRequest } from '../worker/reading.ts';
// oxlint-disable-next-line import/default -- Vite makes this module: it exports the address
import workerUrl from '../worker/reading.ts?worker&url';

/** The text of a document, and what is not in it. */
export interface DocumentText {
  readonly text: string;
  /** Such as `page 3: no text`. */
  readonly skipped: readonly string[];
}

/** How long a document may take. */
const timeoutMs = 60_000;

/** Reads a document. @throws PinnaceError as `fileText` does, and for one that takes longer than a minute. */
export async function readDocument({ bytes, type }: ReadingRequest): Promise<DocumentText> {
  const { text, skipped } = typeof Worker === 'function'
    ? await readApart({ bytes, type })
    : await readHere(bytes, type);
  return { text, skipped: skipped.map(({ part, reason }) => `${part}: ${reason}`) };
}

type Read = Exclude<ReadingAnswer, { error: unknown }>;

async function readApart(request: ReadingRequest): Promise<Read> {
  const { promise, resolve, reject } = Promise.withResolvers<Read>();
  const worker = new Worker(ownScript(workerUrl), { type: 'module', name: 'reading' });
  const timer = setTimeout(() => reject(unreadable('it takes longer than a minute to read; split it')), timeoutMs);
  worker.addEventListener('message', ({ data }: MessageEvent<ReadingAnswer>) => {
    if ('error' in data) reject(fromData(data.error));
    else if ('text' in data) resolve(data); // pdf.js sends a message of its own first
  });
  worker.addEventListener('error', (event) => {
    event.preventDefault();
    reject(unreadable('the reader stopped; it may be damaged or too large'));
  });
  try {
    worker.postMessage(request);
    return await promise;
  } finally {
    clearTimeout(timer);
    worker.terminate();
  }
}

/** Where there are no workers, the readers work in turns. */
async function readHere(bytes: Uint8Array<ArrayBuffer>, type: string): Promise<Read> {
  const { fileText } = await import('../../../adapters/grounding/file-text.ts');
  const skipped: Read['skipped'][number][] = [];
  return { text: await fileText(bytes, { type, onSkipped: (part) => void skipped.push(part) }), skipped };
}

function unreadable(why: string): PinnaceError {
  return new PinnaceError('invalid_argument', `Cannot read the file: ${why}`, {
    details: { reason: 'invalid_document' },
  });
}
