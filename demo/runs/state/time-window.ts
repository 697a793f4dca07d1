/** The part of a run's time that a waterfall shows. */

/** From and to, in milliseconds from the run's beginning. */
export interface TimeWindow {
  readonly from: number;
  readonly to: number;
}

/** The shortest time that is shown, in milliseconds. */
const shortest = 1;

/** Returns a window that is `factor` times as long, with what is at `at` (0 to 1) of it left where it is. */
export function zoomed(
  { from, to }: TimeWindow,
  { factor, at = 0.5, endMs }: { readonly factor: number; readonly at?: number; readonly endMs: number },
): TimeWindow {
  const length = Math.min(Math.max(shortest, endMs), Math.max(shortest, (to - from) * factor));
  return fitted({ from: from + (to - from - length) * at, length, endMs });
}

/** Returns a window that is moved by this part of its length. */
export function moved(
  { from, to }: TimeWindow,
  { by, endMs }: { readonly by: number; readonly endMs: number },
): TimeWindow {
  return fitted({ from: from + (to - from) * by, length: to - from, endMs });
}

/** Returns the window around a span, with some time before and after it. */
export function around(
  { startMs, endMs: spanEnd }: { readonly startMs: number; readonly endMs: number },
  { endMs }: { readonly endMs: number },
): TimeWindow {
  const length = Math.min(Math.max(shortest, endMs), Math.max(shortest, (spanEnd - startMs) * 1.2));
  return fitted({ from: (startMs + spanEnd - length) / 2, length, endMs });
}

/** A time's position in the window: 0 to 1 inside. */
export function placeIn({ from, to }: TimeWindow, ms: number): number {
  return (ms - from) / Math.max(shortest, to - from);
}

/** Round times inside the window, at most `most` of them. */
export function ticksIn({ from, to }: TimeWindow, most: number): readonly number[] {
  const least = Math.max(shortest, to - from) / Math.max(1, most);
  const power = 10 ** Math.floor(Math.log10(least));
  const step = [1, 2, 5, 10].map((times) => times * power).find((size) => size >= least) ?? 10 * power;
  const first = Math.ceil(from / step);
  const count = Math.max(0, Math.floor(to / step) - first + 1);
  return Array.from({ length: count }, (_, i) => (first + i) * step);
}

function fitted({ from, length, endMs }: { from: number; length: number; endMs: number }): TimeWindow {
  const start = Math.max(0, Math.min(from, Math.max(shortest, endMs) - length));
  return { from: start, to: start + length };
}
