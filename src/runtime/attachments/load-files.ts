/** Replaces what messages say of files with the files: what a model receives is inline. */

import { PinnaceError, toPinnaceError } from '../../base/errors.ts';
import { createSlots } from '../../tools/run-scope.ts';
import type { ModelMessage } from '../messages/model-messages.ts';
import { isTextType } from './file-type.ts';
import type { FileAccess, FileAddress, LoadedFile } from './files.ts';
import { loadFile } from './load-file.ts';
import { requireLength } from './require-length.ts';
import { outputWithFiles } from './result-files.ts';

type UserContent = Exclude<Extract<ModelMessage, { role: 'user' }>['content'], string>;
type AnswerContent = Exclude<Extract<ModelMessage, { role: 'assistant' }>['content'], string>;
type FilePart = Extract<UserContent[number], { type: 'file' }>;

/** How the files of messages are loaded. */
export interface LoadOptions extends FileAccess {
  /** Receives each file of the message that the run answers, in order. */
  readonly onLoaded: (file: LoadedFile, at: number) => Promise<void>;
}

/** The most files of one message. */
export const maxFiles = 20;

/**
 * Returns the messages with their files inline, texts as text. The newest are loaded first. A file that cannot be used fails the
 * message that the run answers; in an older message, or beyond twice `attachmentsLength`, a line of text takes its place.
 */
export async function loadFiles(messages: readonly ModelMessage[], options: LoadOptions): Promise<ModelMessage[]> {
  const loaded: ModelMessage[] = [];
  const history = createHistoryLoader(options);
  for (const [at, message] of [...messages.entries()].toReversed()) {
    const isAnswered = at === messages.length - 1 && message.role === 'user';
    loaded.unshift(isAnswered ? await loadAnswered(message, options, history) : await loadOlder(message, history));
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
export function requireCount(count: number): void {
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
