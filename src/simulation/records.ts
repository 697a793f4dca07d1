/** What a simulation observes of all instances of one scenario. */

import type { ObservedEvent } from '../contracts/event-sink.ts';
import type { UIMessageChunk } from '../contracts/ai-types.ts';
import type { StorageCheck } from './storage/storage-check.ts';
import type { OpenStreams } from './streams.ts';

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

/** What is observed while a scenario runs. */
export interface Observed {
  phase: Phase;
  readonly calls: ExecutedCall[];
  readonly events: ObservedEvent[];
  /** The prompts that models were sent, as JSON. */
  readonly prompts: string[];
  /** The values of secrets that were resolved. */
  readonly secrets: Set<string>;
  readonly storages: Map<string, StorageCheck>;
  readonly streams: OpenStreams;
  watchers: number;
  connections: number;
}

/** Returns observations of nothing. */
export function createObserved(): Observed {
  const counts = { streams: { count: 0 }, watchers: 0, connections: 0 };
  return { phase: 'first', calls: [], events: [], prompts: [], secrets: new Set(), storages: new Map(), ...counts };
}
