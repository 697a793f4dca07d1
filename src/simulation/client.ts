/** The client of a simulated instance: it sends requests, and reads their streams. */

import { toData } from '../base/errors.ts';
import { isRecord } from '../base/is-record.ts';
import { localPrincipal, type Principal } from '../base/principal.ts';
import type { UIMessageChunk } from '../contracts/ai-types.ts';
import type { ObservedEvent } from '../contracts/event-sink.ts';
import type { RunRequestInput } from '../runtime/run-request.ts';
import type { HostedRuntime } from '../runtime/runtime.ts';
import type { OpenStreams } from './faults.ts';
import type { Instance } from './instance.ts';
import type { StorageCheck } from './storage-check.ts';

/** What `simulate` needs of a runtime. */
export type SimulatedRuntime = Pick<HostedRuntime, 'run' | 'resume' | 'close'>;

/** Sends requests to an instance. */
export interface SimulatedClient<R extends SimulatedRuntime = SimulatedRuntime> {
  readonly runtime: R;
  /** `retry` sends the same requests as `first` to another instance; `after` sends others, with the same content. */
  readonly phase: Phase;
  /**
   * Sends a request and reads its stream to the end. Never rejects: `ended` says how the request ended. The default key is the same
   * for the same number of requests before. Never resolves when the instance is killed or the client disconnects.
   */
  readonly send: (
    request: RunRequestInput,
    options?: { readonly key?: string; readonly principal?: Principal },
  ) => Promise<SentRequest>;
}

export interface ObservedClient<R extends SimulatedRuntime> {
  readonly client: SimulatedClient<R>;
  readonly requests: SentRequest[];
  readonly principals: Map<string, Principal>;
  readonly left: Promise<void>;
}

export function createClient<R extends SimulatedRuntime>(
  runtime: R,
  { phase, instance }: { readonly phase: Phase; readonly instance: Instance },
): ObservedClient<R> {
  const requests: SentRequest[] = [];
  const principals = new Map<string, Principal>();
  const { promise: left, resolve: leave } = Promise.withResolvers<void>();
  const signal = phase === 'after' ? undefined : instance.stop.signal;
  const client: SimulatedClient<R> = {
    runtime,
    phase,
    async send(request, { key: given, principal = localPrincipal() } = {}) {
      const at = requests.length;
      const key = `${given ?? `simulated-request-${at + 1}`}${phase === 'after' ? '-after' : ''}`;
      const chunks: UIMessageChunk[] = [];
      const note = (ended: string, error?: unknown): SentRequest => {
        const runId = chunks.find(({ type }) => type === 'data-run') as { readonly id?: string } | undefined;
        if (runId?.id !== undefined) principals.set(runId.id, principal);
        const facts = { key, runId: runId?.id, ended, chunks, text: lastText(chunks) };
        return requests[at] = error === undefined ? facts : { ...facts, error };
      };
      note('open');
      try {
        const stream = await runtime.run(request, principal, { signal, idempotencyKey: key });
        if (await readTo(chunks, stream, instance) === 'left') {
          note('left');
          leave();
          return await new Promise<never>(() => undefined);
        }
        return note(endOf(chunks));
      } catch (error) {
        const { code, details } = toData(error);
        return note(['refused', code, details?.['reason']].filter(Boolean).join(' '), error);
      }
    },
  };
  return { client, requests, principals, left };
}

/** Each read is a step. A fault that answers `left` makes the client disconnect. */
async function readTo(
  chunks: UIMessageChunk[],
  stream: ReadableStream<UIMessageChunk>,
  { call }: Instance,
): Promise<'left' | 'read'> {
  const reader = stream.getReader();
  for (;;) {
    if (await call('client.read', [], () => Promise.resolve('goes on')) === 'left') {
      await reader.cancel();
      return 'left';
    }
    const { done, value } = await reader.read();
    if (done) return 'read';
    chunks.push(value);
  }
}

function endOf(chunks: readonly UIMessageChunk[]): string {
  const last = chunks.findLast(({ type }) => type === 'data-run');
  if (!last || !('data' in last) || !isRecord(last.data)) return 'broken off';
  const { state, error } = last.data;
  const { code, details } = isRecord(error) ? error : {};
  return [state, code, isRecord(details) ? details['reason'] : undefined].filter(Boolean).join(' ');
}

function lastText(chunks: readonly UIMessageChunk[]): string {
  const start = chunks.findLastIndex(({ type }) => type === 'start-step');
  return chunks.slice(start + 1).map((chunk) => chunk.type === 'text-delta' ? chunk.delta : '').join('');
}

/** Which requests: those of the first instance, the same of a second one, or later ones of the first. */
export type Phase = 'first' | 'retry' | 'after';

/** A call of a tool that was executed. */
export interface ExecutedCall {
  readonly tool: string;
  /** As canonical JSON. */
  readonly input: string;
  readonly toolCallId: string;
  /** Whether it may change something: its definition has no `readOnlyHint`. */
  readonly acts: boolean;
  /** Whether it may be repeated: its definition has `idempotentHint`. */
  readonly isRepeatable: boolean;
  readonly phase: Phase;
}

/** A request and its answer, as the client of an instance has seen them. */
export interface SentRequest {
  readonly key: string;
  readonly runId: string | undefined;
  /**
   * `completed`, `awaiting_approval` and so on; `failed <code> <reason>`; `refused <code> <reason>` when there is no run; `left` when
   * the client disconnected; `open` when no end was seen.
   */
  readonly ended: string;
  readonly chunks: readonly UIMessageChunk[];
  /** The text of its last step. */
  readonly text: string;
  /** What the request was rejected with. */
  readonly error?: unknown;
}

export interface Observed {
  phase: Phase;
  readonly calls: ExecutedCall[];
  readonly events: ObservedEvent[];
  readonly prompts: string[];
  readonly secrets: Set<string>;
  readonly storages: Map<string, StorageCheck>;
  readonly streams: OpenStreams;
  watchers: number;
  connections: number;
}

export function createObserved(): Observed {
  const counts = { streams: { count: 0 }, watchers: 0, connections: 0 };
  return { phase: 'first', calls: [], events: [], prompts: [], secrets: new Set(), storages: new Map(), ...counts };
}
