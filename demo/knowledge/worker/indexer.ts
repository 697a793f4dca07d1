/** Indexes the files that wait, one after the other, in one tab at a time. */

import { fileText } from '../../../adapters/grounding/file-text.ts';
import { forgetFile, ingest } from '../../../src/grounding/index.ts';
import { PinnaceError, type Storage, toData } from '../../../src/index.ts';
import type { FileRecord, Library } from './library.ts';
import { sourceIds } from './data-sources.ts';
import type { KnowledgeSources } from './sources.ts';

/** Does the work when no other tab does it; ends without it when the signal aborts. */
export type Exclusively = (work: () => Promise<void>) => Promise<void>;

export interface Indexer {
  /** Starts or continues to index the waiting files. */
  kick(): void;
  /** Looks whether what is being indexed still should be. */
  recheck(): void;
  /** Removes what was made of files that the library has no more. */
  forget(records: readonly FileRecord[]): Promise<void>;
}

interface IndexerOptions {
  readonly storage: Storage;
  readonly library: Library;
  readonly sources: KnowledgeSources;
  readonly exclusively: Exclusively;
}

interface TrustedTypePolicies {
  createPolicy(name: string, rules: { readonly createScriptURL: (url: string) => string }): unknown;
}

/** Lets `pdfText` start its worker, whose script lies beside this one. The policy of the built page knows no other address. */
const { trustedTypes } = globalThis as { readonly trustedTypes?: TrustedTypePolicies };
trustedTypes?.createPolicy('default', {
  createScriptURL(url) {
    if (new URL(url, import.meta.url).href.startsWith(new URL('./', import.meta.url).href)) return url;
    throw new TypeError(`Cannot start a script from outside the page's folder: "${url}"`);
  },
});

export function createIndexer({ storage, library, sources, exclusively }: IndexerOptions): Indexer {
  let running: { readonly name: string; readonly stop: AbortController; readonly ended: Promise<void> } | undefined;
  let isBusy = false;
  let isKickedAgain = false;

  async function work(): Promise<void> {
    await library.ready();
    const tried = new Set<string>();
    for (;;) {
      const next = nextOf(library, tried);
      if (!next) return;
      if (next.kind === 'code') await indexCode();
      else await indexDocument(next);
      if (library.get(next.name)?.state === 'indexing') tried.add(next.name); // its record cannot be written
    }
  }

  async function indexDocument({ name, hash, type }: FileRecord): Promise<void> {
    const stop = new AbortController();
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    running = { name, stop, ended };
    const settle = (change: Partial<FileRecord>): Promise<void> =>
      library.update(
        [name],
        (now) => now.hash === hash && now.state === 'indexing' ? { ...now, ...change } : undefined,
      );
    try {
      await library.update([name], ({ error: _, ...now }) => isOpen(now) ? { ...now, state: 'indexing' } : undefined);
      const bytes = await library.content(name);
      if (!bytes) throw contentMissing();
      const skipped: string[] = [];
      let text = '';
      const { files: [report] } = await ingest(sources.filling, {
        dataSourceId: sourceIds.words,
        storage,
        files: [{
          name,
          ...(type !== undefined && { type }),
          text: async () =>
            text = await fileText(bytes, {
              type,
              signal: stop.signal,
              onSkipped: ({ part, reason }) => void skipped.push(`${part}: ${reason}`),
            }),
        }],
        onProgress: ({ state, done, total }) => {
          if (state === 'writing') void settle({ done, total }).catch(() => undefined); // the next one reports
        },
      }, { signal: stop.signal });
      if (report?.error) await settle({ state: 'failed', error: report.error });
      else {
        const { done = 0, total = 0, refused = 0 } = report ?? {};
        if (refused > 0) skipped.push(`${refused} of ${total} passages: they could not be indexed`);
        await settle({ state: 'ready', done, total, read: amountOf(name, { text, total }), skipped: firstOf(skipped) });
      }
      if (library.get(name)?.state === 'ready') await library.dropContent(name);
    } catch (error) {
      if (!stop.signal.aborted) await settle({ state: 'failed', error: toData(error) }).catch(() => undefined); // a full storage
    } finally {
      if (!library.get(name)) await forgetDocument(name).catch(() => undefined); // removed meanwhile, maybe by another tab
      running = undefined;
      end();
    }
  }

  async function forgetDocument(name: string): Promise<void> {
    await forgetFile(sources.filling, { dataSourceId: sourceIds.words, storage, name });
  }

  /** All code at once: it is one index. */
  async function indexCode(): Promise<void> {
    const waiting = library.all().filter((record) => record.kind === 'code' && isOpen(record));
    const hashes = new Map(waiting.map(({ name, hash }) => [name, hash]));
    const settle = (change: (record: FileRecord) => Partial<FileRecord>): Promise<void> =>
      library.update(
        [...hashes.keys()],
        (now) => hashes.get(now.name) === now.hash && isOpen(now) ? { ...now, ...change(now) } : undefined,
      );
    try {
      await settle(() => ({ state: 'indexing' }));
      await sources.refreshCode(new AbortController().signal);
      await settle(({ total }) => ({ state: 'ready', done: total }));
    } catch (error) {
      await settle(() => ({ state: 'failed', error: toData(error) })).catch(() => undefined); // a full storage
    }
  }

  async function run(): Promise<void> {
    isBusy = true;
    try {
      do {
        isKickedAgain = false;
        await exclusively(work);
      } while (isKickedAgain);
    } finally {
      isBusy = false;
    }
  }

  return {
    kick() {
      if (isBusy) isKickedAgain = true;
      else void run().catch(() => undefined); // the storage is out of reach: the next kick tries again
    },
    recheck() {
      if (running && library.get(running.name)?.state !== 'indexing') running.stop.abort('stopped');
    },
    async forget(records) {
      for (const { name, kind } of records) {
        if (kind === 'code') continue;
        if (running?.name === name) await running.ended;
        await forgetDocument(name);
      }
      if (records.some(({ kind }) => kind === 'code')) await sources.refreshCode(new AbortController().signal);
    },
  };
}

