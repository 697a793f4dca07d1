/** The events of a run at an endpoint, once the last of them has come. */

import '../style.css';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import type { Provider } from '../../../src/registry/index.ts';
import type { Playground, RunsAccess } from '../../app/state/playground.ts';
import type { RunScreen } from '../../app/state/route.ts';
import { showRun } from '../../app/state/screens.ts';
import type { RunNews, RunRecord } from '../../control/runs-control.ts';
import type { OpenedRun } from '../../runs/state/opened-run.ts';
import { createTravel, type Travel } from '../state/travel.ts';
import { Comparison } from './comparison.tsx';
import { StepList } from './step-list.tsx';

interface StepsPanelProps {
  readonly run: OpenedRun;
  readonly playground: Playground;
}

/** The steps of a run, and a fork of it beside it. */
export function StepsPanel({ run, playground }: StepsPanelProps): JSX.Element {
  if (run.source === 'file') {
    return (
      <Unavailable>
        Runs from a file cannot be forked: their steps are in the log of the runtime that ran them.
      </Unavailable>
    );
  }
  if (run.isLive.value) {
    return <Unavailable>The run is still running. You can fork its steps when it has ended.</Unavailable>;
  }
  return <Steps run={run} playground={playground} />;
}

function Unavailable({ children }: { children: string }): JSX.Element {
  return <p class='inspector-empty' role='status' data-testid='steps-none'>{children}</p>;
}

function Steps({ run, playground }: StepsPanelProps): JSX.Element {
  const travel = travelOf(run, playground);
  const { screen } = playground;
  const fork = screen.value?.name === 'run' ? screen.value.fork : undefined;
  const go = (next: Pick<RunScreen, 'fork'>): void => {
    const at = screen.peek();
    if (at?.name === 'run') screen.value = { ...at, tab: 'steps', ...next };
  };
  useEffect(() => fork === undefined ? travel.leave() : travel.show(fork), [travel, fork]);
  if (fork !== undefined) {
    return (
      <Comparison
        travel={travel}
        onClose={() => go({ fork: undefined })}
        onAgain={() => {
          travel.edit(travel.fork.peek()?.fork?.atStep ?? 1);
          go({ fork: undefined });
        }}
      />
    );
  }
  return (
    <StepList
      travel={travel}
      canFork={run.source === 'endpoint' || travel.inputs.value !== undefined}
      onFork={(forkId) => go({ fork: forkId })}
      onParent={run.source === 'worker' ? (parent) => void openParent(parent, run, playground) : undefined}
    />
  );
}

/** Shows this fork beside the run that it was made of. */
async function openParent(parent: string, run: OpenedRun, playground: Playground): Promise<void> {
  const { runs } = await playground.runs.connect().list();
  const traceId = runs.find(({ runId }) => runId === parent)?.traceId;
  if (traceId === undefined) return;
  showRun(playground, { traceId, tab: 'steps', fork: run.record.peek().head.runId });
}

const travels = new WeakMap<OpenedRun, Travel>();

/** The same run stays as it was left. */
function travelOf(run: OpenedRun, playground: Playground): Travel {
  const known = travels.get(run) ?? openTravel(run, playground);
  travels.set(run, known);
  return known;
}

function openTravel(run: OpenedRun, { runs, registry, screen }: Playground): Travel {
  const { head } = run.record.peek();
  const shown = screen.peek();
  const via = run.source === 'endpoint' && shown?.name === 'run' ? shown.via : undefined;
  const control = runs.connect();
  return createTravel({
    runId: head.runId,
    transport: runs.to(via),
    inputsOf: async (runId) => via === undefined ? await control.inputs(runId) : undefined,
    async recordOf(traceId) {
      if (traceId === head.traceId) return run.record.peek();
      if (via !== undefined) return await endedRecord(via, traceId, runs);
      const found = await control.run(traceId);
      return found.ok ? found.value : undefined;
    },
    async providersOf() {
      if (via !== undefined) return [];
      const page = await registry.connect().list('provider', { limit: 200 });
      return page.ok ? page.value.items as readonly Provider[] : []; // as asked for
    },
  });
}

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
