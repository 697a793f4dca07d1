/** Times inside a run. */

import { formatDuration } from '../../kit/format.ts';

/** `0.4 ms`, `320 ms`, `4.25 s`: as fine as the number is. */
export function formatMoment(ms: number): string {
  const [value, unit] = Math.abs(ms) < 1000 ? [ms, 'ms'] : [ms / 1000, 's'];
  return `${Number(value.toPrecision(4))} ${unit}`;
}

/** How long a span took; what took no time that can be measured says so. */
export function formatLength({ startMs, endMs }: { readonly startMs: number; readonly endMs: number }): string {
  return formatDuration(endMs - startMs);
}
