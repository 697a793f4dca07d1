import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseTraceparent } from '../../../src/events/trace-ids.ts';
import vectors from '../../fixtures/vectors/traceparent-cases.json' with { type: 'json' };

/** Halves of surrogate pairs too. */
const anyCharacter = fc.nat({ max: 0xffff }).map((code) => String.fromCharCode(code));

describe('parseTraceparent', () => {
  it.each(vectors.cases.filter(({ valid }) => valid))('reads $header', ({ header, traceId, sampled }) => {
    expect(parseTraceparent(header)).toMatchObject({ traceId, sampled });
  });

  it.each(vectors.cases.filter(({ valid }) => !valid))('returns undefined for $header: $why', ({ header }) => {
    expect(parseTraceparent(header)).toBeUndefined();
  });

  it('names the span that the request came from', () => {
    const header = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    expect(parseTraceparent(header)?.parentSpanId).toBe('00f067aa0ba902b7');
  });

  it('never throws', () => {
    fc.assert(fc.property(fc.string({ unit: anyCharacter }), (header) => {
      expect(parseTraceparent(header)).toBeUndefined();
    }));
  });
});
