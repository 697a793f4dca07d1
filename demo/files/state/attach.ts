/** Takes files into a message that is being written: checks them as the runtime does, and says which are not taken. */

import type { Chat } from '../../chat/state/chat.ts';
import { formatBytes } from '../../kit/format.ts';
import type { AttachedFile } from './attached-file.ts';
import { fileTypeOf, sniffType } from '../../../src/base/file-types.ts';

/** The limits of the runtime, by its defaults. */
export const limits = { file: 5_242_880, message: 10_485_760, count: 20 } as const;

/** Adds the files that fit. The others are named with the reason. */
export async function attach(chat: Chat, files: readonly File[]): Promise<void> {
  const problems: string[] = [];
  for (const file of files) {
    const read = await readFile(file);
    const problem = typeof read === 'string' ? read : noRoom(chat.attached.value, read);
    if (problem !== undefined) problems.push(problem);
    else if (typeof read !== 'string') chat.attached.value = [...chat.attached.value, read];
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
  if (size > limits.file) {
    return `“${name}” is too large: ${formatBytes(size)}. The limit is ${formatBytes(limits.file)} per file.`;
  }
  try {
    const bytes = new Uint8Array(await file.arrayBuffer());
    if (bytes.length === 0) return `“${name}” is empty.`;
    const mediaType = typeOf(bytes, file.type);
    if (mediaType === undefined) return wrongType(name);
    return { name, mediaType, size, url: await toDataUrl(new Blob([bytes], { type: mediaType })) };
  } catch {
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

function wrongType(name: string): string {
  return `“${name}” has an unsupported type. Attach a PNG, JPEG, GIF, WebP, PDF, WAV, MP3, OGG, FLAC or M4A file, or UTF-8 text.`;
}

function noRoom(attached: readonly AttachedFile[], { name, size }: AttachedFile): string | undefined {
  if (attached.length >= limits.count) {
    return `“${name}” was not attached: the limit is ${limits.count} files per message. Send it with the next message.`;
  }
  const total = attached.reduce((sum, file) => sum + file.size, size);
  if (total <= limits.message) return undefined;
  return `“${name}” was not attached: the limit is ${
    formatBytes(limits.message)
  } per message. Send it with the next message.`;
}

/** Returns the blob as a data URL, which the page's policy lets images have. */
export function toDataUrl(blob: Blob): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const reader = new FileReader();
  reader.addEventListener('load', () => {
    if (typeof reader.result === 'string') resolve(reader.result);
  });
  reader.addEventListener('error', () => reject(reader.error ?? new Error('The file cannot be read')));
  reader.readAsDataURL(blob);
  return promise;
}
