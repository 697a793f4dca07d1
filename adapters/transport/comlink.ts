/** Connects a page with its agent worker. Streams cross by transfer, errors cross as data. */

import { checkNames, checkOptions, optional } from '../../src/base/check-options.ts';
import { type Endpoint, expose, type Remote, transfer, wrap } from 'comlink';
import type { ChatTransport, UIMessage, UIMessageChunk } from '../../src/contracts/ai-types.ts';
import { type ErrorData, fromData, PinnaceError, toData } from '../../src/base/errors.ts';
import { type Report, reportHidden, unreported } from '../../src/events/report.ts';
import type { RingEvent, WatchOptions } from '../../src/events/event-ring.ts';
import type { StoredBlob } from '../../src/contracts/blob-store.ts';
import { localPrincipal, type Principal } from '../../src/base/principal.ts';
import { callOperation, type OperationCall, orNotStarted, type ServedRooms, workerRooms } from './worker-operations.ts';
import type { RemoteRooms } from './client/rooms.ts';
import { type ChatDefaults, type ChatLink, createChatTransport, type Opened } from './chat/chat-transport.ts';
import type { RunRequestInput } from '../../src/runtime/run-request.ts';
import type { ForkOptions, HostedRuntime, Manifest, RunCall, Runtime } from '../../src/runtime/runtime.ts';
import type { InboxChange, InboxWatch } from '../../src/runtime/inbox.ts';
import type { SentMessage } from '../../src/runtime/steering.ts';

export { withStoredFiles } from './chat/chat-transport.ts';
export type { PinnaceDataParts, PinnaceUIMessage } from '../../src/runtime/message-parts.ts';

/** Comlink drops an error's code, so calls return errors as data. */
type Answer<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: ErrorData };

type Streaming = Promise<Answer<ReadableStream<UIMessageChunk>>>;

/** The worker's side. `callId` names a run until its stream is transferred, and afterwards for `cancel`. */
interface Wire {
  run(callId: string, request: RunRequestInput, key?: string): Streaming;
  fork(callId: string, runId: string, options: ForkOptions, key?: string): Streaming;
  resume(callId: string, runId: string, after: number): Streaming;
  /** The message that the chat's running run writes, from its start; `null` when there is none. */
  join(callId: string, chatId: string): Promise<Answer<ReadableStream<UIMessageChunk> | null>>;
  cancel(callId: string, reason: string): void;
  call(call: OperationCall): Promise<Answer<unknown>>;
  invalidate(keys: readonly string[]): Promise<Answer<void>>;
  close(drainMs: number): Promise<Answer<void>>;
  events(options: Omit<WatchOptions, 'signal'>): Answer<ReadableStream<RingEvent>>;
  watchInbox(options: Pick<InboxWatch, 'of'>): Promise<Answer<ReadableStream<InboxChange>>>;
  readFile(id: string): Promise<Answer<StoredBlob>>;
}

type ExposedRuntime =
  & Runtime
  & Partial<
    Pick<HostedRuntime, 'events' | 'report' | 'runs' | 'inbox'>
  >
  & ServedRooms
  & { readonly blobs?: Pick<HostedRuntime['blobs'], 'get'> };

/**
 * Serves a runtime on the worker's own port, or on the port that is passed. The owner of the other end is the local principal,
 * so do not pass it on.
 */
export function exposeRuntime(
  runtime: ExposedRuntime,
  endpoint: Endpoint = globalThis as unknown as Endpoint,
): void {
  const action = 'expose the runtime';
  checkOptions(action, { runtime }, { runtime: ['.run', 'what createRuntime or createBrowserRuntime returns'] });
  checkOptions(action, { endpoint }, { endpoint: ['.addEventListener', 'a MessagePort, or call it in a worker'] });
  if ('onconnect' in endpoint) return exposeToPages(runtime, endpoint);
  const runs = new Map<string, AbortController>();
  const answerOf = createAnswers(runtime.report);
  const principal = localPrincipal();
  /** Transfers a run's stream, and keeps what stops it until its end. */
  async function handOver(
    callId: string,
    open: (signal: AbortSignal) => Promise<ReadableStream<UIMessageChunk>>,
  ): Promise<Answer<ReadableStream<UIMessageChunk>>> {
    const abort = new AbortController();
    runs.set(callId, abort);
    const answer = await answerOf(() => open(abort.signal));
    if (!answer.ok) {
      runs.delete(callId);
      return answer;
    }
    const value = whenEnded(answer.value, () => runs.delete(callId));
    return transfer({ ok: true, value }, [value]);
  }
  const wire: Wire = {
    run: (callId, request, idempotencyKey) =>
      handOver(callId, (signal) => runtime.run(request, principal, { signal, idempotencyKey })),
    fork: (callId, runId, options, idempotencyKey) =>
      handOver(callId, (signal) => runtime.fork(runId, options, principal, { signal, idempotencyKey })),
    resume: (callId, runId, after) => handOver(callId, (signal) => runtime.resume(runId, after, { principal, signal })),
    async join(callId, chatId) {
      const found = await answerOf(async () => await messageOfChat(runtime, chatId, principal));
      if (!found.ok || !found.value) return found.ok ? { ok: true, value: null } : found;
      const { runId, earlier } = found.value;
      return await handOver(
        callId,
        async (signal) => withEarlier(await runtime.resume(runId, 0, { principal, signal }), earlier),
      );
    },
    cancel: (callId, reason) => runs.get(callId)?.abort(reason),
    call: (call) => answerOf(() => callOperation(runtime, principal, call)),
    invalidate: (keys) => answerOf(() => runtime.invalidate(keys)),
    close: (drainMs) => answerOf(() => runtime.close({ drainMs })),
    readFile: (id) => answerOf(async () => await (runtime.blobs ?? noFiles()).get(id, principal)),
    async watchInbox({ of }) {
      const answer = await answerOf(async () => await (runtime.inbox ?? noInbox()).watch(principal, { of }));
      return answer.ok ? transfer(answer, [answer.value]) : answer;
    },
    events(options) {
      if (!runtime.events) return { ok: false, error: toData(unwatched()) };
      const value = runtime.events(principal, options);
      return transfer({ ok: true, value }, [value]);
    },
  };
  expose(wire, endpoint);
}

