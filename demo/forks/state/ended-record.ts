/** The events of a run at an endpoint, once the last of them has come. */

import type { RunsAccess } from '../../app/state/playground.ts';
import type { RunNews, RunRecord } from '../../control/runs-control.ts';

/** An endpoint stores events a moment after the run's last chunk. */
const attempts = 10;
const pauseMs = 500;
/** How long the rest of a run's events may take. */
const longestMs = 10_000;

/** Returns the record; `undefined` where the endpoint does not give it. */
export async function endedRecord(
  via: string,
  traceId: string,
  access: Pick<RunsAccess, 'runAt'>,
): Promise<RunRecord | undefined> {
  for (let i = 0; i < attempts; i++) {
    const found = await lookAt(via, traceId, access);
    if (found !== 'not_found') return found;
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
  return undefined;
}

async function lookAt(
  via: string,
  traceId: string,
  { runAt }: Pick<RunsAccess, 'runAt'>,
): Promise<RunRecord | 'not_found' | undefined> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const looking = new AbortController();
  const timer = setTimeout(resolve, longestMs);
  const early: RunNews[] = [];
  let record: RunRecord | undefined;
  const take = (news: RunNews): void => {
    if (!record) return void early.push(news);
    record = { ...record, head: news.head, events: [...record.events.slice(0, news.from), ...news.events] };
    if (record.head.durationMs !== undefined) resolve();
  };
  try {
    const found = await runAt(via, { traceId }, { onNews: take, signal: looking.signal });
    if (!found.ok) return found.error.code === 'not_found' ? 'not_found' : undefined;
    record = found.value;
    for (const news of early) take(news);
    if (record.head.durationMs === undefined) await promise;
    return record;
  } finally {
    clearTimeout(timer);
    looking.abort();
  }
}
