/** The files of the knowledge: one record each, the same in all tabs, and their contents as long as they are needed. */

import { PinnaceError, type Storage } from '../../../src/index.ts';
import type { Watchable } from '../../../src/contracts/index.ts';
import type { KnowledgeFile } from '../../control/knowledge-control.ts';
import { createFileContents } from './file-contents.ts';

export interface FileRecord extends KnowledgeFile {
  /** Of its bytes. */
  readonly hash: string;
  readonly type?: string;
}

export interface Library {
  /** Reads the records, once. */
  ready(): Promise<void>;
  get(name: string): FileRecord | undefined;
  all(): readonly FileRecord[];
  /** Keeps a file with its content, in the place of what has this name. */
  add(record: FileRecord, content: Uint8Array<ArrayBuffer> | undefined): Promise<void>;
  /** Changes the current records, also those that another tab changed; nothing where `change` returns nothing. */
  update(names: readonly string[], change: (record: FileRecord) => FileRecord | undefined): Promise<void>;
  remove(names: readonly string[]): Promise<void>;
  content(name: string): Promise<Uint8Array<ArrayBuffer> | undefined>;
  dropContent(name: string): Promise<void>;
}

interface LibraryOptions {
  readonly storage: Storage;
  /** Reports changes of other tabs. */
  readonly watch?: Watchable['watch'] | undefined;
  readonly onNews: (news: { readonly changed: readonly FileRecord[]; readonly removed: readonly string[] }) => void;
}

const newsKey = ['knowledge', 'news'];
const fileKey = (name: string): string[] => ['knowledge', 'file', name];
const pageSize = 200;
const perCommit = 50;

/**
 * Creates the library. Every write names the version that it read: when another tab has written, its records are read
 * first, so that no tab overwrites what it does not know.
 */
export function createLibrary({ storage, watch, onNews }: LibraryOptions): Library {
  const records = new Map<string, FileRecord>();
  const versions = new Map<string, string>();
  let knownVersion: string | null = null;
  let loaded: Promise<void> | undefined;
  const inTurn = createQueue();
  const contents = createFileContents(storage);

  async function refresh(): Promise<void> {
    const version = (await storage.get(newsKey))?.version ?? null;
    const entries = await listAll(storage, ['knowledge', 'file']);
    const found = new Map(entries.map(({ value, version: at }) => [(value as FileRecord).name, { value, at }])); // written below
    const removed = [...records.keys()].filter((name) => !found.has(name));
    const changed: FileRecord[] = [];
    for (const name of removed) forget(name);
    for (const [name, { value, at }] of found) {
      if (versions.get(name) === at) continue;
      records.set(name, value as FileRecord);
      versions.set(name, at);
      changed.push(value as FileRecord);
    }
    knownVersion = version;
    if (changed.length + removed.length > 0) onNews({ changed, removed });
  }

  function forget(name: string): void {
    records.delete(name);
    versions.delete(name);
  }

  /** Writes the result of `change` for the current records (`null`: remove); retries on conflict. */
  async function write(names: readonly string[], change: (name: string) => FileRecord | null | undefined) {
    for (let from = 0; from < names.length; from += perCommit) {
      await writeSome(names.slice(from, from + perCommit), change);
    }
  }

  async function writeSome(names: readonly string[], change: (name: string) => FileRecord | null | undefined) {
    for (let attempt = 0; attempt < 20; attempt++) {
      const next = names.flatMap((name) => {
        const record = change(name);
        return record === undefined ? [] : [{ name, record }];
      });
      if (next.length === 0) return;
      const result = await storage.commit([
        ...next.map(({ name, record }) => ({ key: fileKey(name), ...(record && { value: record }) })),
        { key: newsKey, value: attempt, ifVersion: knownVersion },
      ]);
      if (result.ok) return take(next, result.version);
      await refresh();
    }
    throw new PinnaceError('conflict', 'Cannot store the files: another tab keeps writing. Close it and try again');
  }

  function take(written: readonly { readonly name: string; readonly record: FileRecord | null }[], version: string) {
    knownVersion = version;
    for (const { name, record } of written) {
      if (!record) forget(name);
      else {
        records.set(name, record);
        versions.set(name, version);
      }
    }
    onNews({
      changed: written.flatMap(({ record }) => record ?? []),
      removed: written.flatMap(({ name, record }) => record ? [] : [name]),
    });
  }

  const load = async (): Promise<void> => {
    await inTurn(refresh);
    watch?.([newsKey], {
      signal: new AbortController().signal, // the worker's own life
      onNews: () =>
        void inTurn(async () => {
          if ((await storage.get(newsKey))?.version !== knownVersion) await refresh();
        }).catch(() => undefined), // the next write reads it
    });
  };

  return {
    ready: () =>
      loaded ??= load().catch((error: unknown) => {
        loaded = undefined;
        throw error;
      }),
    get: (name) => records.get(name),
    all: () => [...records.values()],
    add: (record, content) =>
      inTurn(async () => {
        if (content) await contents.write(record.name, content);
        await write([record.name], () => record);
      }),
    update: (names, change) =>
      inTurn(() =>
        write(names, (name) => {
          const record = records.get(name);
          return record && change(record);
        })
      ),
    remove: (names) =>
      inTurn(async () => {
        for (const name of names) await contents.remove(name);
        await write(names, (name) => records.has(name) ? null : undefined);
      }),
    content: (name) => contents.read(name),
    dropContent: (name) => contents.remove(name),
  };
}

async function listAll(storage: Storage, prefix: readonly string[]) {
  const all: Awaited<ReturnType<Storage['list']>> = [];
  for (;;) {
    const after = all.at(-1)?.key;
    const page = await storage.list({ prefix, limit: pageSize, ...(after && { after }) });
    all.push(...page);
    if (page.length < pageSize) return all;
  }
}

/** One after another. */
function createQueue(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const result = last.then(work);
    last = result.catch(() => undefined);
    return result;
  };
}
