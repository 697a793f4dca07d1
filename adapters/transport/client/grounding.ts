/** The data sources of an endpoint: queried as in process, and filled with files while the caller reads the progress. */

import type { Call, CallOptions } from './call.ts';
import { type ErrorData, fromData } from '../../../src/base/errors.ts';
import { toBase64 } from '../../../src/base/base64.ts';
import type { IngestProgress, IngestReport } from '../../../src/grounding/ingest/ingest.ts';
import type { GroundingAnswer, RetrieveInput } from '../../../src/grounding/request.ts';
import { type Connection, openEvents } from './connection.ts';
import { readEvents } from './events.ts';
import { unreachable } from './problem.ts';
import { unexpected } from './send.ts';
import { pauseMs } from './wait.ts';

/** A file to ingest: its text, or the bytes of a file that the endpoint reads, as PDF and office files are. */
export type RemoteFile = RemoteFileName & ({ readonly text: string } | { readonly bytes: Uint8Array });

interface RemoteFileName {
  /** The file name; its extension selects the reader. A file of the same name replaces the earlier one. */
  readonly name: string;
  readonly type?: string;
  /** Where it can be opened; its name when absent. */
  readonly uri?: string;
}

/** The data sources of an endpoint. */
export interface RemoteGrounding {
  /** Queries one data source. Rejects with `not_found` for an unknown one. */
  retrieve(
    dataSourceId: string,
    question: Omit<RetrieveInput, 'dataSourceId' | 'dataSourceIds'>,
    options?: CallOptions,
  ): Promise<GroundingAnswer>;
  /**
   * Ingests files into a data source. Yields the progress of each file, and returns the report. It reconnects after a cut: files
   * that were ingested before are then reported as `unchanged`.
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

/** Returns the data sources of an endpoint. */
export function remoteGrounding(connection: Connection, call: Call): RemoteGrounding {
  return {
    retrieve: (source, body, given) => call('POST /v1/grounding/:source/retrieve', { source }, { ...given, body }),
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
    const response = await openEvents(connection, { path, body: { files: files.map(toBody) }, signal });
    for await (
      const { event, data } of readEvents(response.body ?? new ReadableStream(), { ...connection.reading, signal })
    ) {
      if (event === 'report') return parsed(data) as IngestReport; // the endpoint's schema says so
      if (event === 'error') throw fromData(parsed(data) as ErrorData); // as above
      if (event !== 'progress') continue;
      failures = 0; // progress resets the count of failures
      yield parsed(data) as IngestProgress; // as above
    }
    signal.throwIfAborted();
    failures += 1;
    await wait(pauseMs(failures, backoff), signal);
  }
  throw unreachable();
}

function toBody(file: RemoteFile): object {
  return 'bytes' in file ? { ...file, bytes: toBase64(file.bytes) } : file;
}

function parsed(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    throw unexpected('an event holds no JSON');
  }
}
