/** The files of a run that has some. */

import { PinnaceError, toData, toPinnaceError } from '../base/errors.ts';
import type { ModelMessage, UIMessage } from '../contracts/ai-types.ts';
import type { Limits } from './limits.ts';
import { createSlots } from '../tools/run-scope.ts';
import { base64Size, fromBase64, toBase64 } from '../base/base64.ts';
import { loadOnce } from '../base/load-once.ts';
import type { LanguageModelV4ToolResultOutput } from '@ai-sdk/provider';
import { type MediaBlock, mediaOf, withMedia } from '../tools/content.ts';
import { originOf, withOrigin } from './message-parts.ts';
import { isRecord } from '../base/is-record.ts';
import { readBytes } from '../base/read-text.ts';
import {
  blobIdOf,
  blobUrl,
  type FileAccess,
  type FileAddress,
  type LoadedFile,
  readDataUrl,
  requireLength,
  resourceOf,
  type RunFiles,
  type RunFilesOptions,
} from './message-files.ts';
import type { BlobScope, BlobStore } from '../contracts/blob-store.ts';
import { fileTypeOf, isTextType, sniffType } from '../base/file-types.ts';

/** Creates the files of a run. */
export function openFiles(options: RunFilesOptions): Required<RunFiles> {
  const { answered, push } = options;
  const known = new Map<string, LoadedFile>(); // what this run has stored, by its address
  const store = storeOf(options, known);
  return {
    load: (messages) =>
      loadFiles(messages, {
        ...options,
        async onLoaded(file, at) {
          if (file.from === 'stored' || file.from === 'resource') return;
          const url = await store(file, file.from);
          const part = partOf(answered, at);
          if (url === undefined || part === undefined) return;
          const data = { messageId: answered?.id, part, url, mediaType: file.mediaType, size: file.bytes.length };
          push?.({ type: 'data-attachment', id: `${answered?.id}:${part}`, data });
        },
      }),
    async settled(outcome) {
      if (!outcome.ok) return outcome;
      return { ok: true, output: await withStoredFiles(outcome.output, (file) => store(file, 'tool')) };
    },
    result: async (output) => ({
      type: 'content',
      value: await contentOf(output, async ({ url }) => known.get(url) ?? 'it is not stored'),
    }),
    shown: (chunks) => withStoredFiles(chunks, (file) => store(file, 'model')),
  };
}

/** Checks the inline files of a message. @throws PinnaceError `invalid_argument`. */
export function checkInline({ parts }: UIMessage, limits: Limits): void {
  const files = parts.filter((part) => part.type === 'file');
  requireCount(files.length);
  const sizes = files.map(({ url }) => readInline(url, limits)?.bytes.length ?? 0);
  requireLength(sizes.reduce((sum, size) => sum + size, 0), limits.attachmentsLength, 'the files of a message');
}

/**
 * Returns the message with its inline files stored, and referred to. One whose content is no file that may be stored stays as it is.
 * Rejects as the store does.
 */
export async function storeInline(
  message: UIMessage,
  { blobs, limits, scope, pay }: {
    readonly blobs: BlobStore;
    readonly limits: Pick<Limits, 'attachmentLength'>;
    readonly scope: BlobScope;
    /** Pays for the files before they are stored. */
    readonly pay?: ((bytes: number) => Promise<void>) | undefined;
  },
): Promise<{ readonly message: UIMessage; readonly files: number }> {
  const inline = message.parts.map((part) => isFilePart(part) ? tryInline(part.url, limits) : undefined);
  const files = inline.filter((file) => file !== undefined);
  if (files.length === 0) return { message, files: 0 };
  await pay?.(files.reduce((sum, { bytes }) => sum + bytes.length, 0));
  const parts = await Promise.all(message.parts.map(async (part, at) => {
    const file = inline[at];
    if (!file || !isFilePart(part)) return part;
    const { bytes, mediaType } = file;
    return { ...part, mediaType, url: blobUrl(await blobs.put({ bytes, mediaType }, scope)) };
  }));
  return { message: { ...message, parts }, files: files.length };
}

