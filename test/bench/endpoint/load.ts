/** The load generator: a separate process that sends the given requests and reports the responses. */

import { once } from 'node:events';
import { Agent, type IncomingMessage, request as httpRequest } from 'node:http';
import process from 'node:process';
import type { SignedRequest } from './signer.ts';

/** What to send, and how its answers are read. */
export interface Load {
  readonly url: string;
  readonly requests: readonly SignedRequest[];
  /** To the end; until so many events have come, then no further; or not at all. */
  readonly read: 'whole' | 'stall' | { readonly events: number };
}

/** What came of the requests; times are milliseconds. */
export interface Outcome {
  readonly elapsedMs: number;
  readonly firstByteMs: readonly number[];
  readonly statuses: Readonly<Record<number, number>>;
  /** Streams that ended as they should. */
  readonly whole: number;
  readonly events: number;
  readonly runIds: readonly string[];
}

const agent = new Agent({ maxSockets: Infinity });
const longestMs = 120_000;

interface Answer {
  readonly status: number;
  readonly firstByteMs: number;
  readonly whole: boolean;
  readonly events: number;
  readonly runId: string;
}

async function send({ url, read }: Load, { method, path, headers, body }: SignedRequest): Promise<Answer> {
  const startedAt = performance.now();
  const request = httpRequest(url + path, { method, headers, agent });
  request.end(body);
  const [response] = await once(request, 'response') as [IncomingMessage];
  const { statusCode: status = 0, headers: received } = response;
  const runId = String(received['x-run-id'] ?? '');
  if (read === 'stall') {
    response.pause();
    return { status, runId, firstByteMs: performance.now() - startedAt, whole: false, events: 0 };
  }
  const wanted = read === 'whole' ? Infinity : read.events;
  return { status, runId, ...await readStream(response, { startedAt, wanted }) };
}

async function readStream(response: IncomingMessage, { startedAt, wanted }: { startedAt: number; wanted: number }) {
  let [firstByteMs, events, tail] = [0, 0, ''];
  const done = Promise.withResolvers<void>();
  response.on('data', (chunk: Buffer) => {
    firstByteMs ||= performance.now() - startedAt;
    for (let at = chunk.indexOf('id: '); at >= 0; at = chunk.indexOf('id: ', at + 4)) events++;
    tail = chunk.subarray(-16).toString();
    if (events >= wanted) {
      response.pause();
      done.resolve();
    }
  });
  response.on('end', done.resolve).on('error', done.resolve);
  await done.promise;
  return { firstByteMs, events, whole: tail.endsWith('data: [DONE]\n\n') };
}

async function run(load: Load): Promise<Outcome> {
  const startedAt = performance.now();
  const answers = await Promise.all(load.requests.map((request) => send(load, request)));
  const statuses: Record<number, number> = {};
  for (const { status } of answers) statuses[status] = (statuses[status] ?? 0) + 1;
  return {
    elapsedMs: performance.now() - startedAt,
    firstByteMs: answers.map(({ firstByteMs }) => firstByteMs),
    statuses,
    whole: answers.filter(({ whole }) => whole).length,
    events: answers.reduce((sum, { events }) => sum + events, 0),
    runIds: answers.map(({ runId }) => runId),
  };
}

setTimeout(() => process.exit(3), longestMs).unref();
process.on('message', (load: Load) => void run(load).then((outcome) => process.send?.(outcome)));
process.on('disconnect', () => process.exit());
