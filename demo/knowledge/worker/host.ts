/** The knowledge of the page's worker: files indexed and stored in the browser, for the page and agents. */

import { memoryStorage } from '../../../adapters/storage/memory.ts';
import type { Watchable } from '../../../src/contracts/index.ts';
import type { Filter, GroundingAnswer, GroundingHit } from '../../../src/grounding/index.ts';
import { type Grounding, PinnaceError, type Storage, toData } from '../../../src/index.ts';
import type { Answer } from '../../control/answer.ts';
import type {
  FilePart,
  FoundBy,
  FoundPart,
  FoundParts,
  KnowledgeControl,
  KnowledgeFile,
  KnowledgeNews,
  KnowledgeQuery,
  PartsPage,
  Upload,
  Way,
} from '../../control/knowledge-control.ts';
import { addFiles } from './add-files.ts';
import { sourceIds } from './data-sources.ts';
import { decodeText } from './decode.ts';
import { pictureType } from './file-kind.ts';
import { guideTexts } from './guide-texts.ts';
import { createIndexer, type Exclusively } from './indexer.ts';
import { createLibrary, type FileRecord, type Library } from './library.ts';
import { linesPerPart, pieceOfLine } from './place.ts';
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

/** What only looks alike, and less than this, is left out: something always looks alike. */
const leastLikeness = 0.1;

/** Returns what is found; the order and the confidence are those that agents get. */
export async function findParts(
  grounding: Grounding,
  { text, files, limit }: KnowledgeQuery,
  signal: AbortSignal,
): Promise<FoundParts> {
  const start = performance.now();
  const filters: Filter[] = files.length === 0 ? [] : [{
    any: [{ field: 'file', op: 'in', value: [...files] }, { field: 'path', op: 'in', value: [...files] }],
  }];
  const query = (dataSourceIds: readonly string[]): Promise<GroundingAnswer> =>
    grounding.retrieve({
      dataSourceIds: [...dataSourceIds],
      query: text.slice(0, 4_096),
      topK: limit,
      filters,
      budgetMs: 20_000,
    }, { signal });
  const together = await query(Object.values(sourceIds));
  const alone = await Promise.all(
    (Object.keys(sourceIds) as Way[]).map(async (way) => ({ way, ...await query([sourceIds[way]]) })), // safe: its own keys
  );
  const parts = together.hits.map((hit) => toPart(hit, waysOf(alone, hit)));
  return {
    parts: parts.filter(({ foundBy, confidence }) =>
      foundBy.some(({ way }) => way !== 'likeness') || confidence >= leastLikeness
    ),
    answered: together.answered,
    tookMs: performance.now() - start,
    hasMore: alone.some(({ way, hits }) => way !== 'likeness' && hits.length === limit),
    problems: together.sources.flatMap(({ error }) => error ? [error.message] : []),
  };
}

function waysOf(alone: readonly (GroundingAnswer & { readonly way: Way })[], { id }: GroundingHit): FoundBy[] {
  return alone.flatMap(({ way, hits }) => {
    const hit = hits.find((one) => one.id === id);
    return hit ? [{ way, rank: hit.rank, score: hit.score, confidence: hit.confidence }] : [];
  });
}

function toPart(hit: GroundingHit, foundBy: readonly FoundBy[]): FoundPart {
  const { id, title, content, confidence, matched, metadata, source: { lines }, kind } = hit;
  const isCode = kind === 'code';
  const line = isCode && typeof metadata['line'] === 'number' ? metadata['line'] : undefined;
  return {
    id,
    file: String(metadata[isCode ? 'path' : 'file']),
    kind: isCode ? 'code' : 'document',
    piece: isCode ? pieceOfLine(line ?? lines?.[0] ?? 1) : Number(metadata['piece']),
    ...(title !== undefined && { title }),
    ...(lines && { lines }),
    ...(line !== undefined && { line }),
    content,
    ranges: matched.flatMap(({ field, ranges }) => field === 'content' ? ranges : []),
    confidence,
    foundBy,
  };
}

interface PartsWanted {
  readonly file: string;
  readonly from: number;
  /** Up to 100. */
  readonly count: number;
}

/**
 * Returns some parts of a file.
 *
 * @throws PinnaceError `not_found` when the file is there no more.
 */
export async function readParts(
  { library, grounding }: { readonly library: Library; readonly grounding: Grounding },
  { file: name, from, count }: PartsWanted,
): Promise<PartsPage> {
  const record = library.get(name);
  if (!record) throw new PinnaceError('not_found', `Cannot open "${name}": it was removed`);
  const { hash: _, type: __, ...file } = record;
  if (record.kind === 'picture') return { file, total: 0, parts: [] };
  if (record.kind === 'code') {
    const parts = await codeParts(library, record);
    return { file, total: parts.length, parts: parts.slice(from, from + count) };
  }
  const { hits } = await grounding.retrieve({
    dataSourceId: sourceIds.words,
    topK: count,
    filters: [{ field: '$id', op: 'in', value: Array.from({ length: count }, (_item, at) => `${name}#${from + at}`) }],
    budgetMs: 20_000,
  });
  const parts = hits.map(toFilePart).toSorted((a, b) => a.piece - b.piece);
  return { file, total: record.done, parts };
}

async function codeParts(library: Library, { name }: FileRecord): Promise<FilePart[]> {
  const lines = decodeText(await library.content(name) ?? new Uint8Array()).split(/\r\n|\r|\n/);
  return Array.from({ length: Math.ceil(lines.length / linesPerPart) }, (_, piece) => {
    const from = piece * linesPerPart;
    const text = lines.slice(from, from + linesPerPart);
    return { piece, text: text.join('\n'), lines: [from + 1, from + text.length] };
  });
}

function toFilePart({ id, content, title, source: { lines } }: GroundingHit): FilePart {
  return {
    piece: Number(id.slice(id.lastIndexOf('#') + 1)),
    text: content,
    ...(title !== undefined && { title }),
    ...(lines && { lines }),
  };
}
