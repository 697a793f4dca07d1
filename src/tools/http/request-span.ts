/** The span of a request through the egress. */

import { type SpanContext, within } from '../../events/span.ts';
import { toTraceparent } from '../../events/traceparent.ts';

/** What a request adds to its span and takes from it. */
export interface RequestTrace {
  /** For the way out: the request carries where in the trace it comes from. */
  readonly options: { readonly traceparent?: string };
  readonly note: (answer: Response) => void;
}

/** Sends a request within a span, where there is one. The span has only the origin: a path may hold anything. */
export function withinRequest<T>(
  spanContext: SpanContext | undefined,
  { origin, method }: { readonly origin: string; readonly method: string },
  send: (trace: RequestTrace) => Promise<T>,
): Promise<T> {
  const facts = { action: 'http.request', target: { type: 'origin', id: origin }, payload: { method } };
  return within(spanContext, facts, (span) =>
    send({
      options: span ? { traceparent: toTraceparent(span) } : {},
      note: ({ status }) => span?.note({ httpStatus: status }),
    }));
}
