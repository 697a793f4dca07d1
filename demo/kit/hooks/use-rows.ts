/** A list of which only the rows in sight are drawn. */

import { type ReadonlySignal, useComputed, useSignal } from '@preact/signals';
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { watchHeight } from './watch-height.ts';

/** What such a list needs to be drawn. */
export interface Rows {
  readonly scroller: { current: HTMLDivElement | null };
  readonly rowHeight: number;
  /** The places of the rows to draw, and how many there may be at once: a row's element serves another when it is far away. */
  readonly drawn: ReadonlySignal<{ readonly from: number; readonly to: number; readonly pool: number }>;
  /** How many fit. */
  readonly fitting: ReadonlySignal<number>;
  readonly onScroll: () => void;
  /** Brings a row into sight, with the least movement. */
  readonly toSight: (place: number) => void;
}

/** Rows drawn beyond what is in sight, on either side. */
const overscan = 8;

/** Returns the rows of a list of `count`. */
export function useRows(count: ReadonlySignal<number>): Rows {
  const scroller = useRef<HTMLDivElement>(null);
  const top = useSignal(0);
  const height = useSignal(0);
  const rowHeight = useMemo(rowHeightHere, []);
  useLayoutEffect(() => watchHeight(scroller.current, (now) => (height.value = now)), []);
  const fitting = useComputed(() => Math.max(1, Math.floor(height.value / rowHeight)));
  const drawn = useComputed(() => {
    const pool = Math.ceil(height.value / rowHeight) + 1 + 2 * overscan;
    const first = Math.min(Math.floor(top.value / rowHeight), Math.max(0, count.value - 1));
    const from = Math.max(0, first - overscan);
    return { from, to: Math.min(count.value, from + pool), pool };
  });
  return {
    scroller,
    rowHeight,
    drawn,
    fitting,
    onScroll: () => void (top.value = scroller.current?.scrollTop ?? 0),
    toSight(place) {
      const element = scroller.current;
      if (!element) return;
      const [above, below] = [place * rowHeight, (place + 1) * rowHeight - element.clientHeight];
      if (element.scrollTop > above) element.scrollTop = above;
      else if (element.scrollTop < below) element.scrollTop = below;
    },
  };
}

/** The places from `from` on, before `to`. */
export function placesIn({ from, to }: { readonly from: number; readonly to: number }): readonly number[] {
  return Array.from({ length: Math.max(0, to - from) }, (_, i) => from + i);
}

/** The place that a key leads to from this one; `undefined`: it means no movement. */
export function placeAfter(
  key: string,
  { at, count, page }: { readonly at: number; readonly count: number; readonly page: number },
): number | undefined {
  const steps: Readonly<Record<string, number>> = {
    ArrowDown: 1,
    ArrowUp: -1,
    PageDown: page,
    PageUp: -page,
    Home: -Infinity,
    End: Infinity,
  };
  const step = steps[key];
  return step === undefined || count === 0 ? undefined : Math.max(0, Math.min(count - 1, at + step));
}

/** Fingers want more room. */
function rowHeightHere(): number {
  return matchMedia('(pointer: coarse)').matches ? 40 : 28;
}
