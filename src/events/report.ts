/** Reports causes to the host. Nothing of them is recorded here. */

import { BoundedMap } from '../base/bounded-map.ts';
import { PinnaceError } from '../base/errors.ts';
import type { ErrorContext, ErrorKind, OnError } from './on-error.ts';

export type { ErrorContext, ErrorKind, OnError } from './on-error.ts';

/** Reports the cause of an error, wherever it was caught. Never throws. */
export type Report = (error: unknown, context: ErrorContext) => void;

/** Reports to no one. */
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

/** Returns a report that adds these facts to the context. */
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
