/** The files of a run that has some. */

import { toData } from '../../base/errors.ts';
import type { UIMessage } from '../../contracts/ai-types.ts';
import type { Limits } from '../resolve/limits.ts';
import type { LoadedFile, RunFiles, RunFilesOptions } from './files.ts';
import { readInline } from './load-file.ts';
import { requireLength } from './require-length.ts';
import { loadFiles, requireCount } from './load-files.ts';
import { blobUrl } from './references.ts';
import { contentOf } from './result-files.ts';
import { type StoreFile, withStoredFiles } from './store-files.ts';

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

type Store = (file: Parameters<StoreFile>[0], from: 'inline' | 'url' | 'tool' | 'model') => Promise<string | undefined>;

/** Stores a file, and emits that. A store that fails ends no run that has the file. */
function storeOf(
  { blobs, budgets, owner: { tenant, subject }, signal, span }: RunFilesOptions,
  known: Map<string, LoadedFile>,
): Store {
  return async (file, from) => {
    const { bytes, mediaType } = file;
    const facts = { action: 'attachment.store', payload: { size: bytes.length, mediaType, from } };
    try {
      await budgets?.write({ tenant, subject }, bytes.length);
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
