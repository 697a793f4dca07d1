/** Where rows stand in a list that is too long to be laid out: browsers draw no element higher than some 16 million pixels. */

/** The list as it is scrolled; pixels. */
export interface Viewport {
  readonly rowCount: number;
  readonly rowHeight: number;
  /** Of what is in sight. */
  readonly height: number;
}

const maxHeight = 12_000_000;

/** The height of the scrolled element. */
export function scrollHeightOf({ rowCount, rowHeight }: Viewport): number {
  return Math.min(maxHeight, rowCount * rowHeight);
}

/** The place in the list, as if it were laid out in full, that a scroll position stands for. */
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
