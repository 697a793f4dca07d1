import { checkNames, optional } from '../../src/base/check-options.ts';
import { PinnaceError } from '../../src/base/errors.ts';
import { guardedSend, type GuardedSendOptions } from '../remote/guarded-send.ts';
import { type QueuedSink, queuedSink, type QueueOptions, queueOptions } from './queue.ts';

/** Where events are sent. */
export interface HttpSinkOptions extends QueueOptions, GuardedSendOptions {
  /** Takes a POST of `application/x-ndjson`, one event a line, and answers with any status below 300. */
  readonly url: string | URL;
  /** Called before each request, so that it can return a renewed token. */
  readonly headers?: () => Promise<Readonly<Record<string, string>>> | Readonly<Record<string, string>>;
  /** For one request, in milliseconds. */
  readonly timeoutMs?: number;
}

/**
 * Creates a sink that sends events in batches over the guarded egress. It follows no redirects. It may resend a batch that got
 * no answer, so the collector must accept duplicates.
 *
 * @example
 * const { sink, close } = httpSink({ url: 'https://events.example/ingest', headers: () => ({ authorization: `Bearer ${token}` }) });
 */
export function httpSink(
  options: HttpSinkOptions,
): QueuedSink {
  checkNames('create the sink', options, {
    ...optional('url', 'headers', 'egress', 'privateOrigins', 'fetch', 'timeoutMs'),
    ...queueOptions,
  });
  const { url, headers, egress, privateOrigins, fetch, timeoutMs = 10_000, ...queue } = options;
  const address = new URL(url);
  const way = { ...(egress && { egress }), ...(privateOrigins && { privateOrigins }), ...(fetch && { fetch }) };
  const send = guardedSend(way, address.href);
  return queuedSink(async (events) => {
    const body = events.map((event) => `${JSON.stringify(event)}\n`).join('');
    const request = new Request(address, {
      method: 'POST',
      headers: { ...await headers?.(), 'content-type': 'application/x-ndjson' },
      body,
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
    });
    const response = await send(request);
    await response.body?.cancel();
    if (!response.ok) throw new PinnaceError('unavailable', `Cannot send events: the answer was ${response.status}`);
  }, queue);
}
