/** Forks of runs as their callers see them. Types only. */

import { ModelSettings } from '../base/model-settings.ts';
import type { PageOptions } from '../base/page.ts';
import type { Agent } from '../base/schema.ts';
import type { UIMessage, UIMessageChunk } from '../contracts/ai-types.ts';
import { checkSize, type RunRequest } from './run-request.ts';
import * as v from 'valibot';
import { PinnaceError } from '../base/errors.ts';
import { readData } from '../base/json.ts';
import { parse } from '../base/parse.ts';
import type { Limits } from './limits.ts';

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

const Id = v.pipe(v.string(), v.minLength(1), v.maxLength(256));

const Part = v.looseObject({ type: v.picklist(['text', 'file'], 'must be "text" or "file"') });

/** A message of the user: texts and files. */
const Message = v.looseObject({
  id: v.pipe(v.string(), v.minLength(1), v.maxLength(256)),
  role: v.literal('user', 'must be "user"'),
  parts: v.pipe(v.array(Part), v.minLength(1)),
});

const Changes = v.strictObject({
  model: v.optional(v.strictObject({ providerId: Id, modelId: v.optional(Id) })),
  modelSettings: v.optional(ModelSettings),
  instructions: v.optional(v.pipe(v.string(), v.maxLength(65_536))),
  agent: v.optional(v.picklist(['recorded', 'current'])),
  message: v.optional(Message),
  toolOutputs: v.optional(v.pipe(v.record(Id, v.unknown()), v.maxEntries(100))),
});

/** The schema of a request to fork a run. */
export const ForkRequest = v.strictObject({
  atStep: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1))),
  changes: v.optional(Changes),
  effects: v.optional(v.picklist(['dry', 'live'])),
  chatId: v.optional(Id),
});

/**
 * Parses a request to fork a run from anywhere.
 *
 * @throws PinnaceError `invalid_argument` that names what is wrong.
 */
export function parseForkRequest(data: unknown, limits: Limits): ForkOptions {
  const request = parse(ForkRequest, readData(data), { what: 'the request to fork the run' });
  const { message, toolOutputs = {} } = request.changes ?? {};
  if (message) checkSize([message as unknown as UIMessage], limits); // only lengths of its parts are read
  for (const output of Object.values(toolOutputs)) requireLength(output, limits);
  // Safe to pass on: the parts of the message are checked with those of the chat.
  return request as unknown as ForkOptions;
}

function requireLength(output: unknown, { toolOutputLength }: Limits): void {
  if ((JSON.stringify(output)?.length ?? 0) <= toolOutputLength) return;
  throw new PinnaceError('invalid_argument', `Cannot fork the run: an output is longer than ${toolOutputLength}`, {
    details: { reason: 'output_too_large', maxOutputLength: toolOutputLength },
  });
}

/** The names of what a request changes, sorted. */
export function changedFields({ changes = {} }: ForkOptions): readonly string[] {
  return Object.entries(changes)
    .flatMap(([name, value]) => value === undefined || (name === 'agent' && value === 'recorded') ? [] : [name])
    .toSorted();
}
