/** The log of a fork: its own opening, chunks that earlier runs have recorded, and its own chunks behind them. */

/** Items of one run's own log: those behind `after`, up to `to`. */
export interface Segment {
  readonly runId: string;
  readonly after: number;
  readonly to: number;
}

/** The run that a run was forked from, in the record of the fork. */
export interface ForkedFrom {
  readonly runId: string;
  readonly chatId: string;
  /** Whose run it was, where it is another's: an administrator has made the fork. */
  readonly subject?: string;
  /** The first step of the fork. */
  readonly step: number;
  /** How many forks are between it and a run that is none. */
  readonly depth: number;
  /** How many items of its own come first. */
  readonly opening: number;
  /** The items behind these, where they are stored. */
  readonly prefix: readonly Segment[];
}

/** Where the items behind a number are stored. */
export interface Place extends Segment {
  /** Added to the number of a stored item, it is the number in the fork. */
  readonly shift: number;
}

/** Returns where the item behind `after` is stored; `undefined` for the fork's own items behind its prefix. */
export function placeOf(runId: string, { opening, prefix }: ForkedFrom, after: number): Place | undefined {
  if (after < opening) return { runId, after, to: opening, shift: 0 };
  let start = opening;
  for (const segment of prefix) {
    const offset = after - start;
    const length = segment.to - segment.after;
    if (offset < length) return { ...segment, after: segment.after + offset, shift: start - segment.after };
    start += length;
  }
  return undefined;
}

/** Returns where the items of a run are stored, those behind `after` up to `to`. */
export function segmentsOf(
  runId: string,
  parent: ForkedFrom | undefined,
  { after, to }: { readonly after: number; readonly to: number },
): readonly Segment[] {
  const segments: Segment[] = [];
  for (let at = after; at < to;) {
    const place = (parent && placeOf(runId, parent, at)) ?? { runId, after: at, to, shift: 0 };
    const end = Math.min(place.to, to - place.shift);
    segments.push({ runId: place.runId, after: place.after, to: end });
    at = end + place.shift;
  }
  return segments;
}

/** How many items segments have. */
export function lengthOf(segments: readonly Segment[]): number {
  return segments.reduce((sum, { after, to }) => sum + to - after, 0);
}
