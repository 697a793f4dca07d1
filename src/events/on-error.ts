/** The port to the host's error tracker: receives the causes that answers, events and logs do not contain. */

/** The part of the system that failed. */
export type ErrorKind =
  | 'model'
  | 'tool'
  | 'mcp'
  | 'hook'
  | 'storage'
  | 'catalog'
  | 'secret'
  | 'grounding'
  | 'sink'
  | 'audit'
  | 'plan'
  | 'run'
  | 'http';

/** Where a cause was thrown. A field is absent where it does not apply or is not known. */
export interface ErrorContext {
  /** The part that failed. */
  readonly kind: ErrorKind;
  /**
   * What failed: the id of the model, tool, MCP server, data source or provider; the name of the hook (`authorize`) or sink (its name
   * or index); the method of the storage, catalog or secret source (`commit`); the address of a plan's task; the method and path of a
   * request.
   */
  readonly id?: string;
  /** The run in which it failed. */
  readonly runId?: string;
  /** The plan in which it failed. */
  readonly planId?: string;
  /** The step of the run or of the plan's task, from 1. */
  readonly step?: number;
  /** The try of a model call or of a plan's task, from 1. */
  readonly attempt?: number;
  /** The trace of the run or the request. */
  readonly traceId?: string;
}

/**
 * Receives what was thrown, as it was thrown, once for each failure, also for failures that are retried.
 *
 * Called synchronously where the cause is caught, so it must return quickly; what it throws is ignored. A cause can contain secrets,
 * prompts and answers: store it only where those may be stored. A `PinnaceError` is reported only where it has a `cause` that its
 * caller does not see, is retried, or has no caller: a tool that an agent names and nothing knows (`unknown_tool`) is reported once.
 *
 * @example
 * const runtime = createRuntime({ ...options, onError: (cause, { kind, id, runId }) => tracker.capture(cause, { kind, id, runId }) });
 */
export type OnError = (cause: unknown, context: ErrorContext) => void;
