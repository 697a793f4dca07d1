/** Ports whose failures are reported before anything handles them. */

import { type ErrorKind, type Report, reportHidden, unreported } from './report.ts';

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
