/** What a tool is: a definition, a check of its input, and the work. */

import type { Issue } from '../base/parse.ts';
import type { Delegation } from './delegation.ts';
import type { Principal } from '../base/principal.ts';
import type { ToolDefinition } from '../base/schema.ts';
import type { Secret } from '../base/secret.ts';
import type { Span } from '../events/span.ts';
import type { RunScope } from './run-scope.ts';

export type { ToolOutcome } from '../contracts/tool-outcome.ts';

/** How much a line of a tool's log matters. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** How far a tool is with its work. */
export interface Progress {
  /** Grows from call to call. */
  readonly progress: number;
  /** What `progress` will be at the end, where that is known. */
  readonly total?: number;
  readonly message?: string;
}

/** Something that an output rests on, told so that answers can cite it and people can open it at the place. */
export interface CitedSource {
  readonly dataSourceId: string;
  /** Of the hit, in its data source. */
  readonly id: string;
  readonly title?: string;
  readonly uri: string;
  readonly path?: string;
  /** The first and the last, from 1. */
  readonly lines?: readonly [from: number, to: number];
  /** Of the source, when it was read. */
  readonly version: string;
  /** From 0 to 1. */
  readonly confidence: number;
  /** SHA-256 of the content, hexadecimal. */
  readonly contentHash: string;
}

/** What a tool gets besides its input. */
export interface ToolContext {
  /** Aborts when the call's time is up or the run ends. */
  readonly signal: AbortSignal;
  /** The secrets that the definition lists, by id. */
  readonly secrets: Readonly<Record<string, Secret>>;
  /** Tells the people who watch the run what the tool is doing; the model does not see it. */
  readonly log: (text: string, level?: LogLevel) => void;
  /**
   * Takes the run's secrets out of a text. What a tool gives loses them anyway; one that cuts a text short does it before the cut,
   * since nobody knows half a secret.
   */
  readonly redact: (text: string) => string;
  /** Tells how far the work is; absent where nobody asked. */
  readonly progress?: ((progress: Progress) => void) | undefined;
  /**
   * Tells the run what the output rests on, and gives the numbers by which the answer is to cite it: no two sources of a chat share
   * one. Absent where no run keeps count.
   */
  readonly cite?: ((sources: readonly CitedSource[]) => readonly number[]) | undefined;
  readonly toolCallId: string;
  /** For whom the tool works: state belongs to the tenant. */
  readonly principal: Principal;
  /** Keeps what the tool opens until the run ends; absent where a call stands for itself. */
  readonly scope?: RunScope | undefined;
  /**
   * The call as it is told of: what the tool does can be told of within, as `span.start({ action, target })`, and what it sends
   * elsewhere can carry `toTraceparent(span)`. Absent where nobody tells of the call.
   */
  readonly span?: Span | undefined;
  /** The call's place among agents that hand work on; absent where a tool is called by itself. */
  readonly delegation?: Delegation | undefined;
}

/** The result of checking an input: the input as the tool takes it, or what is wrong. */
export type InputCheck =
  | { readonly ok: true; readonly input: unknown }
  | { readonly ok: false; readonly issues: readonly Issue[] };

/** A tool that can be called. Make one with `defineTool`. */
export interface Tool {
  readonly definition: ToolDefinition;
  /** Never throws. */
  readonly check: (input: unknown) => InputCheck;
  /** What a person who must approve a call is told first, as the method and address of a request. */
  readonly describe?: () => string;
  /**
   * The origin that a call sends its secrets to; without it they are handed to `execute`, and so must be bound to `code`.
   */
  readonly secretOrigin?: string;
  /** Whether it can be used now: a step does not begin with one that cannot. Without it, always. */
  readonly isAvailable?: () => boolean;
  /** Gets an input that passed the check. A `PinnaceError` it throws is told to the model; any other error is not. */
  readonly execute: (input: unknown, context: ToolContext) => unknown;
}
