/**
 * Takes files into a message that is being written, and says which are not taken.
 *
 * - Images and audio are sent as they are. Of documents (PDF, Office, text in any encoding) the text is sent, which every model takes;
 *   a PDF without text is sent as it is, for models that see.
 * - A document is read in a worker of its own, which ends with it.
 * - A file that does not fit the model is attached and named: the person decides what becomes of it.
 */

import type { Chat } from '../../chat/state/chat.ts';
import { formatBytes } from '../../kit/format.ts';
import { fileTypeOf, isTextType, sniffType } from '../../../src/base/file-types.ts';
import { PinnaceError } from '../../../src/base/errors.ts';
import { fileTokens, textTokens } from '../../../src/runtime/estimate-prompt.ts';
import { fileKind } from '../../knowledge/worker/file-kind.ts';
import type { AttachedFile } from '../../files/state/attached-file.ts';
import { toDataUrl } from '../../files/state/data-url.ts';
import { readDocument } from '../../files/state/read-document.ts';

/** The limits of the runtime, by its defaults. */
export const limits = { file: 5_242_880, message: 10_485_760, count: 20 } as const;
/** The largest document whose text is read. */
const mostBytes = 33_554_432;

/** What was chosen, for what can still be done with it. */
const originals = new WeakMap<AttachedFile, File>();

/** The file as it was chosen; one of its text, where that is not known any more. */
export function originalOf(attached: AttachedFile): File {
  return originals.get(attached) ??
    new File([textOf(attached)], attached.kind === undefined ? attached.name : `${attached.name}.md`, {
      type: attached.mediaType,
    });
}

/** Adds the files that fit. The others are named with the reason. */
export async function attach(chat: Chat, files: readonly File[]): Promise<void> {
  const problems: string[] = [];
  for (const file of files) {
    const read = await readFile(file);
    const problem = typeof read === 'string' ? read : noRoom(chat.attached.value, read);
    if (problem !== undefined) problems.push(problem);
    else if (typeof read !== 'string') {
      originals.set(read, file);
      chat.attached.value = [...chat.attached.value, read];
    }
  }
  chat.attachProblem.value = problems.length === 0 ? undefined : problems.join(' ');
}

/** Adds a text as a file. Returns whether it fits. */
export async function attachText(chat: Chat, text: string): Promise<boolean> {
  const taken = chat.attached.value.filter(({ name }) => name.startsWith('Pasted text')).length;
  const name = taken === 0 ? 'Pasted text.txt' : `Pasted text ${taken + 1}.txt`;
  await attach(chat, [new File([text], name, { type: 'text/plain' })]);
  return chat.attachProblem.value === undefined;
}

async function readFile(file: File): Promise<AttachedFile | string> {
  const { name, size } = file;
  if (size > mostBytes) return tooLarge(name, size, mostBytes);
  try {
    const bytes = new Uint8Array(await file.arrayBuffer());
    if (bytes.length === 0) return `“${name}” is empty.`;
    const mediaType = typeOf(bytes, file.type);
    if (mediaType !== undefined && mediaType !== 'application/pdf') return await asItIs({ name, mediaType, bytes });
    if (mediaType === undefined && !isDocument(name, bytes)) return wrongType(name);
    return await asText(file, bytes);
  } catch (error) {
    if (error instanceof PinnaceError) return `“${name}” was not attached: ${whyOf(error)}.`;
    return `“${name}” cannot be read. Check that the file still exists.`;
  }
}

/** The content decides. Browsers name a type by the file's ending, such as `video/mp2t` for TypeScript. */
function typeOf(bytes: Uint8Array, declared: string): string | undefined {
  const isText = declared.startsWith('text/') || declared === 'application/json';
  try {
    return sniffType(bytes) ?? fileTypeOf(bytes, isText || declared.startsWith('image/') ? declared : '');
  } catch {
    return undefined;
  }
}

/** Office files are archives, or containers of older versions; other names promise text in some encoding. */
function isDocument(name: string, bytes: Uint8Array): boolean {
  if (officeEndings.test(name)) return true;
  const kind = fileKind(name);
  return (kind === 'document' || kind === 'code') && !bytes.subarray(0, 4).every((byte) => byte === 0);
}

const officeEndings = /\.(?:docx?|dotx|docm|xlsx?|xlsm|pptx?|pptm|od[tsp])$/i;

async function asItIs(
  { name, mediaType, bytes, ...more }:
    & { readonly name: string; readonly mediaType: string; readonly bytes: Uint8Array<ArrayBuffer> }
    & Pick<AttachedFile, 'kind' | 'skipped'>
    & { readonly size?: number },
): Promise<AttachedFile | string> {
  if (bytes.length > limits.file) return tooLarge(name, bytes.length, limits.file);
  const tokens = isTextType(mediaType)
    ? textTokens(new TextDecoder().decode(bytes))
    : fileTokens({ mediaType, data: { type: 'data', data: bytes } });
  const url = await toDataUrl(new Blob([bytes], { type: mediaType }));
  return { name, mediaType, size: bytes.length, url, tokens, ...more };
}

