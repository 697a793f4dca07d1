/** The knowledge of the page's worker: files indexed and stored in the browser, for the page and agents. */

import { memoryStorage } from '../../../adapters/storage/memory.ts';
import type { Watchable } from '../../../src/contracts/index.ts';
import { type Grounding, PinnaceError, type Storage, toData } from '../../../src/index.ts';
import type { Answer } from '../../control/answer.ts';
import { addFiles } from './add-files.ts';
import type { KnowledgeControl, KnowledgeFile, KnowledgeNews, Upload } from '../../control/knowledge-control.ts';
import { pictureType } from './file-kind.ts';
import { findParts } from './finder.ts';
import { guideTexts } from './guide-texts.ts';
import { createIndexer, type Exclusively } from './indexer.ts';
import { createLibrary, type FileRecord, type Library } from './library.ts';
import { readParts } from './read-parts.ts';
import { createSources } from './sources.ts';

/** The knowledge, for the page and for agents. */
export interface KnowledgeHost {
  readonly control: KnowledgeControl;
  readonly grounding: Grounding;
}

export interface KnowledgeHostOptions {
  readonly storage: Storage & Partial<Watchable>;
  /** Makes tabs take turns with indexing; where there is no such thing, they do not. */
  readonly exclusively?: Exclusively;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

/** Creates the host. Reads and writes nothing before the first call. */
export function createKnowledgeHost(
  { storage: given, exclusively = (work) => work(), now = Date.now }: KnowledgeHostOptions,
): KnowledgeHost {
  const listeners = new Set<(news: KnowledgeNews) => void>();
  const storage = fallbackStorage(given);
  const library: Library = createLibrary({
    storage,
    watch: given.watch && ((keys, options) => given.watch?.(keys, options)),
    onNews({ changed, removed }) {
      const news = { changed: changed.map(toFile), removed };
      for (const listener of listeners) listener(news);
      indexer.recheck();
    },
  });
  const sources = createSources(storage, library);
  const indexer = createIndexer({ storage, library, sources, exclusively });
  let searching: AbortController | undefined;

  const ready = async <T>(work: () => T | Promise<T>): Promise<Answer<T>> => {
    try {
      await library.ready();
      return { ok: true, value: await work() };
    } catch (error) {
      return { ok: false, error: toData(error) };
    }
  };
  /** Waits until nothing waits to be indexed. */
  const untilIdle = (signal: AbortSignal | undefined): Promise<void> =>
    new Promise((resolve) => {
      const look = (): void => {
        if (!signal?.aborted && library.all().some(({ state }) => state === 'waiting' || state === 'indexing')) return;
        listeners.delete(look);
        resolve();
      };
      listeners.add(look);
      signal?.addEventListener('abort', look, { once: true });
      look();
    });
  const setState = (name: string, state: 'stopped' | 'waiting', from: readonly KnowledgeFile['state'][]) =>
    library.update([name], ({ error: _, ...record }) => from.includes(record.state) ? { ...record, state } : undefined);
  const add: KnowledgeControl['add'] = (uploads) =>
    ready(async () => {
      try {
        await noteStarted(storage);
        return await addFiles(uploads, { library, now });
      } finally {
        indexer.kick();
      }
    });

  return {
    grounding: startedGrounding(sources.grounding, {
      storage,
      async isFilled() {
        await library.ready();
        return library.all().length > 0;
      },
      async addGuide(signal) {
        await add(guideFiles());
        await untilIdle(signal);
      },
    }),
    control: {
      open: (onNews) =>
        ready(() => {
          listeners.add(onNews);
          indexer.kick();
          return { files: library.all().map(toFile), isStored: storage.isStored() };
        }),
      add,
      addGuide: () => add(guideFiles()),
      stop: (name) => ready(() => setState(name, 'stopped', ['waiting', 'indexing'])),
      resume: (name) =>
        ready(async () => {
          await setState(name, 'waiting', ['stopped', 'failed']);
          indexer.kick();
        }),
      remove: (names) =>
        ready(async () => {
          const records = names.flatMap((name) => library.get(name) ?? []);
          await library.remove(records.map(({ name }) => name));
          await indexer.forget(records);
        }),
      search: (query) =>
        ready(async () => {
          searching?.abort(new PinnaceError('cancelled', 'A newer search has begun'));
          const own = searching = new AbortController();
          const found = await findParts(sources.grounding, query, own.signal);
          // What another tab has removed may be found for a moment.
          return { ...found, parts: found.parts.filter(({ file }) => library.get(file)) };
        }),
      content: (name) =>
        ready(async () => {
          const bytes = await library.content(name);
          if (!bytes) throw new PinnaceError('not_found', `Cannot open "${name}": it was removed`);
          return new Blob([bytes], { type: pictureType(name) ?? library.get(name)?.type ?? '' });
        }),
      parts: (wanted) => ready(() => readParts({ library, grounding: sources.grounding }, wanted)),
    },
  };
}

function toFile({ hash: _, type: __, ...file }: FileRecord): KnowledgeFile {
  return file;
}

/** A storage, and whether what it takes outlives the page. */
export interface FallbackStorage extends Storage {
  isStored(): boolean;
}

/** A newer version of the page may have written it. */
const outOfReach: ReadonlySet<unknown> = new Set(['storage_blocked', 'storage_newer']);

/** Goes over to memory, for good, when the storage is out of reach at the first call. One that is full later stays what it is. */
export function fallbackStorage(storage: Storage): FallbackStorage {
  let used: Storage | undefined;
  const choose = async (): Promise<Storage> => {
    try {
      await storage.get(['knowledge']);
      return storage;
    } catch (error) {
      if (error instanceof PinnaceError && outOfReach.has(error.details?.['reason'])) return memoryStorage();
      throw error;
    }
  };
  const current = async (): Promise<Storage> => (used ??= await choose());
  return {
    isStored: () => used === undefined || used === storage,
    get: async (key) => await (await current()).get(key),
    list: async (options) => await (await current()).list(options),
    commit: async (changes) => await (await current()).commit(changes),
  };
}

export function guideFiles(): readonly Upload[] {
  return Object.entries(guideTexts).map(([name, text]) => ({
    name: `Pinnace guide/${name}`,
    type: 'text/markdown',
    content: new Blob([text], { type: 'text/markdown' }),
  }));
}

interface StartOptions {
  readonly storage: Storage;
  /** Whether there is a file. */
  readonly isFilled: () => Promise<boolean>;
  /** Adds the guide, and waits until it can be found. */
  readonly addGuide: (signal: AbortSignal | undefined) => Promise<void>;
}

const markKey = ['knowledge', 'begun'];

/** Records that the guide was added: it is not added again after it is removed. */
export async function noteStarted(storage: Storage): Promise<void> {
  if (!await storage.get(markKey)) await storage.commit([{ key: markKey, value: true }]);
}

/** Returns the grounding for agents. Where the guide cannot be added, they are answered without it. */
export function startedGrounding(grounding: Grounding, { storage, isFilled, addGuide }: StartOptions): Grounding {
  let started: Promise<void> | undefined;
  const start = async (signal: AbortSignal | undefined): Promise<void> => {
    if (await isFilled() || await storage.get(markKey)) return;
    await addGuide(signal);
  };
  return {
    ...grounding,
    async retrieve(request, call) {
      await (started ??= start(call?.signal).catch(() => void (started = undefined))); // the next query retries
      return await grounding.retrieve(request, call);
    },
  };
}