type UIPart = UIMessage['parts'][number];

function isFilePart(part: UIPart): part is Extract<UIPart, { type: 'file' | 'reasoning-file' }> {
  return part.type === 'file' || part.type === 'reasoning-file';
}

function tryInline(url: string, limits: Pick<Limits, 'attachmentLength'>): LoadedFile | undefined {
  try {
    return readInline(url, limits);
  } catch {
    return undefined;
  }
}

type Store = (file: Parameters<StoreFile>[0], from: 'inline' | 'url' | 'tool' | 'model') => Promise<string | undefined>;

/** Stores a file, and emits that. A store that fails ends no run that has the file. */
function storeOf(
  { blobs, budgets, owner: { tenant, subject }, signal, span, isPaid = false }: RunFilesOptions,
  known: Map<string, LoadedFile>,
): Store {
  return async (file, from) => {
    const { bytes, mediaType } = file;
    const facts = { action: 'attachment.store', payload: { size: bytes.length, mediaType, from } };
    try {
      if (!isPaid || from !== 'inline') await budgets?.write({ tenant, subject }, bytes.length);
      const id = await blobs.put({ bytes, mediaType }, { tenant, subject, signal });
      const url = blobUrl(id);
      known.set(url, { ...file, from: 'stored' });
      span.emit({ ...facts, target: { type: 'attachment', id }, status: 'ok' });
      return url;
    } catch (error) {
      if (signal.aborted) return undefined;
      span.emit({ ...facts, target: { type: 'attachment', id: 'unknown' }, status: 'error', error: toData(error) });
      return undefined;
    }
  };
}

/** The index of the message's file among its parts. */
function partOf(message: UIMessage | undefined, file: number): number | undefined {
  const indexes = message?.parts.flatMap(({ type }, at) => type === 'file' ? [at] : []);
  return indexes?.[file];
}

type UserContent = Exclude<Extract<ModelMessage, { role: 'user' }>['content'], string>;
type AnswerContent = Exclude<Extract<ModelMessage, { role: 'assistant' }>['content'], string>;
type FilePart = Extract<UserContent[number], { type: 'file' }>;

/** How the files of messages are loaded. */
interface LoadOptions extends FileAccess {
  /** Receives each file of the message that the run answers, in order. */
  readonly onLoaded: (file: LoadedFile, at: number) => Promise<void>;
}

/** The most files of one message. */
export const maxFiles = 20;

/**
 * Returns the messages with their files inline, texts as text. The newest are loaded first. A file that cannot be used fails the
 * message that the run answers; in an older message, or beyond twice `attachmentsLength`, a line of text takes its place.
 */
async function loadFiles(messages: readonly ModelMessage[], options: LoadOptions): Promise<ModelMessage[]> {
  const loaded: ModelMessage[] = [];
  const history = createHistoryLoader(options);
  for (const [at, message] of [...messages.entries()].toReversed()) {
    const isAnswered = at === messages.length - 1 && message.role === 'user';
    const own = isAnswered ? await loadAnswered(message, options, history) : await loadOlder(message, history);
    loaded.unshift(withOrigin(own, originOf(message)));
  }
  return loaded;
}

/** The most files that are loaded for older messages, and how many at once: a client may name any number. */
const maxOldFiles = 100;
const atOnce = 4;
const noSpace = 'the messages after it fill the space for files';

/** Loads a file of an older message; a text says why there is none. */
type LoadOld = (address: FileAddress) => Promise<LoadedFile | string>;

interface HistoryLoader {
  readonly load: LoadOld;
  readonly count: (size: number) => void;
}

