/** A list of which only the visible rows are drawn. All lists with rows of one height use it. */

import { type ReadonlySignal, useComputed, useSignal } from '@preact/signals';
import type { ComponentChildren, JSX } from 'preact';
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';

/** The rows to draw, by rank. */
interface DrawnRows {
  /** The first visible row. */
  readonly first: number;
  /** How many rows fit, the one cut off at the end included. */
  readonly count: number;
  readonly from: number;
  /** The rank after the last drawn one. */
  readonly to: number;
  /** The most rows that are drawn at once. With `rank % pool` as its key, an element is used again for a row that scrolls in. */
  readonly pool: number;
}

/** What a list needs to draw its rows. */
interface Rows {
  readonly rowHeight: number;
  readonly drawn: ReadonlySignal<DrawnRows>;
  readonly scroller: {
    readonly ref: { current: HTMLDivElement | null };
    readonly style: { readonly '--row-height': string };
    readonly onScroll: () => void;
  };
  readonly height: ReadonlySignal<number>;
  /** The distance of the first drawn row from the top of the scrolled content, in pixels. */
  readonly top: ReadonlySignal<number>;
  /** Scrolls a row into view with the least movement. */
  readonly reveal: (rank: number) => void;
  /** Scrolls by rows. */
  readonly scrollBy: (rows: number) => void;
}

interface RowOptions {
  /** Pixels with a mouse, and with a finger. */
  readonly rowHeight?: { readonly fine: number; readonly coarse: number };
  /** Rows drawn above and below the visible ones. */
  readonly overscan?: number;
}

/** Returns the rows of a list of `count`. */
export function useRows(
  count: ReadonlySignal<number>,
  { rowHeight: heights = { fine: 28, coarse: 40 }, overscan = 8 }: RowOptions = {},
): Rows {
  const ref = useRef<HTMLDivElement>(null);
  const scrollTop = useSignal(0);
  const height = useSignal(0);
  const rowHeight = useMemo(() => matchMedia('(pointer: coarse)').matches ? heights.coarse : heights.fine, []);
  useLayoutEffect(() => watchHeight(ref.current, (now) => (height.value = now)), []);
  const viewport = useComputed((): Viewport => ({ rowCount: count.value, rowHeight, height: height.value }));
  const place = useComputed(() => placeOf(viewport.value, scrollTop.value));
  // Numbers that stay equal notify no reader: the rows render again when another one comes into view, not at each pixel.
  const inSight = useComputed(() => Math.ceil(height.value / rowHeight) + 1);
  const first = useComputed(() => Math.min(Math.floor(place.value / rowHeight), Math.max(0, count.value - 1)));
  const drawn = useComputed((): DrawnRows => {
    const from = Math.max(0, first.value - overscan);
    const to = Math.min(count.value, first.value + inSight.value + overscan);
    return { first: first.value, count: inSight.value, from, to, pool: inSight.value + 2 * overscan };
  });
  const spaceHeight = useComputed(() => scrollHeightOf(viewport.value));
  const top = useComputed(() => scrollTop.value - place.value + drawn.value.from * rowHeight);
  function scroll(next: (place: number, now: Viewport) => number): void {
    const element = ref.current;
    if (!element) return;
    const now = { ...viewport.peek(), height: element.clientHeight };
    const before = placeOf(now, element.scrollTop);
    const wanted = next(before, now);
    if (wanted !== before) element.scrollTop = scrollTopOf(now, wanted);
  }
  return {
    rowHeight,
    drawn,
    scroller: {
      ref,
      style: { '--row-height': `${rowHeight}px` },
      onScroll: () => void (scrollTop.value = ref.current?.scrollTop ?? 0),
    },
    height: spaceHeight,
    top,
    reveal: (rank) => scroll((before, now) => placeToSee(now, rank, before)),
    scrollBy: (rows) => scroll((before) => before + rows * rowHeight),
  };
}

/** The space of all rows, with the drawn ones at their place. */
export function RowSpace({ rows, children }: { rows: Rows; children: ComponentChildren }): JSX.Element {
  return (
    <div class='row-space' role='presentation' style={{ height: `${rows.height.value}px` }}>
      <div class='row-stack' role='presentation' style={{ transform: `translateY(${rows.top.value}px)` }}>
        {children}
      </div>
    </div>
  );
}

/** The ranks from `from` on, before `to`. */
export function ranksIn({ from, to }: { readonly from: number; readonly to: number }): readonly number[] {
  return Array.from({ length: Math.max(0, to - from) }, (_, i) => from + i);
}

/** The rank that a key leads to; `undefined` for any other key. */
export function rankAfter(
  key: string,
  { rank, count, page }: { readonly rank: number; readonly count: number; readonly page: number },
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
  return step === undefined || count === 0 ? undefined : Math.max(0, Math.min(count - 1, rank + step));
}

/** Reports the height of an element now and on each change. Returns a function that stops it. */
function watchHeight(
  element: HTMLElement | null,
  onHeight: (height: number) => void,
): (() => void) | undefined {
  if (!element) return undefined;
  onHeight(element.clientHeight);
  const observer = new ResizeObserver(() => onHeight(element.clientHeight));
  observer.observe(element);
  return () => observer.disconnect();
}

/** The list as it is scrolled; pixels. */
export interface Viewport {
  readonly rowCount: number;
  readonly rowHeight: number;
  readonly height: number;
}

const maxHeight = 12_000_000;

export function scrollHeightOf({ rowCount, rowHeight }: Viewport): number {
  return Math.min(maxHeight, rowCount * rowHeight);
}

/** The position in the full list that a scroll position represents. */
export function placeOf(viewport: Viewport, scrollTop: number): number {
  return scrollTop * scaleOf(viewport);
}

/** The scroll position for a place in the list. */
export function scrollTopOf(viewport: Viewport, place: number): number {
  const { rowCount, rowHeight, height } = viewport;
  const most = Math.max(0, rowCount * rowHeight - height);
  return Math.max(0, Math.min(most, place)) / scaleOf(viewport);
}

/** The place that brings a row into sight with the least movement from `place`. */
export function placeToSee({ rowHeight, height }: Viewport, rank: number, place: number): number {
  const [top, bottom] = [rank * rowHeight, (rank + 1) * rowHeight];
  if (top < place) return top < place - height ? top - height / 2 : top;
  if (bottom > place + height) return bottom > place + 2 * height ? top - height / 2 : bottom - height;
  return place;
}

function scaleOf(viewport: Viewport): number {
  const { rowCount, rowHeight, height } = viewport;
  const scrollable = scrollHeightOf(viewport) - height;
  return scrollable <= 0 ? 1 : (rowCount * rowHeight - height) / scrollable;
}
