/** News of runs, for the list and for the run that is open. */

import { batch, type Signal } from '@preact/signals';
import { proxy } from 'comlink';
import type { InspectorControl, RunHead, RunList, RunNews } from '../../control/runs-control.ts';
import type { OpenedRun } from './opened-run.ts';

export interface RunFeed {
  /** Starts to listen to the worker, unless that has started. */
  watch(): void;
  take(news: RunNews): void;
  /** Drops what came for runs that were not opened. */
  forget(): void;
  /** Gives a run what came while it was on its way. */
  catchUp(run: OpenedRun): void;
}

interface RunFeedOptions {
  readonly control: Pick<InspectorControl, 'watch'>;
  readonly list: Signal<RunList | undefined>;
  readonly opened: Signal<OpenedRun | undefined>;
}

/** Creates it; listens to nothing yet. */
export function createRunFeed({ control, list, opened }: RunFeedOptions): RunFeed {
  let isWatching = false;
  /** What came while the run was on its way. */
  let early: RunNews[] = [];

  function take(news: RunNews): void {
    if (opened.value?.record.value.head.traceId === news.head.traceId) opened.value.take(news);
    else early = [...early.slice(-maxEarly), news];
  }

  function onNews(news: RunNews): void {
    batch(() => {
      if (list.value) list.value = { ...list.value, runs: withHead(list.value.runs, news.head) };
      take(news);
    });
  }

  return {
    take,
    watch() {
      if (isWatching) return;
      isWatching = true;
      control.watch(proxy(onNews)).catch(() => (isWatching = false)); // retried with the next run
    },
    forget: () => void (early = []),
    catchUp(run) {
      const { traceId } = run.record.value.head;
      for (const news of early) if (news.head.traceId === traceId) run.take(news);
    },
  };
}

const maxEarly = 100;

/** Replaces the run's head; a new run is first. */
function withHead(runs: readonly RunHead[], head: RunHead): readonly RunHead[] {
  return runs.some(({ traceId }) => traceId === head.traceId)
    ? runs.map((run) => run.traceId === head.traceId ? head : run)
    : [head, ...runs];
}
