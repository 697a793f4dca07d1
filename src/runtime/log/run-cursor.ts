/** Reads a run's events, from this instance or from the storage. */

import { headKey } from '../../log/journal-record.ts';
import { createNews, type News, watchKey } from '../../log/news.ts';
import type { Storage } from '../../contracts/storage.ts';
import type { LiveRun } from './live-run.ts';
import { type RunEvent, runPrefix } from './run-record.ts';
import type { ForkedFrom } from './stitched-log.ts';
import { readEvents, readRun, type StoredRunOptions } from './stored-run.ts';

/** Reads a run's events from a number on. A slow reader costs nothing. */
export interface RunCursor {
  /** The next events, some at a time; `undefined` when the run has ended and all are read. */
  next(): Promise<readonly RunEvent[] | undefined>;
  /** Leaves. The run continues for a while, so that the reader can resume. */
  close(): void;
}

const pollMs = 250;

/** Opens a cursor behind the event `after`. */
export function createCursor(
  runId: string,
  { after, live, stored, parent }: {
    readonly after: number;
    readonly live: LiveRun | undefined;
    readonly stored: StoredRunOptions;
    readonly parent: ForkedFrom | undefined;
  },
): RunCursor {
  live?.attach();
  let at = after;
  let closed = false;
  let ended = false;
  let news: News | undefined;
  const read = async (): Promise<readonly RunEvent[] | undefined> => {
    if (live && at < live.first) return await readEvents(runId, at, stored.storage, parent);
    const observed = await live?.read(at);
    if (observed) return observed;
    if (live && !live.takenOver) return unrecorded();
    while (!closed) {
      const events = await readEvents(runId, at, stored.storage, parent);
      if (events.length > 0) return events;
      const head = await readRun(runId, stored);
      if (!head || (head.state.state !== 'running' && head.seq <= at)) return undefined;
      if (head.seq <= at) await untilGrown();
    }
    return undefined;
  };
  /** Returns the events behind the log, once. They have its last number, so a reader that resumes misses nothing of the log. */
  const unrecorded = (): readonly RunEvent[] | undefined => {
    if (ended || !live || live.unrecorded.length === 0) return undefined;
    ended = true;
    return live.unrecorded.map((text) => ({ seq: at, text }));
  };
  /** Resolves when the log may have grown. The first time at once: what came before the news started must be read again. */
  const untilGrown = async (): Promise<void> => {
    if (news) return await news.next();
    news = createNews((onNews) => watchRun(runId, stored.storage, onNews));
  };
  return {
    async next() {
      const events = closed ? undefined : await read();
      if (!events) news?.stop();
      at = events?.at(-1)?.seq ?? at;
      return events;
    },
    close() {
      if (closed) return;
      closed = true;
      news?.stop();
      live?.detach();
    },
  };
}

/** Also calls back now and then: no news says that a run was lost, or that chunks came without a new head. */
export function watchRun(runId: string, storage: Storage, onNews: () => void): () => void {
  const stop = watchKey(storage, headKey(runPrefix(runId)), onNews);
  const timer = setInterval(onNews, pollMs);
  return () => {
    clearInterval(timer);
    stop();
  };
}
