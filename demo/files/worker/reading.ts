/** The script of the worker in which the page reads one document: it ends with the file, whatever the file does to it. */

import { fileText, type SkippedPart } from '../../../adapters/grounding/file-text.ts';
import { type ErrorData, toData } from '../../../src/base/errors.ts';

/** What the worker is sent, once. */
export interface ReadingRequest {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly type: string;
}

/** What the worker sends, once. */
export type ReadingAnswer =
  | { readonly text: string; readonly skipped: readonly SkippedPart[] }
  | { readonly error: ErrorData };

Reflect.deleteProperty(globalThis, 'Worker'); // `pdfText` then reads here: this worker is the one that ends
addEventListener('message', (event) => void answer((event as MessageEvent<ReadingRequest>).data)); // safe: its starter sends no other

async function answer({ bytes, type }: ReadingRequest): Promise<void> {
  const skipped: SkippedPart[] = [];
  try {
    const text = await fileText(bytes, { type, onSkipped: (part) => void skipped.push(part) });
    send({ text, skipped });
  } catch (error) {
    send({ error: toData(error) });
  }
}

function send(message: ReadingAnswer): void {
  postMessage(message);
}
