/** A file of a person's message, as the page holds and stores it. */

import type { Signal } from '@preact/signals';
import * as v from 'valibot';
import type { UIMessage } from '../../../src/contracts/ai-types.ts';

/** The stored fields of a file. */
export const AttachedFile = v.object({
  name: v.string(),
  mediaType: v.string(),
  size: v.number(),
  /** A data URL, until the runtime has stored the file: then its `pinnace-blob:` address. Empty: too large for the chat store. */
  url: v.string(),
  /** The endpoint that stores it; without one, this page's worker. */
  via: v.optional(v.string()),
  /** What the person attached, where its text is sent instead, such as `PDF`. Then `size` is that of the file, not of its text. */
  kind: v.optional(v.string()),
  /** About how many tokens it takes. */
  tokens: v.optional(v.number()),
  /** What is not in the text, such as `page 3: no text`. */
  skipped: v.optional(v.array(v.string())),
  /** A person has removed it: models no longer get it. */
  isRemoved: v.optional(v.boolean()),
});
export type AttachedFile = v.InferOutput<typeof AttachedFile>;

/** `data-attachment`: where a file of the last message was stored. */
export const StoredAttachment = v.object({
  messageId: v.string(),
  part: v.number(),
  url: v.string(),
  mediaType: v.string(),
  size: v.number(),
});
export type StoredAttachment = v.InferOutput<typeof StoredAttachment>;

/** What a person writes: a text, files, or both. */
export interface Written {
  readonly text: string;
  readonly files?: readonly AttachedFile[] | undefined;
}

/** Whether a message has files that are sent with the next run. */
export function hasFiles(message: { readonly files?: Question['files'] } | object): boolean {
  return 'files' in message && filesToSend(message.files).length > 0;
}

interface Question {
  readonly text: string;
  readonly files?: Signal<readonly AttachedFile[]> | undefined;
}

/** The message's parts for a run. A file without an address is left out. */
export function partsToSend({ text, files }: Question): UIMessage['parts'] {
  const removed = files?.value.filter(({ isRemoved }) => isRemoved) ?? [];
  return [
    ...(text === '' ? [] : [{ type: 'text' as const, text }]),
    ...filesToSend(files).map(({ name, mediaType, url }) => ({
      type: 'file' as const,
      filename: name,
      mediaType,
      url,
    })),
    ...removed.map(({ name }) => ({ type: 'text' as const, text: `[The file ${JSON.stringify(name)} was removed]` })),
  ];
}

function filesToSend(files: Question['files']): readonly AttachedFile[] {
  return files?.value.filter(({ url, isRemoved }) => url !== '' && !isRemoved) ?? [];
}

/** Replaces the data URL of a sent file by its address. */
export function keepAddress(
  { text, files }: Question,
  { part, url, mediaType, size }: StoredAttachment,
  via: string | undefined,
): void {
  if (!files) return;
  const sent = filesToSend(files)[part - (text === '' ? 0 : 1)];
  files.value = files.value.map((file) =>
    file === sent
      ? { ...file, mediaType, size: file.kind === undefined ? size : file.size, url, ...(via !== undefined && { via }) }
      : file
  );
}

/** The same files without their bytes, for a store that takes no values of that size. */
export function withoutBytes(files: readonly AttachedFile[]): AttachedFile[] {
  return files.map((file) => file.url.startsWith('data:') ? { ...file, url: '' } : file);
}
