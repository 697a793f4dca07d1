/** Observes the events of an endpoint, over as many connections as needed. */

import type { ObservedEvent } from '../../../src/contracts/event-sink.ts';
import { readEvents } from './follow.ts';
import { type Connection, queryOf, resolvePath } from './connection.ts';
import type { GapReason } from '../../../src/events/event-feed.ts';
import type { EventFilter } from '../../../src/events/event-query.ts';
import { pauseMs, unexpected } from './send.ts';

export type Watched =
  | { readonly type: 'event'; readonly id: string; readonly event: ObservedEvent }
  /** How many; unknown when absent, as after a restart of an endpoint that stores none. */
  | { readonly type: 'gap'; readonly reason?: GapReason; readonly dropped?: number }
  /** All stored events have been sent: what follows happens now. Sent with every connection. */
  | { readonly type: 'live' };

export interface WatchOptions extends EventFilter {
  /** The id of the last event that was read, or `0` for all stored events; absent, only later events. */
  readonly lastEventId?: string | undefined;
  readonly signal: AbortSignal;
}

interface Position {
  id: string | undefined;
  /** Connections in a row without an event. */
  quiet: number;
}

/**
 * Streams each event once, until the stream is canceled or the signal aborts. It reconnects after a cut, from the last event on.
 * Rejects when the first connection is rejected; the stream fails when a later one is.
 */
export async function watchEvents(
  connection: Connection,
  { signal, lastEventId, ...filter }: WatchOptions,
): Promise<ReadableStream<Watched>> {
  const left = new AbortController();
  const both = AbortSignal.any([signal, left.signal]);
  const position: Position = { id: lastEventId, quiet: 0 };
  const url = resolvePath(connection.base, `/v1/events${queryOf(filter)}`);
  const open = (): Promise<Response> => {
    const after: Record<string, string> = position.id === undefined ? {} : { 'last-event-id': position.id };
    return connection.send({ method: 'GET', url, headers: { accept: 'text/event-stream', ...after }, signal: both });
  };
  const following = { connection, position, open, signal: both };
  const { reading } = connection;
  const events = reconnect(
    await open(),
    following,
    (body) => readWatched(readEvents(body, { ...reading, signal: both }), position),
  );
  return streamOf(events, left);
}

interface StreamWatch<T> {
  readonly signal?: AbortSignal | undefined;
  /** Reads an event; `undefined` for one of a kind that this version does not know. */
  readonly read: (type: string, data: object) => T | undefined;
}

/** Streams events over as many connections as needed, each of which starts anew. Rejects as `watchEvents`. */
export async function watchStream<T>(
  connection: Connection,
  path: string,
  { signal, read: readEvent }: StreamWatch<T>,
): Promise<ReadableStream<T>> {
  const left = new AbortController();
  const both = signal ? AbortSignal.any([signal, left.signal]) : left.signal;
  const url = resolvePath(connection.base, path);
  const open = (): Promise<Response> =>
    connection.send({ method: 'GET', url, headers: { accept: 'text/event-stream' }, signal: both });
  const position: Position = { id: undefined, quiet: 0 };
  const following = { connection, position, open, signal: both };
  const events = reconnect(await open(), following, async function* (response) {
    for await (const { event = '', data } of readEvents(response, { ...connection.reading, signal: both })) {
      position.quiet = 0;
      const found = readEvent(event, read(data));
      if (found) yield found;
    }
  });
  return streamOf(events, left);
}

function streamOf<T>(events: AsyncGenerator<T, void>, left: AbortController): ReadableStream<T> {
  return new ReadableStream<T>({
    async pull(controller) {
      const { done, value } = await events.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: (reason) => left.abort(reason),
  }, { highWaterMark: 0 });
}

interface Following {
  readonly connection: Connection;
  readonly position: Position;
  readonly open: () => Promise<Response>;
  readonly signal: AbortSignal;
}

async function* reconnect<T>(
  first: Response,
  { connection: { reading }, position, open, signal }: Following,
  readBody: (body: NonNullable<Response['body']>) => AsyncGenerator<T, void>,
): AsyncGenerator<T, void> {
  for (let response = first;;) {
    position.quiet++;
    if (response.body) yield* readBody(response.body);
    try {
      await reading.wait(pauseMs(position.quiet, reading.backoff), signal);
      response = await open();
    } catch (error) {
      if (signal.aborted) return;
      throw error;
    }
  }
}

async function* readWatched(events: ReturnType<typeof readEvents>, position: Position): AsyncGenerator<Watched, void> {
  for await (const { id, event: type = '', data } of events) {
    if (type !== 'gap' && id !== undefined) position.id = id;
    position.quiet = 0;
    if (type === 'gap') yield { type, ...read(data) };
    else if (type === 'live') yield { type };
    else if (type === '' && id !== undefined) yield { type: 'event', id, event: read(data) as ObservedEvent }; // as the endpoint describes
  }
}

function read(data: string): object {
  try {
    const value: unknown = JSON.parse(data);
    if (typeof value === 'object' && value !== null) return value;
  } catch {
    // Not JSON: treated like JSON of another form.
  }
  throw unexpected('an event holds no object');
}
