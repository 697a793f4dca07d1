/** The script of the worker in which `pdfText` reads one file. */

import { toData } from '../../src/base/errors.ts';
import { readPdf } from './pdf-reader.ts';
import type { PdfAnswer, PdfRequest } from './pdf-text.ts';

/** A thread of Node listens at a port, and a worker of other platforms at its global object. */
interface ThreadPort {
  on(event: 'message', listener: (request: PdfRequest) => void): unknown;
  postMessage(answer: PdfAnswer): void;
}

const port = 'postMessage' in globalThis ? undefined : threadPort();
if (port) port.on('message', (request) => void answer(request));
else {
  addEventListener('message', (event) => void answer((event as MessageEvent<PdfRequest>).data)); // safe: its starter sends no other
}
send({ type: 'ready' });

async function answer({ file, timeoutMs }: PdfRequest): Promise<void> {
  try {
    send({ type: 'text', ...await readPdf(file, { timeoutMs }) });
  } catch (error) {
    send({ type: 'error', error: toData(error) });
  }
}

function send(message: PdfAnswer): void {
  if (port) port.postMessage(message);
  else postMessage(message);
}

function threadPort(): ThreadPort | undefined {
  const { process } = globalThis as {
    process?: { getBuiltinModule?(name: string): { readonly parentPort: ThreadPort | null } };
  };
  return process?.getBuiltinModule?.('node:worker_threads').parentPort ?? undefined;
}
