/** A run at an endpoint: read from the endpoint's events, and followed while it runs. */

import type { Client } from '../../../adapters/transport/client.ts';
import type { Watched } from '../../../adapters/transport/client/watch.ts';
import { PinnaceError } from '../../../src/base/errors.ts';
import type { ObservedEvent } from '../../../src/contracts/event-sink.ts';
import type { RunNews, RunRecord } from '../../control/runs-control.ts';
import { createDelay } from './delay.ts';
import { createLiveRun, type LiveRun } from './live-run.ts';

/** Which run, and the listener for its progress. */
export interface RemoteRunOptions {
  readonly traceId: string;
  /** The plan that it follows; then the run that started the plan is read. */
  readonly planId?: string | undefined;
  readonly onNews: (news: RunNews) => void;
  /** Ends the following. */
  readonly signal: AbortSignal;
  /** How long news may wait for more, in milliseconds. */
  readonly newsEveryMs?: number;
}

type Reader = ReadableStreamDefaultReader<Watched>;

/**
 * Returns the run's events so far; the rest arrives as news.
 *
 * @throws PinnaceError `not_found` where the endpoint has no event of it any more, and as `client.events`.
 */
export async function readRemoteRun(
  client: Pick<Client, 'events' | 'plans'>,
  { planId, onNews, signal, newsEveryMs = 150, ...requested }: RemoteRunOptions,
): Promise<RunRecord> {
  const traceId = planId === undefined ? requested.traceId : await traceOf(client, planId) ?? requested.traceId;
  const stream = await client.events({ traceId, lastEventId: '0', signal });
  const { events, isWhole, reader } = await readStored(stream);
  const run = startOf(events, isWhole);
  if (isOver(run)) await reader.cancel();
  else void follow(run, { reader, onNews, newsEveryMs }).catch(() => undefined); // what was shown stays
  return run.record;
}

/** A plan's events are in the trace of the run that started it. */
async function traceOf({ plans }: Pick<Client, 'plans'>, planId: string): Promise<string | undefined> {
  const plan = await plans.view(planId).catch(() => undefined);
  return plan?.traceId;
}

interface Stored {
  readonly events: readonly ObservedEvent[];
  /** No event of the run can be missing from among them. */
  readonly isWhole: boolean;
  readonly reader: Reader;
}

async function readStored(stream: ReadableStream<Watched>): Promise<Stored> {
  const reader = stream.getReader();
  const events: ObservedEvent[] = [];
  let isWhole = true;
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    const { value } = next;
    if (value.type === 'live') break;
    if (value.type === 'event') events.push(value.event);
    // Before the run's first event, others have expired.
    else isWhole &&= value.reason === 'expired' && events.length === 0;
  }
  return { events, isWhole, reader };
}

function startOf(events: readonly ObservedEvent[], isWhole: boolean): LiveRun {
  const start = events.find(({ action, status }) => action === 'run.start' && status === 'pending');
  const first = start ?? events[0];
  if (!first) throw new PinnaceError('not_found', 'Cannot show the run: the endpoint no longer has its events');
  const run = createLiveRun(start ?? { ...first, target: first.actor });
  for (const event of events) run.add(event);
  if (!isWhole || !start) run.setPartial();
  return run;
}

/** The run has ended, and so has a plan that it started. */
function isOver(run: LiveRun): boolean {
  const { durationMs, planId } = run.head;
  if (durationMs === undefined) return false;
  return planId === undefined || run.since(0).some(({ action }) => action === 'plan.end');
}

async function follow(
  run: LiveRun,
  { reader, onNews, newsEveryMs }: Pick<Stored, 'reader'> & Required<Pick<RemoteRunOptions, 'onNews' | 'newsEveryMs'>>,
): Promise<void> {
  let emitted = run.since(0).length;
  const unemitted = createDelay(newsEveryMs, () => {
    const events = run.since(emitted);
    onNews({ head: run.head, from: emitted, events });
    emitted += events.length;
  });
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    const { value } = next;
    if (value.type !== 'event') continue;
    run.add(value.event);
    unemitted.add(undefined);
    if (!isOver(run)) continue;
    unemitted.flush();
    await reader.cancel();
  }
}
