/** What is remembered of the tour between visits. */

import * as v from 'valibot';
import type { Notes } from '../../storage/notes.ts';

export const stopCount = 9;

const TourNote = v.object({
  /** The stop that is open, from 0; as many as there are stops: the end. */
  at: v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(stopCount)),
  /** The chats of the stops, by the stop's id. */
  chats: v.record(v.string(), v.string()),
  /** The stops where the real thing has happened. */
  seen: v.array(v.string()),
  /** The chat in the middle of whose plan the visitor ended the worker. */
  pulled: v.optional(v.string()),
});
export type TourNote = v.InferOutput<typeof TourNote>;

/** Returns what is remembered; nothing before the first tour. */
export function readTour(notes: Notes): TourNote | undefined {
  return notes.read('tour', TourNote);
}

export function writeTour(notes: Notes, note: TourNote): void {
  notes.write('tour', note);
}
