import { afterEach, describe, expect, it, vi } from 'vitest';
import { httpSink } from '../../../adapters/sinks/http.ts';
import type { QueuedSink } from '../../../adapters/sinks/queue.ts';
import { storageSink } from '../../../adapters/sinks/storage.ts';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import type { ObservedEvent, Storage } from '../../../src/index.ts';
import { queuedSinkContract, type SinkSubject } from '../../contracts/sinks.ts';

const queue = { capacity: 10, batchSize: 4, tries: 2, retryDelayMs: 0 };

function subjectOf(queued: QueuedSink, other: Pick<SinkSubject, 'received' | 'setBroken'>): SinkSubject {
  const { sink, flush, close } = queued;
  return { sink, flush, close, dropped: () => queued.dropped, ...other };
}

function storageSubject(): SinkSubject {
  const storage = memoryStorage();
  let broken = false;
  const flaky: Storage = {
    ...storage,
    commit: (changes) => broken ? Promise.reject(new Error('Disk full')) : storage.commit(changes),
  };
  const queued = storageSink({ storage: flaky, ...queue });
  return subjectOf(queued, {
    received: async () => (await queued.log.list({ limit: 200 })).items.map(({ event }) => event),
    setBroken: (value) => void (broken = value),
  });
}

function readLines(body: string): ObservedEvent[] {
  return body.split('\n').filter((line) => line !== '').map((line) => JSON.parse(line) as ObservedEvent); // as they were sent
}

function httpSubject(): SinkSubject & { readonly requests: Request[] } {
  const requests: Request[] = [];
  const arrived: ObservedEvent[] = [];
  let broken = false;
  const fetch = async (request: Request): Promise<Response> => {
    requests.push(request.clone());
    if (broken) return new Response('no', { status: 503 });
    arrived.push(...readLines(await request.text()));
    return new Response(null, { status: 204 });
  };
  const url = 'https://events.example/ingest';
  const queued = httpSink({ url, fetch, headers: () => ({ authorization: 'Bearer t' }), ...queue });
  const other = { received: () => Promise.resolve(arrived), setBroken: (value: boolean) => void (broken = value) };
  return { ...subjectOf(queued, other), requests };
}

describe.each([['storageSink', storageSubject], ['httpSink', httpSubject]])('%s', (_, subject) => {
  it.each(queuedSinkContract.map((check) => [check.name, check] as const))('%s', async (__, { run }) => {
    await expect(run(subject())).resolves.toBeUndefined();
  });
});

const event: ObservedEvent = {
  timestamp: '2026-11-21T00:00:00.000Z',
  traceId: 'a'.repeat(32),
  actor: { type: 'agent', id: 'helper' },
  action: 'run.start',
  target: { type: 'agent', id: 'helper' },
  status: 'pending',
  latency: 0,
  error: null,
  payloadSummary: '',
};

describe('storageSink', () => {
  it('lists all earlier events, also waiting ones', async () => {
    const { sink, log, waiting } = storageSink({ storage: memoryStorage() });
    sink(event);
    expect((await log.list()).items).toEqual([{ seq: 1, event }]);
    sink(event);
    expect((await log.list()).items).toHaveLength(2);
    expect(waiting).toBe(0);
  });
});

describe('httpSink', () => {
  it('posts one event a line, with the headers of now, and follows no redirect', async () => {
    const { sink, flush, requests } = httpSubject();
    sink(event);
    await flush();
    const [request] = requests;
    expect(request).toMatchObject({ method: 'POST', url: 'https://events.example/ingest', redirect: 'error' });
    expect(request?.headers.get('content-type')).toBe('application/x-ndjson');
    expect(request?.headers.get('authorization')).toBe('Bearer t');
    expect(await request?.text()).toBe(`${JSON.stringify(event)}\n`);
  });
});

describe('queuedSink', () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  it('writes by itself when events have waited long enough', async () => {
    vi.useFakeTimers();
    const bodies: Request[] = [];
    const fetch = (request: Request): Promise<Response> => {
      bodies.push(request);
      return Promise.resolve(new Response(null, { status: 204 }));
    };
    const { sink } = httpSink({ url: 'https://events.example', fetch, maxWaitMs: 500 });
    sink(event);
    sink(event);
    await vi.advanceTimersByTimeAsync(499);
    expect(bodies).toHaveLength(0);
    await vi.advanceTimersByTimeAsync(1);
    expect(bodies).toHaveLength(1);
  });
});
