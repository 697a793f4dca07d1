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
