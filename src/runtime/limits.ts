/** The bounds of a run. An operator sets them, an agent and a request can only lower them. */

import { wrongArgument } from '../base/check-options.ts';
import type { LimitOverrides } from '../base/schema.ts';

/** Times in milliseconds, lengths in UTF-16 code units. */
export interface Limits {
  /** Model calls. */
  readonly steps: number;
  /** Calls of tools. */
  readonly toolCalls: number;
  /**
   * After how many calls with the same input and the same outcome the model is told to do something else. After twice as many the run
   * is stopped. Plans count steps that repeat themselves by it. `Infinity`: never.
   */
  readonly stallAfter: number;
  /** How often a model call is retried after a transient failure, before its first chunk. */
  readonly modelRetries: number;
  /** The whole run. */
  readonly totalMs: number;
  /** One model call with its tools. */
  readonly stepMs: number;
  /** From the request to the first output, including headers. It restarts with each retry and each keep-alive of the endpoint. */
  readonly firstChunkMs: number;
  /** Between two chunks of the model while it reasons, and between its texts and calls: models that hide their thoughts send nothing. */
  readonly reasoningMs: number;
  /** Between two chunks of a text or a tool input. */
  readonly chunkMs: number;
  /** One tool call. */
  readonly toolMs: number;
  /** Tool calls of one agent of one tenant, over all its runs; no limit when absent. */
  readonly callsPerMinute?: number;
  /** What one model call may say. */
  readonly outputTokens?: number;
  /** The characters of the output of one call, as JSON. A call with a longer one fails. */
  readonly toolOutputLength: number;
  /** Messages that the chat's newest compaction does not cover. */
  readonly messages: number;
  /** One part of a message, as JSON. */
  readonly partLength: number;
  /** The whole request, as JSON. */
  readonly requestLength: number;
  /** One file of a message or of a tool's output, in bytes; files do not count as parts. */
  readonly attachmentLength: number;
  /** All files of one message, in bytes; of the messages before it, a run loads twice as much. */
  readonly attachmentsLength: number;
  /** Retention of a stored file after its last use. */
  readonly attachmentRetentionMs: number;
  /** How long a run continues without a reader; `Infinity`: to its end. */
  readonly detachGraceMs: number;
  /**
   * Chunks within this time are committed together, and readers receive them then: the shorter, the smoother; the longer, the
   * fewer commits a storage must bear.
   */
  readonly commitSpacingMs: number;
  /**
   * How long a run outlasts a storage that is out of reach. After that the run is stopped and its readers end with `outcome_unknown`.
   * Another instance takes a run for lost 15 s later than this: give all instances of one storage the same.
   */
  readonly storageGraceMs: number;
  /** How often a run is continued by another instance after its own was lost; 0: never, it ends as `worker_lost`. */
  readonly recoveries: number;
  /** How long a person may take to approve a call. */
  readonly approvalMs: number;
  /** How long a run can be replayed after its end. */
  readonly retentionMs: number;
  /** How long what a run did can be taken back after its end, where that is longer than `retentionMs`: the log is kept until then. */
  readonly keepUndoMs: number;
  /** Messages of a stored chat. */
  readonly chatMessages: number;
  /** Retention of each message of a stored chat, and of the chat after its last run; `Infinity`: until it is deleted. */
  readonly chatRetentionMs: number;
}

/** The defaults. */
export const defaultLimits: Limits = {
  steps: 16,
  toolCalls: 64,
  stallAfter: 3,
  modelRetries: 2,
  totalMs: 300_000,
  stepMs: 240_000,
  firstChunkMs: 120_000,
  reasoningMs: 120_000,
  chunkMs: 60_000,
  toolMs: 30_000,
  toolOutputLength: 131_072,
  messages: 2_000,
  partLength: 65_536,
  requestLength: 16_777_216,
  attachmentLength: 5_242_880,
  attachmentsLength: 10_485_760,
  attachmentRetentionMs: 2_592_000_000,
  detachGraceMs: 30_000,
  commitSpacingMs: 50,
  storageGraceMs: 10_000,
  recoveries: 8,
  approvalMs: 86_400_000,
  retentionMs: 86_400_000,
  keepUndoMs: 0,
  chatMessages: 1_000,
  chatRetentionMs: 7_776_000_000,
};

/** Returns the limits of a runtime. @throws PinnaceError `invalid_argument` for a name that is no limit, and a value that is no number. */
export function limitsOf(given: Partial<Limits> = {}): Limits {
  const limits: Record<string, number> = { ...defaultLimits };
  const names = [...Object.keys(limits), 'callsPerMinute', 'outputTokens'];
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) continue;
    const isNumber = typeof value === 'number' && value >= 0; // NaN is not
    if (isNumber && names.includes(name)) limits[name] = value;
    else {
      const why = names.includes(name) ? 'must be a number, 0 or more' : `is no limit; there are ${names.join(', ')}`;
      throw wrongArgument('compose the runtime', `limits.${name}`, `"limits.${name}" ${why}`);
    }
  }
  const { retentionMs = 0, keepUndoMs = 0 } = limits;
  return { ...limits, retentionMs: Math.max(retentionMs, keepUndoMs) } as unknown as Limits; // safe: it has all of the defaults
}

/** Returns the limits, each lowered to the smallest of the overrides. */
export function minLimits(limits: Limits, ...overrides: readonly (LimitOverrides | undefined)[]): Limits {
  const narrowed: Record<string, number> = { ...limits };
  for (const override of overrides) {
    for (const [name, value] of Object.entries(override ?? {})) {
      if (value !== undefined) narrowed[name] = Math.min(narrowed[name] ?? Infinity, value);
    }
  }
  return narrowed as unknown as Limits; // safe: it has all that `limits` has, and overrides are of the same names
}