function createHistoryLoader(options: FileAccess): HistoryLoader {
  const { signal, limits: { attachmentsLength } } = options;
  const known = new Map<string, Promise<LoadedFile | string>>();
  const slots = createSlots();
  let left = 2 * attachmentsLength;
  const count = (size: number): void => void (left -= size);
  const load: LoadOld = async (address) => {
    const free = await slots.take('file', atOnce, signal);
    try {
      if (left <= 0) return noSpace;
      const file = await loadFile(address, options);
      count(file.bytes.length);
      return left < 0 ? noSpace : file;
    } catch (error) {
      signal.throwIfAborted();
      return whyNot(error);
    } finally {
      free();
    }
  };
  return {
    count,
    load(address) {
      const key = `${address.mediaType}\n${address.url}`;
      const loading = known.get(key) ?? (known.size < maxOldFiles ? load(address) : Promise.resolve(noSpace));
      known.set(key, loading);
      return loading;
    },
  };
}

function whyNot(error: unknown): string {
  const { details } = toPinnaceError(error);
  return typeof details?.['reason'] === 'string' ? details['reason'] : 'it cannot be loaded';
}

async function loadAnswered(
  message: Extract<ModelMessage, { role: 'user' }>,
  options: LoadOptions,
  history: HistoryLoader,
): Promise<ModelMessage> {
  if (typeof message.content === 'string') return message;
  const parts = message.content.filter((part) => part.type === 'file');
  requireCount(parts.length);
  const files = await Promise.all(parts.map((part) => loadFile(addressOf(part), options)));
  const size = files.reduce((sum, { bytes }) => sum + bytes.length, 0);
  requireLength(size, options.limits.attachmentsLength, 'the files of a message');
  history.count(size);
  await Promise.all(files.map((file, at) => options.onLoaded(file, at)));
  let at = 0;
  const content = message.content.map((part): UserContent[number] => {
    if (part.type !== 'file') return part;
    const file = files[at++];
    return file ? fileContent(part, file) : part;
  });
  return { ...message, content };
}

/** @throws PinnaceError `invalid_argument` with the reason `too_many_attachments`. */
function requireCount(count: number): void {
  if (count <= maxFiles) return;
  throw new PinnaceError(
    'invalid_argument',
    `Cannot read the message: it has ${count} files, ${maxFiles} are allowed`,
    {
      details: { reason: 'too_many_attachments', count },
    },
  );
}

async function loadOlder(message: ModelMessage, { load }: HistoryLoader): Promise<ModelMessage> {
  if (message.role === 'system' || typeof message.content === 'string') return message;
  if (message.role === 'user') {
    const content = message.content.map(async (part) => part.type === 'file' ? await userFile(part, load) : part);
    return { ...message, content: await Promise.all(content) };
  }
  if (message.role === 'assistant') {
    const content = await Promise.all(message.content.map((part) => answerPart(part, load)));
    return { ...message, content: content.flat() };
  }
  const content = message.content.map(async (part) =>
    part.type === 'tool-result' ? { ...part, output: await outputWithFiles(part.output, load) } : part
  );
  return { ...message, content: await Promise.all(content) };
}

async function userFile(part: FilePart, load: LoadOld): Promise<UserContent[number]> {
  const file = await load(addressOf(part));
  return typeof file === 'string' ? leftOut(part, file) : fileContent(part, file);
}

async function answerPart(part: AnswerContent[number], load: LoadOld): Promise<AnswerContent> {
  if (part.type === 'tool-result') return [{ ...part, output: await outputWithFiles(part.output, load) }];
  if (part.type !== 'file' && part.type !== 'reasoning-file') return [part];
  const file = await load(addressOf(part));
  if (typeof file !== 'string') return [{ ...part, mediaType: file.mediaType, data: file.base64 }];
  return part.type === 'file' ? [leftOut(part, file)] : [];
}

function addressOf({ data, mediaType }: { readonly data: unknown; readonly mediaType: string }): FileAddress {
  return { url: String(data), mediaType }; // made of a UI message: its URL
}

/** Every model reads text; hardly one reads a text file. */
function fileContent(part: FilePart, { mediaType, bytes, base64, source }: LoadedFile): UserContent[number] {
  if (!isTextType(mediaType)) return { ...part, mediaType, data: base64 };
  const heading = source ?? `File ${JSON.stringify(part.filename ?? '')} (${mediaType}):`;
  return { type: 'text', text: `${heading}\n${new TextDecoder().decode(bytes)}` };
}

