/** The knowledge panel: the files, what is being added, what is looked for, what is read. */

import { computed, type ReadonlySignal, type Signal, signal } from '@preact/signals';
import { proxy } from 'comlink';
import type {
  AddReport,
  KnowledgeControl,
  KnowledgeFile,
  KnowledgeNews,
  Upload,
} from '../../control/knowledge-control.ts';
import type { Answer } from '../../control/answer.ts';
import { createFrameQueue, type Schedule } from '../../kit/hooks/frame-queue.ts';
import { createKnowledgeReading, type KnowledgeReading } from './knowledge-reading.ts';
import { createKnowledgeSearch, type KnowledgeSearch } from './knowledge-search.ts';

/** How far things are. */
export interface Progress {
  readonly done: number;
  readonly total: number;
  /** The file that is being indexed. */
  readonly name?: string;
}

/** The panel's state, and what can be done in it. */
export interface KnowledgePanel {
  /** By name; `undefined` until they are known. */
  readonly files: ReadonlySignal<readonly KnowledgeFile[] | undefined>;
  /** Whether what is added survives a reload. */
  readonly isStored: ReadonlySignal<boolean>;
  /** Files that are being taken. */
  readonly adding: ReadonlySignal<Progress | undefined>;
  /** Files that are being indexed, of all that were added with them. */
  readonly indexing: ReadonlySignal<Progress | undefined>;
  /** What came of the files that were added last. */
  readonly note: Signal<string | undefined>;
  /** Why the latest action failed. */
  readonly problem: Signal<string | undefined>;
  readonly search: KnowledgeSearch;
  readonly reading: KnowledgeReading;
  open(): Promise<void>;
  add(uploads: readonly Upload[]): Promise<void>;
  addGuide(): Promise<void>;
  stop(name: string): Promise<void>;
  resume(name: string): Promise<void>;
  remove(names: readonly string[]): Promise<void>;
}

interface KnowledgePanelOptions {
  readonly control: KnowledgeControl;
  readonly announce: (text: string) => void;
  readonly schedule?: Schedule;
}

/** Files in one call: the list grows while more are taken. */
const perCall = 20;

/** Creates the panel. Calls the worker only from `open` on. */
export function createKnowledgePanel({ control, announce, schedule }: KnowledgePanelOptions): KnowledgePanel {
  const byName = signal<ReadonlyMap<string, KnowledgeFile> | undefined>(undefined);
  const isStored = signal(true);
  const adding = signal<Progress | undefined>(undefined);
  const note = signal<string | undefined>(undefined);
  const problem = signal<string | undefined>(undefined);
  const search = createKnowledgeSearch(control);
  const reading = createKnowledgeReading(control);
  const files = computed(() => byName.value && [...byName.value.values()].toSorted(byNames));
  const { indexing, follow } = createIndexing(announce);
  const news = createFrameQueue<KnowledgeNews>(take, schedule && { schedule });

  function take(items: readonly KnowledgeNews[]): void {
    const next = new Map(byName.value);
    for (const { changed, removed } of items) {
      for (const file of changed) next.set(file.name, file);
      for (const name of removed) next.delete(name);
    }
    byName.value = next;
    follow(next);
    if (items.some(({ changed, removed }) => removed.length > 0 || changed.some(({ state }) => state === 'ready'))) {
      search.refresh();
    }
  }

  /** Runs an action; a failure is shown and the state stays. */
  async function ask<T>(work: () => Promise<Answer<T>>): Promise<T | undefined> {
    try {
      const answer = await work();
      problem.value = answer.ok ? undefined : wordsFor(answer.error);
      return answer.ok ? answer.value : undefined;
    } catch {
      problem.value = 'The worker did not respond. Reload the page to try again.';
      return undefined;
    }
  }

  async function addAll(uploads: readonly Upload[]): Promise<void> {
    note.value = undefined;
    const reports: AddReport[] = [];
    for (let from = 0; from < uploads.length; from += perCall) {
      adding.value = { done: from, total: uploads.length };
      const report = await ask(() => control.add(uploads.slice(from, from + perCall)));
      if (!report) break;
      reports.push(report);
    }
    adding.value = undefined;
    emit(reports);
  }

  function emit(reports: readonly AddReport[]): void {
    note.value = describeReports(reports);
    if (note.value !== undefined) announce(note.value);
  }

  return {
    files,
    isStored,
    adding,
    indexing,
    note,
    problem,
    search,
    reading,
    async open() {
      const opened = await ask(() => control.open(proxy((item: KnowledgeNews) => news.push(item))));
      if (!opened) return;
      isStored.value = opened.isStored;
      const known = new Map(opened.files.map((file) => [file.name, file]));
      for (const [name, file] of byName.value ?? []) known.set(name, file); // news that arrived while opening
      byName.value = known;
      follow(known);
    },
    add: addAll,
    async addGuide() {
      note.value = undefined;
      const report = await ask(() => control.addGuide());
      if (report) emit([report]);
    },
    async stop(name) {
      await ask(() => control.stop(name));
    },
    async resume(name) {
      await ask(() => control.resume(name));
    },
    async remove(names) {
      if (names.includes(reading.open.value?.name ?? '')) reading.close();
      search.searchIn(search.scope.value.filter((name) => !names.includes(name)));
      await ask(() => control.remove(names));
    },
  };
}

