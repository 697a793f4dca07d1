/** Ids of traces and spans. */

import { hexOf } from '../base/hash.ts';

/** Creates a W3C trace id: 16 random bytes as hexadecimal digits. */
export function createTraceId(): string {
  return crypto.randomUUID().replaceAll('-', '');
}

/** Random digits for the next ids: one request per id would cost more than the rest of a span. */
let [digits, used] = ['', 0];

/** Creates a W3C span id: 8 random bytes as hexadecimal digits. */
export function createSpanId(): string {
  if (used === digits.length) [digits, used] = [hexOf(crypto.getRandomValues(new Uint8Array(1024))), 0];
  return digits.slice(used, used += 16);
}

/** The values of a `traceparent`. */
interface TraceParent {
  readonly traceId: string;
  /** The id of the span that the request came from. */
  readonly parentSpanId: string;
  readonly sampled: boolean;
}

/** Versions above 00 may append fields, each behind a dash. A comma means that two values were joined. */
const form =
  /^(?<version>[0-9a-f]{2})-(?<traceId>[0-9a-f]{32})-(?<spanId>[0-9a-f]{16})-(?<flags>[0-9a-f]{2})(?<rest>-[^,\s]*)?$/;

const longestHeader = 512;

/** Parses the header. Returns `undefined` for an invalid one: then a new trace starts, which is not an error. */
export function parseTraceparent(header: string | null | undefined): TraceParent | undefined {
  if (header === null || header === undefined || header.length > longestHeader) return undefined;
  const { version, traceId, spanId, flags, rest } = form.exec(header)?.groups ?? {};
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  if (version === 'ff' || (version === '00' && rest !== undefined)) return undefined;
  if (isZero(traceId) || isZero(spanId)) return undefined;
  return { traceId, parentSpanId: spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

function isZero(id: string): boolean {
  return /^0+$/.test(id);
}

/** Formats the header for requests that a span sends. */
export function toTraceparent({ traceId, spanId }: { readonly traceId: string; readonly spanId: string }): string {
  return `00-${traceId}-${spanId}-01`;
}
