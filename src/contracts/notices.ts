/** Notices for receivers outside, as those see them in whose commits they are written. */

import type { Change } from './storage.ts';

/** What a receiver may be told of. */
export const noticeTypes = [
  'inbox.opened',
  'inbox.settled',
  'run.ended',
  'budget.warn',
  'budget.spent',
  'schedule.paused',
] as const;
export type NoticeType = typeof noticeTypes[number];

/** Something that happened, once: the same item and type is the same notice. */
export interface Notice {
  readonly type: NoticeType;
  readonly tenant: string;
  /** Names what happened: the id of a run, of a question, a schedule with its change. */
  readonly item: string;
  /** Milliseconds since 1970. Of a run its start: when it ends is not known when the change is made. */
  readonly at: number;
  /** What is sent; texts of persons and models only under `detail`. */
  readonly data: Readonly<Record<string, unknown>>;
}

/** Makes the notices of a composition. */
export interface NoticeMaker {
  /** The changes that announce it, for the commit of what happens. */
  changes(notice: Notice): readonly Change[];
  /** Sends what is committed by then: at once when absent. */
  send(at?: number): void;
}