/** Follows the files that are being indexed, and announces the end. */
function createIndexing(announce: (text: string) => void) {
  const indexing = signal<Progress | undefined>(undefined);
  /** The files of the current work; finished ones stay until all are. */
  const batch = new Set<string>();
  const follow = (now: ReadonlyMap<string, KnowledgeFile>): void => {
    const open = [...now.values()].filter(({ state }) => state === 'waiting' || state === 'indexing');
    for (const { name } of open) batch.add(name);
    const current = open.findLast(({ state }) => state === 'indexing');
    const before = indexing.value;
    indexing.value = open.length === 0
      ? undefined
      : { done: batch.size - open.length, total: batch.size, ...(current && { name: current.name }) };
    if (open.length > 0) return;
    const failed = [...batch].filter((name) => now.get(name)?.state === 'failed').length;
    if (before) announce(`Indexed ${count(before.total)}${failed > 0 ? `, ${failed} could not be read` : ''}`);
    batch.clear();
  };
  return { indexing, follow };
}

/** Says what came of adding; nothing where there is nothing to say besides the list. */
function describeReports(reports: readonly AddReport[]): string | undefined {
  const sum = (key: 'added' | 'replaced' | 'unchanged' | 'refused' | 'leftOut'): number =>
    reports.reduce((total, report) => total + report[key], 0);
  const copies = reports.flatMap((report) => report.copies);
  const [copy] = copies;
  const said = [
    sum('added') > 0 ? `${count(sum('added'))} added` : '',
    sum('replaced') > 0 ? `${count(sum('replaced'))} replaced` : '',
    sum('unchanged') > 0 ? `${count(sum('unchanged'))} already here, unchanged` : '',
    copies.length === 1 && copy ? `“${copy.name}” skipped: it is the same as “${copy.of}”` : '',
    copies.length > 1 ? `${count(copies.length)} skipped: already here under other names` : '',
    sum('refused') > 0 ? `${count(sum('refused'))} could not be read` : '',
    sum('leftOut') > 0 ? `${count(sum('leftOut'))} skipped: neither text nor code` : '',
  ].filter((text) => text !== '');
  return said.length === 0 ? undefined : `${said.join('; ')}.`;
}

function wordsFor(
  { message, details }: { readonly message: string; readonly details?: Record<string, unknown> },
): string {
  return details?.['reason'] === 'storage_full'
    ? 'The browser’s storage for this site is full. Remove files here, or old chats, to free up space.'
    : message;
}

function count(files: number): string {
  return `${files.toLocaleString('en')} file${files === 1 ? '' : 's'}`;
}

const collator = new Intl.Collator('en', { numeric: true, sensitivity: 'base' });

function byNames(a: KnowledgeFile, b: KnowledgeFile): number {
  return collator.compare(a.name, b.name);
}
