/** Forks of runs as their callers see them. Types only. */

import type { ModelSettings } from '../../base/agent/model-settings.ts';
import type { PageOptions } from '../../base/page.ts';
import type { Agent } from '../../base/schema.ts';
import type { UIMessage, UIMessageChunk } from '../../contracts/ai-types.ts';
import type { RunRequest } from '../run-request.ts';

/** What a fork changes. */
export interface ForkChanges {
  /** Another model. Needs the scope `registry:write`. */
  readonly model?: { readonly providerId: string; readonly modelId?: string | undefined } | undefined;
  /** In place of the agent's. Needs the scope `registry:write`. */
  readonly modelSettings?: ModelSettings | undefined;
  /** In place of the agent's. Needs the scope `registry:write`. */
  readonly instructions?: string | undefined;
  /** The record of the agent: as it was when the run started (the default), or as it is now. */
  readonly agent?: 'recorded' | 'current' | undefined;
  /** A message of the user. At step 1 it replaces the last one of the request; later it goes before the step. */
  readonly message?: UIMessage | undefined;
  /** Outputs of calls before the step, by `toolCallId`. */
  readonly toolOutputs?: Readonly<Record<string, unknown>> | undefined;
}

/** How a run is forked. */
export interface ForkOptions {
  /**
   * The first step that is made again, from 1 to one more than the run has. Everything before it is shared. Absent: the run is
   * continued where its instance was lost.
   */
  readonly atStep?: number | undefined;
  readonly changes?: ForkChanges | undefined;
  /**
   * `dry` (the default): calls that may change something are answered from the run's record, others of them with `forbidden`
   * (`fork_dry`). `live`: they are made. A continued run is always `live`.
   */
  readonly effects?: 'dry' | 'live' | undefined;
  /** The chat of the fork; a new one when absent. A continued run stays in its chat. */
  readonly chatId?: string | undefined;
}

/** A fork in a listing. */
export interface ForkEntry {
  readonly runId: string;
  readonly chatId: string;
  readonly atStep: number;
  /** The names of what it changes. */
  readonly changed: readonly string[];
  readonly effects: 'dry' | 'live';
  /** Milliseconds since 1970. */
  readonly startedAt: number;
}

/** Which forks to list. */
export type ForkListOptions = PageOptions;

/** What a run was started from, and what it made of it. */
export interface RecordedRun {
  readonly request: RunRequest;
  readonly agent: Agent;
  readonly chunks: readonly UIMessageChunk[];
}

/** How the tools of a run answer from the chunks of recorded calls. */
export interface RecordedCalls {
  readonly calls: readonly UIMessageChunk[];
  /** Which tools do: all, those that may act, or none. */
  readonly effects: 'recorded' | 'reads' | 'live';
  readonly signal?: AbortSignal | undefined;
}