function leftOut({ filename }: { readonly filename?: string | undefined }, why: string) {
  const name = filename === undefined ? '' : ` ${JSON.stringify(filename.slice(0, 200))}`;
  return { type: 'text' as const, text: `[A file${name} was left out: ${why}]` };
}

const loadResources = /* @__PURE__ */ loadOnce(() => import('./load-resource.ts'));

/** Loads a file. @throws PinnaceError that says why it cannot be used. */
async function loadFile({ url, mediaType }: FileAddress, access: FileAccess): Promise<LoadedFile> {
  const id = blobIdOf(url);
  if (id !== undefined) return await loadStored(id, access);
  const resource = resourceOf(url);
  if (resource) return await (await loadResources()).loadResource(resource, access);
  const inline = readInline(url, access.limits);
  if (inline) return inline;
  const bytes = await fetchFile(url, access);
  return { mediaType: fileTypeOf(bytes, mediaType), bytes, base64: toBase64(bytes), from: 'url' };
}

/** Reads a data URL; `undefined` for any other address. @throws PinnaceError as `loadFile`. */
function readInline(url: string, { attachmentLength }: Pick<Limits, 'attachmentLength'>): LoadedFile | undefined {
  const inline = readDataUrl(url);
  if (!inline) return undefined;
  requireLength(base64Size(inline.base64), attachmentLength);
  const bytes = fromBase64(inline.base64);
  if (!bytes) {
    throw new PinnaceError('invalid_argument', 'Cannot read a file: its data URL is not base64', {
      details: { reason: 'file_not_base64' },
    });
  }
  return { mediaType: fileTypeOf(bytes, inline.mediaType), bytes, base64: inline.base64, from: 'inline' };
}

async function loadStored(
  id: string,
  { blobs, owner: { tenant, subject }, from, signal, limits }: FileAccess,
): Promise<LoadedFile> {
  const read = async () =>
    await blobs.get(id, { tenant, subject, signal }) ??
      (from === undefined ? undefined : await blobs.get(id, { tenant, subject: from, signal }));
  const blob = await read().catch((cause: unknown) => {
    signal.throwIfAborted();
    throw new PinnaceError('unavailable', 'Cannot read a stored file: the file store does not answer', {
      cause,
      details: { reason: 'attachment_store' },
    });
  });
  if (!blob) {
    throw new PinnaceError('not_found', 'Cannot read a stored file: it is unknown or expired, upload it again', {
      details: { reason: 'attachment_missing' },
    });
  }
  requireLength(blob.bytes.length, limits.attachmentLength);
  const { bytes } = blob;
  return { mediaType: fileTypeOf(bytes, blob.mediaType), bytes, base64: toBase64(bytes), from: 'stored' };
}

/** The whole exchange, the body too. */
const fetchMs = 15_000;

/** Returns the bytes. @throws PinnaceError `forbidden`, `not_found`, `unavailable`, or `invalid_argument` for a file that is too large. */
async function fetchFile(url: string, access: FileAccess): Promise<Uint8Array<ArrayBuffer>> {
  const { egress, signal, owner: { tenant }, limits: { attachmentLength: maxBytes } } = access;
  if (!egress) throw noWay('this runtime has no egress');
  try {
    const answer = await egress.fetch(new Request(url), {
      origins: 'any',
      accept: 'media',
      maxBytes,
      timeoutMs: fetchMs,
      signal,
      circuit: 'attachment',
      tenant,
    });
    if (!answer.ok) await answer.body?.cancel();
    requireOk(answer.status);
    return await readBytes(answer.body); // part by part: so an error of the egress arrives as it is, on every platform
  } catch (thrown) {
    signal.throwIfAborted();
    throw refusalOf(toPinnaceError(thrown), maxBytes);
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
    details: { reason: 'egress_denied', ...(typeof cause === 'string' && { cause }) },
  });
}

function unreachable(why: string, cause?: PinnaceError): PinnaceError {
  return new PinnaceError('unavailable', `Cannot load a file by its address: ${why}`, {
    cause,
    details: { reason: 'attachment_unreachable' },
  });
}