function noInbox(): never {
  throw new PinnaceError('unavailable', 'Cannot read the inbox: the runtime has none', { retryable: false });
}

function noFiles(): never {
  throw new PinnaceError('unavailable', 'Cannot read the file: the runtime stores none', { retryable: false });
}

/** Serves every page that connects to a shared worker. */
function exposeToPages(runtime: ExposedRuntime, worker: Endpoint): void {
  worker.addEventListener('connect', (event) => {
    const [port] = (event as MessageEvent).ports;
    if (port) exposeRuntime(runtime, port);
  });
}

/** The run that writes the chat's message, or was interrupted while it did, and what earlier runs have written of it. */
async function messageOfChat(
  { runs }: ExposedRuntime,
  chatId: string,
  principal: Principal,
): Promise<{ readonly runId: string; readonly earlier: readonly UIMessageChunk[] } | undefined> {
  const run = await runs?.ofChat(principal, chatId, { ended: true });
  if (!runs || (run?.state !== 'running' && run?.state !== 'interrupted')) return undefined;
  const texts = await runs.earlier(principal, run.runId);
  return { runId: run.runId, earlier: texts.map((text) => JSON.parse(text) as UIMessageChunk) }; // `record` alone writes them
}

/** Adds the chunks after the first one of the stream. */
function withEarlier(stream: ReadableStream<UIMessageChunk>, earlier: readonly UIMessageChunk[]) {
  const reader = stream.getReader();
  let isFirst = true;
  return new ReadableStream<UIMessageChunk>({
    async pull(controller) {
      const { done, value } = await reader.read();
      if (done) return controller.close();
      controller.enqueue(value);
      if (isFirst) { for (const chunk of earlier) controller.enqueue(chunk); }
      isFirst = false;
    },
    cancel: (reason) => reader.cancel(reason),
  }, { highWaterMark: 0 });
}

/** Returns the function that does the work of a call. The page receives errors as data, without their cause, which is reported. */
function createAnswers(report: Report = unreported) {
  return async <T>(work: () => Promise<T>): Promise<Answer<T>> => {
    try {
      return { ok: true, value: await work() };
    } catch (error) {
      reportHidden(report, error, { kind: 'run' });
      return { ok: false, error: toData(error) };
    }
  };
}

/** The same stream; calls back when it has ended or was canceled. */
function whenEnded<T>(stream: ReadableStream<T>, ended: () => void): ReadableStream<T> {
  const reader = stream.getReader();
  return new ReadableStream<T>({
    async pull(controller) {
      const { done, value } = await reader.read();
      if (!done) return controller.enqueue(value);
      ended();
      controller.close();
    },
    async cancel(reason) {
      ended();
      await reader.cancel(reason);
    },
  }, { highWaterMark: 0 });
}

/**
 * A runtime in a worker, which is also a transport for AI SDK chats: `body.agentId` names the agent, `body.output` its answer,
 * `body.planner` says how it plans.
 */
export type ConnectedRuntime = Runtime & ChatTransport<UIMessage> & RemoteRooms & {
  /** Streams the worker's events until the stream is canceled or the signal aborts. Rejects with `unavailable` where it emits none. */
  events(options?: WatchOptions): Promise<ReadableStream<RingEvent>>;
  /** Reads a stored file by its id or its `pinnace-blob:` address. Rejects with `not_found`. */
  readFile(id: string): Promise<Blob>;
};

/**
 * Returns the runtime that the worker exposes. Aborting a run's signal stops the run, and so does canceling its stream. A page is
 * always the local principal, whatever it passes.
 *
 * When the worker's script cannot be loaded or throws while it starts, every call rejects with `unavailable`, reason `worker_failed`.
 * A browser does not report what a shared worker throws.
 */
