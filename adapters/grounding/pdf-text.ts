/**
 * Reads the text of PDF files in a worker, so that a file can neither hold the event loop nor work longer than it may.
 *
 * - A worker reads one file and ends. What pdf.js has done to its globals ends with it.
 * - The time limit and the signal end the worker at once, whatever it does.
 * - Where no worker can start, the file is read here, and the limits hold between turns alone.
 */

import { type ErrorData, fromData } from '../../src/base/errors.ts';
import { requireRunning } from '../../src/base/turns.ts';
import { untilAborted } from '../../src/base/until-aborted.ts';
import type { SkippedPart } from './office/markdown.ts';
import { cancelledPdf, damagedPdf, type PdfText, readPdf, slowPdf } from './pdf-reader.ts';

export interface PdfTextOptions {
  readonly signal?: AbortSignal | undefined;
  /** How long the reading may take, in milliseconds; 60,000 when absent. */
  readonly timeoutMs?: number;
  readonly onSkipped?: ((part: SkippedPart) => void) | undefined;
}

/** Files that are read at a time: each worker may need a processor and 512 MiB. */
const mostAtOnce = 2;
let reading = 0;
const waiting = new Set<() => void>();
/** False once a worker could not start: its script is elsewhere, or a policy of the page forbids it. */
let hasWorkers = true;

/**
 * Returns the text of a PDF as Markdown, with a heading for each page. `ingest` reads it under the file's own name. Lines come as they
 * stand on the page, and a word that is divided at the end of a line is one again. Nothing in the file runs or loads. Each file is read
 * in a worker of its own (a thread on Node), two at a time. Where none can start, the file is read in turns that a hostile one can make
 * long.
 *
 * @throws PinnaceError `invalid_argument` with the reason `unsupported_type` for an encrypted file, `no_text` for one of pictures,
 * `character_map` where all text is in fonts with a predefined CMap (a first line says where a part of it is),
 * `invalid_document` for a damaged one or one that takes longer than the time, `text_too_long`; `cancelled`.
 * @example
 * const text = await pdfText(new Uint8Array(await file.arrayBuffer())); // a `File` or `Blob`
 */
export async function pdfText(
  file: Uint8Array<ArrayBuffer>,
  { signal, timeoutMs = 60_000, onSkipped }: PdfTextOptions = {},
): Promise<string> {
  requireRunning(signal);
  while (reading >= mostAtOnce) {
    await untilAborted(() => new Promise<void>((wake) => void waiting.add(wake)), { signal, action: 'read the PDF' });
  }
  reading++;
  try {
    let read = hasWorkers ? await readInWorker(file, { signal, timeoutMs }) : undefined;
    hasWorkers = read !== undefined;
    read ??= await readPdf(file, { signal, timeoutMs });
    if (onSkipped) { for (const part of read.skipped) onSkipped(part); }
    return read.text;
  } finally {
    reading--;
    for (const wake of waiting) wake();
    waiting.clear();
  }
}

/** Returns `undefined` where no worker can start. */
async function readInWorker(
  file: Uint8Array<ArrayBuffer>,
  { signal, timeoutMs }: { readonly signal: AbortSignal | undefined; readonly timeoutMs: number },
): Promise<PdfText | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<PdfText | undefined>();
  let isReady = false;
  const worker = startWorker({
    onAnswer(answer) {
      if (answer.type === 'ready') isReady = true;
      else if (answer.type === 'text') resolve(answer);
      else if (answer.type === 'error') reject(fromData(answer.error)); // a tool for development may send more
    },
    onEnd: () => isReady ? reject(damagedPdf()) : resolve(undefined),
  });
  if (!worker) return undefined;
  const stop = (): void => reject(signal?.aborted ? cancelledPdf() : slowPdf(timeoutMs));
  const timer = setTimeout(stop, timeoutMs);
  signal?.addEventListener('abort', stop);
  try {
    worker.post({ file: file.slice(), timeoutMs });
    return await promise;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', stop);
    worker.end();
  }
}

/** What the worker is sent, once. */
export interface PdfRequest {
  readonly file: Uint8Array<ArrayBuffer>;
  readonly timeoutMs: number;
}

/** What the worker sends: that it has started, and then what it has read. */
export type PdfAnswer =
  | { readonly type: 'ready' }
  | { readonly type: 'text' } & PdfText
  | { readonly type: 'error'; readonly error: ErrorData };

interface PdfWorker {
  post(request: PdfRequest): void;
  end(): void;
}

interface PdfWorkerListener {
  readonly onAnswer: (answer: PdfAnswer) => void;
  /** The worker could not start, or has ended by itself. */
  readonly onEnd: () => void;
}

function startWorker({ onAnswer, onEnd }: PdfWorkerListener): PdfWorker | undefined {
  try {
    if (typeof globalThis.Worker !== 'function') return startThread({ onAnswer, onEnd });
    const worker = new Worker(new URL('./pdf-worker.ts', import.meta.url), { type: 'module' }); // bundlers look for these words
    worker.addEventListener('message', ({ data }: MessageEvent<PdfAnswer>) => onAnswer(data));
    worker.addEventListener('error', (event) => {
      event.preventDefault();
      onEnd();
    });
    return { post: (request) => worker.postMessage(request, [request.file.buffer]), end: () => worker.terminate() };
  } catch {
    return undefined;
  }
}

/** The part of `node:worker_threads` that is used. */
interface NodeThreads {
  readonly Worker: new (url: URL, options: object) => {
    on(event: string, listener: (answer: PdfAnswer) => void): unknown;
    postMessage(request: PdfRequest, transfer: readonly ArrayBuffer[]): void;
    terminate(): Promise<number>;
  };
}

/** Node has its workers in a module, which bundles for browsers cannot import. */
function startThread({ onAnswer, onEnd }: PdfWorkerListener): PdfWorker | undefined {
  const { process } = globalThis as { process?: { getBuiltinModule?(name: string): NodeThreads | undefined } };
  const threads = process?.getBuiltinModule?.('node:worker_threads');
  if (!threads) return undefined;
  const worker = new threads.Worker(new URL('./pdf-worker.ts', import.meta.url), {
    resourceLimits: { maxOldGenerationSizeMb: 512 },
    env: {},
    execArgv: [],
    stdout: true,
    stderr: true,
  });
  worker.on('message', onAnswer);
  worker.on('error', onEnd);
  worker.on('exit', onEnd);
  return { post: (request) => worker.postMessage(request, [request.file.buffer]), end: () => void worker.terminate() };
}
