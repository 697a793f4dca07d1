/** The data sources of an endpoint: asked as in process, and filled with files while whoever sends them is told how far it is. */

import type { CallOptions } from './call-options.ts';
import { type ErrorData, fromData } from '../../../src/base/errors.ts';
import type { IngestProgress, IngestReport } from '../../../src/grounding/ingest/ingest.ts';
import type { GroundingAnswer, RetrieveInput } from '../../../src/grounding/request.ts';
import { ask, type Connection, openEvents } from './connection.ts';
import { readEvents } from './events.ts';
import { unreachable } from './problem.ts';
import { unexpected } from './send.ts';
import { pauseMs } from './wait.ts';

/** A file to be sent, as text. */
export interface RemoteFile {
  /** With its ending, which says how it is read. Sent again under the same name, it takes the place of what was there. */
  readonly name: string;
  readonly type?: string;
  /** Where it can be opened; its name when absent. */
  readonly uri?: string;
  readonly text: string;
}

/** The data sources of an endpoint. */
export interface RemoteGrounding {
  /** Asks one data source. Rejects with `not_found` for one that there is not. */
  retrieve(
    dataSourceId: string,
    question: Omit<RetrieveInput, 'dataSourceId' | 'dataSourceIds'>,
    options?: CallOptions,
  ): Promise<GroundingAnswer>;
  /**
   * Fills a data source. Gives what is known of one file after the other as it goes on, and returns the report. A connection that
   * is cut is opened anew: what was ingested before is then told as `unchanged`.
   *
   * @example
   * for await (const { file, state, done, total } of client.grounding.ingest('handbook', files)) show(file, state, done / total);
   */
  ingest(
    dataSourceId: string,
    files: readonly RemoteFile[],
    options?: CallOptions,
  ): AsyncGenerator<IngestProgress, IngestReport>;
}

/** Creates the data sources of the endpoint that is asked. */
export function createRemoteGrounding(connection: Connection): RemoteGrounding {
  return {
    async retrieve(dataSourceId, body, { signal = new AbortController().signal } = {}) {
      const path = `/v1/grounding/${encodeURIComponent(dataSourceId)}/retrieve`;
      return await ask(connection, { method: 'POST', path, body, signal }) as GroundingAnswer; // the endpoint's schema says so
    },
    ingest: (dataSourceId, files, { signal = new AbortController().signal } = {}) =>
      ingest(connection, { path: `/v1/data-sources/${encodeURIComponent(dataSourceId)}/ingest`, files, signal }),
  };
}

interface Ingestion {
  readonly path: string;
  readonly files: readonly RemoteFile[];
  readonly signal: AbortSignal;
}

async function* ingest(
  connection: Connection,
  { path, files, signal }: Ingestion,
): AsyncGenerator<IngestProgress, IngestReport> {
  const { wait, backoff } = connection.reading;
  for (let failures = 0; failures < backoff.attempts;) {
    const response = await openEvents(connection, { path, body: { files }, signal });
    for await (
      const { event, data } of readEvents(response.body ?? new ReadableStream(), { ...connection.reading, signal })
    ) {
      if (event === 'report') return parsed(data) as IngestReport; // the endpoint's schema says so
      if (event === 'error') throw fromData(parsed(data) as ErrorData); // as above
      if (event !== 'progress') continue;
      failures = 0; // it goes on, however often it is cut
      yield parsed(data) as IngestProgress; // as above
    }
    signal.throwIfAborted();
    failures += 1;
    await wait(pauseMs(failures, backoff), signal);
  }
  throw unreachable();
}

function parsed(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    throw unexpected('an event holds no JSON');
  }
}