export function connectRuntime(
  worker: Endpoint | { readonly port: Endpoint },
  defaults: ChatDefaults = {},
): ConnectedRuntime {
  const port: unknown = Object(worker).port ?? worker;
  checkNames('connect to the runtime', defaults, optional('agentId', 'body'));
  if (typeof Object(port).postMessage !== 'function') {
    // by hand: a page does without the texts of all other mistakes
    throw new PinnaceError(
      'invalid_argument',
      'Cannot connect to the runtime: pass a Worker, SharedWorker or MessagePort',
      { details: { reason: 'wrong_argument', field: 'worker' } },
    );
  }
  const wire = orNotStarted(wrap<Wire>('port' in worker ? started(worker.port) : worker), worker);
  const callWorker = async (one: OperationCall): Promise<unknown> => valueOf(await wire.call(one));
  return {
    run: (request, _principal, call = {}) =>
      streamOver(wire, call, (callId) => wire.run(callId, request, call.idempotencyKey)),
    fork: (runId, options, _principal, call = {}) =>
      streamOver(wire, call, (callId) => wire.fork(callId, runId, options, call.idempotencyKey)),
    resume: async (runId, after, { signal }) => {
      const callId = crypto.randomUUID();
      const resumed = wire.resume(callId, runId, after);
      cancelOn(signal, { wire, callId });
      return valueOf(await resumed);
    },
    send: async (runId, message) => await callWorker(['runtime', 'send', runId, message]) as SentMessage, // safe: what the method of this name returns
    manifest: async (agentId) => await callWorker(['runtime', 'manifest', agentId]) as Manifest, // as above
    decide: async (...[runId, approvalId, decision]) =>
      void await callWorker(['runtime', 'decide', runId, approvalId, decision]),
    reply: async (runId, reply) => void await callWorker(['runtime', 'reply', runId, reply]),
    invalidate: async (keys) => valueOf(await wire.invalidate(keys)),
    close: async ({ drainMs = 0 }: { readonly drainMs?: number } = {}) => valueOf(await wire.close(drainMs)),
    async readFile(id) {
      const { bytes, mediaType } = valueOf(await wire.readFile(id.replace(/^pinnace-blob:/, '')));
      return new Blob([bytes], { type: mediaType });
    },
    ...workerRooms(callWorker, async ({ of, signal } = {}) => {
      const stream = valueOf(await wire.watchInbox({ of }));
      return signal ? stopped(stream, signal) : stream;
    }),
    async events({ signal, ...options } = {}) {
      const stream = valueOf(await wire.events(options));
      return signal ? stopped(stream, signal) : stream;
    },
    ...createChatTransport(chatLink(wire), defaults),
  };
}

function started(port: Endpoint): Endpoint {
  port.start?.();
  return port;
}

function chatLink(wire: Remote<Wire>): ChatLink {
  const opened = (open: (callId: string) => Promise<Answer<ReadableStream<UIMessageChunk> | null>>): Opened => {
    const callId = crypto.randomUUID();
    const opening = open(callId).then(valueOf);
    return {
      opening,
      leave: () => undefined, // the reader cancels its stream
      stop: async () => await wire.cancel(callId, 'cancelled'),
    };
  };
  return {
    start: (request) => opened(async (callId) => await wire.run(callId, request)),
    join: (chatId) => opened(async (callId) => await wire.join(callId, chatId)),
    decide: async (runId, approvalId, decision) =>
      void valueOf(await wire.call(['runtime', 'decide', runId, approvalId, decision])),
  };
}

async function streamOver(
  wire: Remote<Wire>,
  { signal }: RunCall,
  open: (callId: string) => Promise<Answer<ReadableStream<UIMessageChunk>>>,
): Promise<ReadableStream<UIMessageChunk>> {
  if (signal?.aborted) throw new PinnaceError('cancelled', 'The run was stopped before it started');
  const callId = crypto.randomUUID();
  cancelOn(signal, { wire, callId });
  return valueOf(await open(callId));
}

/** Calls back at once for a signal that has already aborted. */
function cancelOn(
  signal: AbortSignal | undefined,
  { wire, callId }: { readonly wire: Remote<Wire>; readonly callId: string },
): void {
  const cancel = (): void =>
    void wire.cancel(callId, signal ? (typeof signal.reason === 'string' ? signal.reason : 'cancelled') : '');
  if (signal?.aborted) cancel();
  signal?.addEventListener('abort', cancel, { once: true });
}

/** Ends the stream on both sides. */
function stopped<T>(stream: ReadableStream<T>, signal: AbortSignal): ReadableStream<T> {
  const { readable, writable } = new TransformStream<T, T>();
  void stream.pipeTo(writable, { signal, preventAbort: true }).catch(() => writable.close()).catch(() => undefined);
  return readable;
}

function unwatched(): PinnaceError {
  return new PinnaceError('unavailable', 'Cannot observe the runtime: it emits no events', {
    retryable: false,
  });
}

function valueOf<T>(answer: Answer<T>): T {
  if (answer.ok) return answer.value;
  throw fromData(answer.error);
}
