/**
 * Reads the text of PDF files (ISO 32000) with pdf.js, as unpdf packs it. pdf.js does much of a page in one turn of its thread, and a
 * file of one kilobyte can make it work for minutes: `pdfText` runs this in a worker, where one can start.
 */

import { PinnaceError } from '../../src/base/errors.ts';
import { loadOnce } from '../../src/base/load-once.ts';
import { createTurns, requireRunning, type Turns } from '../../src/base/turns.ts';
import { TextBudget } from '../../src/grounding/ingest/pieces.ts';
import { createMarkdown, type Markdown, type SkippedPart } from './office/markdown.ts';
import { checkPdf } from './pdf-check.ts';

interface PdfDocument {
  readonly numPages: number;
  getPage(number: number): Promise<PdfPage>;
  destroy(): Promise<void>;
}

interface PdfPage {
  streamTextContent(options: object): ReadableStream<{ readonly items: readonly PdfItem[] }>;
  cleanup(): unknown;
}

interface PdfItem {
  readonly str?: string;
  readonly hasEOL?: boolean;
}

export interface PdfText {
  readonly text: string;
  readonly skipped: readonly SkippedPart[];
}

/** Reads the text. Throws what `pdfText` throws. The time limit holds between turns. */
export async function readPdf(
  file: Uint8Array<ArrayBuffer>,
  { signal, timeoutMs }: { readonly signal?: AbortSignal | undefined; readonly timeoutMs: number },
): Promise<PdfText> {
  requireRunning(signal);
  const turns = createTurns(signal);
  await checkPdf(file, turns);
  const markdown = createMarkdown(new TextBudget());
  const maps = new Set<string>();
  const skipped: SkippedPart[] = [];
  const task = (await loadPdfJs()).getDocument({
    BinaryDataFactory: noDataFor(maps),
    data: file.slice(), // it is transferred
    useSystemFonts: true,
    disableFontFace: true,
    useWasm: false,
    useWorkerFetch: false,
    isOffscreenCanvasSupported: false,
    isImageDecoderSupported: false,
    verbosity: 0,
  });
  const ended = Promise.withResolvers<never>();
  ended.promise.catch(() => undefined); // it may end after the reading
  const stop = (): void => ended.reject(signal?.aborted ? cancelledPdf() : slowPdf(timeoutMs));
  const timer = setTimeout(stop, timeoutMs);
  signal?.addEventListener('abort', stop);
  try {
    const document = await Promise.race([task.promise, ended.promise]);
    await Promise.race([readPages(document, { markdown, turns, skipped }), ended.promise]);
  } catch (error) {
    throw error instanceof PinnaceError ? error : explain(error);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', stop);
    await task.destroy().catch(() => undefined); // what is left of a file that cannot be read
  }
  const text = markdown.text();
  const [map] = maps;
  if (!/^(?!## Page \d+$)./m.test(text)) throw map === undefined ? noText() : noCharacterMap(map);
  return { text: map === undefined ? text : `${missingText(map)}\n\n${text}`, skipped };
}

async function readPages(
  document: PdfDocument,
  { markdown, turns, skipped }: {
    readonly markdown: Markdown;
    readonly turns: Turns;
    readonly skipped: SkippedPart[];
  },
): Promise<void> {
  for (let number = 1; number <= document.numPages; number++) {
    await turns.next();
    markdown.budget.part = `page ${number}`;
    const page = await document.getPage(number);
    const text = await textOf(page, markdown.budget);
    page.cleanup();
    if (text.trim() === '') {
      skipped.push({ part: `page ${number}`, reason: 'no text: it may be empty or a picture' });
      continue;
    }
    markdown.heading(2, `Page ${number}`);
    markdown.paragraph(text);
  }
}

async function textOf(page: PdfPage, budget: TextBudget): Promise<string> {
  const parts: string[] = [];
  let length = 0;
  const reader = page.streamTextContent({ includeMarkedContent: false, disableNormalization: false }).getReader();
  for (;;) { // not every browser can iterate a stream
    const { done, value } = await reader.read();
    if (done) break;
    for (const { str = '', hasEOL } of value.items) {
      parts.push(hasEOL ? `${str}\n` : str);
      length += str.length + 1;
    }
    budget.require(length);
  }
  // A soft hyphen: the word is found, and a hyphen of the word is not lost for ever.
  return parts.join('').replace(/(\p{Ll})-\n(?=\p{Ll})/gu, '$1\u00ad');
}

interface PdfJs {
  getDocument(options: object): { readonly promise: Promise<PdfDocument>; destroy(): Promise<void> };
}

/** pdf.js adds names to the platform. All but its worker, which it looks for there, go again: others test for them. */
const loadPdfJs = /* @__PURE__ */ loadOnce(async (): Promise<PdfJs> => {
  const before = new Set(Reflect.ownKeys(globalThis));
  if (!('DOMMatrix' in globalThis)) Object.assign(globalThis, { DOMMatrix: Object }); // its module makes one; text needs none
  const pdfJs = await import('unpdf/pdfjs'); // not `unpdf`, which webpack cannot bundle
  for (const name of Reflect.ownKeys(globalThis)) {
    if (!before.has(name) && name !== 'pdfjsWorker') Reflect.deleteProperty(globalThis, name);
  }
  return pdfJs as unknown as PdfJs; // the part of its types that is used
});

function explain(error: unknown): PinnaceError {
  return error instanceof Error && error.name === 'PasswordException' ? encryptedPdf() : damagedPdf(error);
}

export function damagedPdf(cause?: unknown): PinnaceError {
  return new PinnaceError('invalid_argument', 'Cannot read the PDF: it is damaged', {
    details: { reason: 'invalid_document' },
    cause,
  });
}

function encryptedPdf(): PinnaceError {
  return new PinnaceError('invalid_argument', 'Cannot read the PDF: it is encrypted; save it without a password', {
    details: { reason: 'unsupported_type' },
  });
}

/**
 * Returns the class by which pdf.js loads its data. It loads none, and notes the predefined character maps that fonts ask for: those of
 * all languages take megabytes, and no package has them as data that bundles cleanly.
 */
function noDataFor(maps: Set<string>) {
  return class {
    fetch({ kind, filename }: { readonly kind: string; readonly filename: string }): Promise<never> {
      const [, name] = /^([\w-]{1,40})(?:\.bcmap)?$/.exec(filename) ?? [];
      if (kind === 'cMapUrl') maps.add(name ?? 'unknown');
      return Promise.reject(new Error(`Not available: ${kind}`));
    }
  };
}

function missingText(map: string): string {
  return `Text may be missing: fonts of this PDF use the predefined character map ${map}, which cannot be read.`;
}

function noCharacterMap(map: string): PinnaceError {
  return new PinnaceError(
    'invalid_argument',
    `Cannot read the PDF: its fonts use the predefined character map "${map}"; save it with Unicode maps (as PDF/A-2u), or recognize the text with another tool`,
    { details: { reason: 'character_map', map } },
  );
}

function noText(): PinnaceError {
  return new PinnaceError(
    'invalid_argument',
    'Cannot read the PDF: its pages are pictures without text; recognize the text with another tool first',
    { details: { reason: 'no_text' } },
  );
}

export function slowPdf(timeoutMs: number): PinnaceError {
  return new PinnaceError(
    'invalid_argument',
    `Cannot read the PDF: it takes longer than ${timeoutMs} ms; split the file`,
    {
      details: { reason: 'invalid_document' },
    },
  );
}

export function cancelledPdf(): PinnaceError {
  return new PinnaceError('cancelled', 'The reading of the PDF was stopped');
}