type Output = Extract<Extract<ModelMessage, { role: 'tool' }>['content'][number], { type: 'tool-result' }>['output'];
type Content = Extract<LanguageModelV4ToolResultOutput, { type: 'content' }>['value'];

/** Loads a file, or says in a text why there is none. */
type LoadFile = (address: FileAddress) => Promise<LoadedFile | string>;

/** Returns the output of a result with the files that it names; every other output as it is. */
async function outputWithFiles(output: Output, load: LoadFile): Promise<Output> {
  if (output.type !== 'json' || mediaOf(output.value).length === 0) return output;
  return { type: 'content', value: await contentOf(output.value, load) };
}

/** The content for an output: a text with all but the files, then the files. Base64 never becomes text. */
async function contentOf(output: unknown, load: LoadFile): Promise<Content> {
  const files = await Promise.all(mediaOf(output).map((media) => fileOf(media, load)));
  let shown = 0;
  const labels = files.map((file) => typeof file === 'string' ? `left out: ${file}` : `file ${++shown} below`);
  const text = JSON.stringify(withMedia(output, (_, at) => labels[at] ?? ''));
  return [{ type: 'text', text }, ...files.flatMap((file) => typeof file === 'string' ? [] : [file])];
}

/** The content decides on the type: a provider fails the whole run for an image that is none. */
async function fileOf(media: MediaBlock, load: LoadFile): Promise<Content[number] | string> {
  const { data, mediaType: declared } = media;
  const isStored = blobIdOf(data) !== undefined;
  const loaded = isStored ? await load({ url: data, mediaType: declared }) : readBase64(data, declared);
  if (typeof loaded === 'string') return loaded;
  const { mediaType, base64, bytes } = loaded;
  if (isTextType(mediaType)) return { type: 'text', text: new TextDecoder().decode(bytes) };
  return { type: 'file', mediaType, data: { type: 'data', data: base64 } };
}

function readBase64(base64: string, declared: string): Omit<LoadedFile, 'from'> | string {
  const bytes = fromBase64(base64);
  try {
    return bytes ? { mediaType: fileTypeOf(bytes, sniffType(bytes) ?? declared), base64, bytes } : 'it is not base64';
  } catch {
    return 'a model takes no such file';
  }
}

/** Longer base64 is stored, in UTF-16 code units. */
const longestInline = 65_536;

/** Stores a file, and returns its address; `undefined` where the store has failed. */
type StoreFile = (file: Omit<LoadedFile, 'from'>) => Promise<string | undefined>;

/** Returns the data with the address of a stored file in place of each long base64 text or data URL. */
async function withStoredFiles<T>(data: T, store: StoreFile): Promise<T> {
  const stored = new Map<string, string>();
  await Promise.all([...longTextsIn(data)].map(async (text) => {
    const file = readLong(text);
    if (file) stored.set(text, await store(file) ?? 'left out: the file store has failed');
  }));
  return stored.size === 0 ? data : replaced(data, stored) as T; // of the same shape
}

/** The long texts within data that may be base64. */
function longTextsIn(data: unknown, found = new Set<string>()): Set<string> {
  if (typeof data === 'string') return data.length > longestInline ? found.add(data) : found;
  if (Array.isArray(data)) { for (const item of data) longTextsIn(item, found); }
  else if (isRecord(data)) { for (const value of Object.values(data)) longTextsIn(value, found); }
  return found;
}

function readLong(text: string): Omit<LoadedFile, 'from'> | undefined {
  const base64 = readDataUrl(text)?.base64 ?? text;
  const bytes = fromBase64(base64);
  return bytes && { bytes, base64, mediaType: sniffType(bytes) ?? 'application/octet-stream' };
}

function replaced(data: unknown, stored: ReadonlyMap<string, string>): unknown {
  if (typeof data === 'string') return stored.get(data) ?? data;
  if (Array.isArray(data)) return data.map((item) => replaced(item, stored));
  if (!isRecord(data)) return data;
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, replaced(value, stored)]));
}