/** Notes of a file: a scan may have thousands of pages without text. */
const mostSkipped = 50;

function firstOf(skipped: readonly string[]): readonly string[] {
  const more = skipped.length - mostSkipped;
  return more > 0 ? [...skipped.slice(0, mostSkipped), `${more} more`] : skipped;
}

/** By the endings of names: what has a heading in the text for each. */
const headed: readonly (readonly [endings: RegExp, noun: string, heading: RegExp])[] = [
  [/\.pdf$/i, 'page', /^## Page \d+$/gm],
  [/\.(?:xlsx|ods)$/i, 'sheet', /^## /gm],
  [/\.(?:pptx|odp)$/i, 'slide', /^## /gm],
];

/** How much was read, in a person's words. */
function amountOf(name: string, { text, total }: { readonly text: string; readonly total: number }): string {
  const [, noun, heading] = headed.find(([endings]) => endings.test(name)) ?? [];
  if (noun !== undefined && heading) return amount(text.match(heading)?.length ?? 0, noun);
  if (/\.(?:csv|tsv)$/i.test(name)) return amount(total, 'row');
  return amount(text.match(/\S+/g)?.length ?? 0, 'word');
}

function amount(count: number, noun: string): string {
  return `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`;
}

/** What was being indexed when its tab was closed goes on. */
function nextOf(library: Library, tried: ReadonlySet<string>): FileRecord | undefined {
  return library.all().filter((record) => isOpen(record) && !tried.has(record.name))
    .toSorted((a, b) => a.addedAt - b.addedAt)[0];
}

function isOpen({ state }: Pick<FileRecord, 'state'>): boolean {
  return state === 'waiting' || state === 'indexing';
}

function contentMissing(): PinnaceError {
  return new PinnaceError('not_found', 'Cannot read the file: its content is missing; add it again');
}
