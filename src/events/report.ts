/** Reports causes to the host. Nothing of them is recorded here. */

import { BoundedMap } from '../base/bounded-map.ts';
import { PinnaceError } from '../base/errors.ts';

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
  | 'due'
  | 'run'
  | 'http';

/** Where a cause was thrown. A field is absent where it does not apply or is not known. */
export interface ErrorContext {
  /** The part that failed. */
  readonly kind: ErrorKind;
  /**
   * What failed: the id of the model, tool, MCP server, data source or provider; the name of the hook (`authorize`) or sink (its name
   * or index); the method of the storage, catalog or secret source (`commit`); the address of a plan's task; the method and path of a
   * request; the id of what was due, or `sweep`.
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

/** Reports the cause of an error, wherever it was caught. Never throws. */
export type Report = (error: unknown, context: ErrorContext) => void;

export const unreported: Report = () => undefined;

/**
 * Returns the function that reports to the host. An error that one part has reported is not reported again by the parts that it
 * passes through; the same part reports the same object again, because that is another failure.
 */
export function createReport(onError: OnError | undefined): Report {
  if (!onError) return unreported;
  const reported = new WeakMap<object, ErrorKind>();
  const texts = new BoundedMap<unknown, ErrorKind>(mostTexts);
  return (thrown, context) => {
    const chain = chainOf(thrown);
    const isKnown = chain.some((one) => {
      const kind = reported.get(one);
      return kind !== undefined && kind !== context.kind;
    });
    const cause = firstCause(thrown);
    // A thrown text has no identity: it is known by its value, inside an error or on its way to the caller.
    const by = isObject(cause) ? undefined : texts.get(cause);
    if (isKnown || (by && by !== context.kind && (chain.length > 0 || passing.has(context.kind)))) return;
    for (const one of chain) reported.set(one, context.kind);
    if (!isObject(cause)) texts.set(cause, context.kind);
    try {
      const result: unknown = onError(cause, context);
      // An async function is accepted: its rejection must not become an unhandled one.
      if (result !== undefined) void Promise.resolve(result).catch(() => undefined);
    } catch {
      // What fails while it reports has nowhere to be reported.
    }
  };
}

/** The most thrown texts that are remembered. */
const mostTexts = 100;
/** Parts that throw no texts of their own, so that a text reaches them from another part. */
const passing: ReadonlySet<ErrorKind> = new Set(['run', 'plan', 'http']);

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

export function reportAt(report: Report, facts: Omit<ErrorContext, 'kind'>): Report {
  if (report === unreported) return unreported;
  return (error, context) => report(error, { ...facts, ...context });
}

/** Reports the error if its caller does not see all of it: a `PinnaceError` without a cause says everything itself. */
export function reportHidden(report: Report, error: unknown, context: ErrorContext): void {
  if (hidesCause(error)) report(error, context);
}

/** Whether the caller of an error sees less of it than was thrown. */
export function hidesCause(error: unknown): boolean {
  return !(error instanceof PinnaceError) || error.cause !== undefined;
}

/** What was thrown first: the innermost cause of a `PinnaceError`, or the error itself. */
function firstCause(error: unknown): unknown {
  return error instanceof PinnaceError && error.cause !== undefined ? firstCause(error.cause) : error;
}

/** The error and the causes below it, as far as they are objects. */
function chainOf(error: unknown): readonly object[] {
  const chain: object[] = [];
  for (let one = error; isObject(one) && !chain.includes(one);) {
    chain.push(one);
    one = 'cause' in one ? one.cause : undefined;
  }
  return chain;
}

/** Returns the port. What its methods throw or reject with is reported, and passed on. */
export function reportedPort<Port extends object>(
  port: Port,
  report: Report,
  { kind, isRetried = false }: {
    readonly kind: ErrorKind;
    /** Whether callers repeat calls, so that an error which says everything itself is hidden as well. */
    readonly isRetried?: boolean;
  },
): Port {
  if (report === unreported) return port;
  const send = isRetried ? report : (...given: Parameters<Report>): void => reportHidden(report, ...given);
  const methods = new Map<PropertyKey, unknown>();
  const wrap = (method: (...args: unknown[]) => unknown, id: string) => (...args: unknown[]): unknown => {
    const result = observed(() => method.apply(port, args), (error) => send(error, { kind, id }));
    // A catalog of one tenant is a port as well.
    return id === 'forTenant' && typeof result === 'object' && result !== null
      ? reportedPort(result, report, { kind })
      : result;
  };
  // Over an empty object: a proxy over a frozen port would have to return its own methods.
  return new Proxy({} as Port, {
    has: (_, name) => name in port,
    get(_, name) {
      const value: unknown = Reflect.get(port, name, port);
      if (typeof value !== 'function' || typeof name === 'symbol') return value;
      const known = methods.get(name) ?? wrap(value as (...args: unknown[]) => unknown, name); // any function can be called so
      methods.set(name, known);
      return known;
    },
  });
}

/** Returns the hook. What it throws or rejects with is reported as of this name, and passed on. */
export function reportedHook<Args extends unknown[], Result>(
  hook: (...args: Args) => Result,
  report: Report,
  id: string,
): (...args: Args) => Result {
  if (report === unreported) return hook;
  return (...args) => observed(() => hook(...args), (error) => report(error, { kind: 'hook', id }));
}

/** Does the work; returns its result, or throws and rejects as it does. */
function observed<Result>(work: () => Result, onFailure: (error: unknown) => void): Result {
  try {
    const result = work();
    if (result instanceof Promise) result.catch(onFailure);
    return result;
  } catch (error) {
    onFailure(error);
    throw error;
  }
}
