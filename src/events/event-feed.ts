/** Events for a follower with a position of its own: first the stored ones behind it, then new ones as they come. */

import type { EventFilter } from './event-query.ts';
import type { ObservedEvent } from '../contracts/event-sink.ts';

/** Why events are missing: expired; numbered by another origin; dropped because the reader was too slow; never written. */
export type GapReason = 'expired' | 'unknown' | 'slow' | 'lost';

/** What a follower receives. `seq` is the position to continue from. */
export type Followed =
  /** Always first. */
  | { readonly type: 'ready'; readonly seq: number }
  | { readonly type: 'event'; readonly seq: number; readonly event: ObservedEvent }
  /** Events are missing before the next one: `dropped` of them, where that is known. */
  | { readonly type: 'gap'; readonly reason: GapReason; readonly dropped?: number }
  /** All stored events have been read. Sent once. */
  | { readonly type: 'live'; readonly seq: number };

/** Where to start, and which events to return. */
export interface FollowOptions {
  /** Behind this number, 0 for all that is stored; `elsewhere` for a number of another origin; from now on when absent. */
  readonly after?: number | 'elsewhere' | undefined;
  /** Which events to return; all when absent. */
  readonly filter?: EventFilter | undefined;
  /** Ends the feed. */
  readonly signal: AbortSignal;
}

/** Events in order. */
export interface EventFeed {
  /** Names who numbers the events: a number means nothing with another origin. */
  readonly origin: string;
  /** Returns the events until the signal aborts. Rejects when they cannot be read. */
  follow(options: FollowOptions): AsyncGenerator<Followed, void>;
}
