/** Positions of rows in a list that is too long to lay out: browsers draw no element higher than about 16 million pixels. */

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
