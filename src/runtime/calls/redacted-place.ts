/** A place in somebody else's trace, where nothing is told that a run may not say: whoever opened it knows no secrets of the run. */

import type { Payload, Span, SpanContext } from '../../events/span.ts';
import type { RunRedaction } from './run-redaction.ts';

type Redaction = Pick<RunRedaction, 'data'>;

/** Gives the place; what begins there is redacted, and so is all within it. */
export function redactedPlace(place: SpanContext, redaction: Redaction): SpanContext {
  return {
    traceId: place.traceId,
    start: (inner) => redactedSpan(place.start(redacted(inner, redaction)), redaction),
    emit: (told) => place.emit(redacted(told, redaction)),
  };
}

function redactedSpan(span: Span, redaction: Redaction): Span {
  return {
    ...redactedPlace(span, redaction),
    spanId: span.spanId,
    note: (payload) => span.note(redaction.data(payload)),
    end: (how) => span.end(redacted(how, redaction)),
  };
}

/** A payload that is asked for only where somebody listens stays so. */
function redacted<Facts extends { readonly payload?: Payload }>(facts: Facts, redaction: Redaction): Facts {
  const { payload, ...rest } = facts;
  const safe = redaction.data(rest);
  if (payload === undefined) return safe as Facts; // the rest is all there is
  const told: Payload = typeof payload === 'function' ? () => redaction.data(payload()) : redaction.data(payload);
  return { ...safe, payload: told } as Facts; // as it was given
}