/** The document's text, as Markdown. */
async function asText(file: File, bytes: Uint8Array<ArrayBuffer>): Promise<AttachedFile | string> {
  const { name, type, size } = file;
  try {
    const { text, skipped } = await readDocument({ bytes, type });
    return await asItIs({
      name,
      mediaType: 'text/markdown',
      bytes: new TextEncoder().encode(text),
      size,
      kind: documentKind(name, bytes),
      ...(skipped.length > 0 && { skipped: [...skipped] }),
    });
  } catch (error) {
    if (!(error instanceof PinnaceError) || sniffType(bytes) !== 'application/pdf') throw error;
    const reason = error.details?.['reason'];
    if (reason !== 'no_text' && reason !== 'character_map') throw error;
    return await asItIs({ name, mediaType: 'application/pdf', bytes });
  }
}

const documentKinds: readonly (readonly [endings: RegExp, kind: string])[] = [
  [/\.(?:docx|docm|dotx|odt)$/i, 'Document'],
  [/\.(?:xlsx|xlsm|ods)$/i, 'Spreadsheet'],
  [/\.(?:pptx|pptm|odp)$/i, 'Presentation'],
];

function documentKind(name: string, bytes: Uint8Array): string {
  if (sniffType(bytes) === 'application/pdf') return 'PDF';
  return documentKinds.find(([endings]) => endings.test(name))?.[1] ?? 'Text';
}

/** `Cannot read the PDF: it is damaged` -> `it is damaged`. */
function whyOf({ message }: PinnaceError): string {
  return message.replace(/^Cannot [^:]+: /, '');
}

function tooLarge(name: string, size: number, most: number): string {
  return `“${name}” is too large: ${formatBytes(size)}. The limit is ${
    formatBytes(most)
  } per file. Add a large text to Files instead, where agents search it.`;
}

function wrongType(name: string): string {
  return `“${name}” has an unsupported type. Attach a PDF, Word, Excel or PowerPoint file, text, code, a table, a PNG, JPEG, GIF or WebP image, or WAV, MP3, OGG, FLAC or M4A audio.`;
}

function noRoom(attached: readonly AttachedFile[], { name, url }: AttachedFile): string | undefined {
  if (attached.length >= limits.count) {
    return `“${name}” was not attached: the limit is ${limits.count} files per message. Send it with the next message.`;
  }
  const total = attached.reduce((sum, file) => sum + sentBytes(file.url), sentBytes(url));
  if (total <= limits.message) return undefined;
  return `“${name}” was not attached: the limit is ${
    formatBytes(limits.message)
  } per message. Send it with the next message.`;
}

/** The bytes in a data URL. */
function sentBytes(url: string): number {
  return Math.floor((url.length - url.indexOf(',') - 1) * 0.75);
}

/** The text of a file that is not sent yet. */
export function textOf({ url }: AttachedFile): string {
  const bytes = Uint8Array.from(atob(url.slice(url.indexOf(',') + 1)), (character) => character.charCodeAt(0));
  return new TextDecoder().decode(bytes);
}

/** What the files of a message exceed, and by how much. */
export interface Excess {
  readonly files: readonly AttachedFile[];
  /** Of what the model takes. */
  readonly percent: number;
  /** Tokens that the largest file can have. */
  readonly room: number;
}

/** Whether the files take more than the model does; `undefined` when they fit. A share is for instructions and the question. */
export function excessOf(files: readonly AttachedFile[], contextTokens: number): Excess | undefined {
  const most = contextTokens - Math.min(8_000, contextTokens * 0.2);
  const sum = files.reduce((total, { tokens = 0 }) => total + tokens, 0);
  if (sum <= most) return undefined;
  const large = files.toSorted((a, b) => (b.tokens ?? 0) - (a.tokens ?? 0));
  const [largest] = large;
  const room = Math.max(0, most - (sum - (largest?.tokens ?? 0)));
  const alone = large.filter(({ tokens = 0 }) => tokens > most);
  return { files: alone.length > 0 ? alone : files, percent: Math.max(1, Math.ceil((sum / most - 1) * 100)), room };
}

/** Replaces a text by as much of its start as has these tokens. */
export async function takeFirstPart(chat: Chat, file: AttachedFile, tokens: number): Promise<void> {
  const text = textOf(file);
  const share = Math.min(1, tokens / Math.max(1, file.tokens ?? 1)) * 0.95;
  const length = Math.floor(text.length * share);
  const end = Math.max(text.lastIndexOf('\n', length), length - 2_000);
  const first = text.slice(0, end).toWellFormed();
  const kept = await asItIs({
    name: file.name,
    mediaType: file.mediaType,
    bytes: new TextEncoder().encode(first),
    size: file.size,
    kind: file.kind ?? 'Text',
    skipped: [...file.skipped ?? [], `the last ${Math.round((1 - end / text.length) * 100)} %: removed to fit`],
  });
  if (typeof kept === 'string') return void (chat.attachProblem.value = kept);
  originals.set(kept, originalOf(file));
  chat.attached.value = chat.attached.value.map((other) => other === file ? kept : other);
}
