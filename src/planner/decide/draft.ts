/** A group of events in the making: each is applied at once, so that the next can be decided on; all are committed together. */

import { followUps, isEnd } from './follow-ups.ts';
import type { Refusal } from '../fold/folding.ts';
import type { Change } from '../../contracts/storage.ts';
import type { Outliner } from '../journal/outline.ts';
import type { AskFacts, NewEvent, PlanEvent } from '../model/plan-event.ts';
import { added, none, type PlanState } from '../model/plan-state.ts';
import { reduce } from '../fold/reduce.ts';

/** What decisions are made on and with. */
export interface Draft {
  readonly state: PlanState;
  /** The time of all events of the draft. */
  readonly at: number;
  readonly settings: DraftSettings;
  /** Applies the event, which it takes for its own, and what follows from it; a refused one is not recorded. */
  readonly add: (event: NewEvent) => Refusal | undefined;
}

/** What decisions need to know beside the state. */
export interface DraftSettings {
  readonly allowHuman: boolean;
  readonly maxDepth: number;
  readonly askMs: number;
  readonly stallAfter: number;
}

/** What a draft has come to. */
export interface DraftedEvents {
  readonly events: readonly PlanEvent[];
  /** The same as JSON texts. */
  readonly texts: readonly string[];
  /** The values that are stored out of line. */
  readonly changes: readonly Change[];
}

/** Writes one draft after another. */
export interface Drafter {
  /** All that is decided has this time. What throws half-way leaves what was applied before in the draft. */
  write(at: number, decide: (draft: Draft) => void): DraftedEvents;
  /** The same for a long decision that stops for others. Nothing else is written meanwhile. */
  writeInSlices(at: number, decide: (draft: Draft) => Promise<void>): Promise<DraftedEvents>;
}

/** The maximum number of out-of-line values of one draft: the number of changes in a commit is limited. */
const mostValues = 20;

/** Gives what writes drafts: one for all events of a plan, for there may be ten thousand. */
export function createDrafter(
  state: PlanState,
  { settings, outliner }: { readonly settings: DraftSettings; readonly outliner: Outliner },
): Drafter {
  let now = 0;
  let events: readonly PlanEvent[] = none;
  let texts: readonly string[] = none;
  let changes: readonly Change[] = noChanges;
  const draft: Draft = {
    state,
    settings,
    get at() {
      return now;
    },
    add(event) {
      const timed = event as unknown as { -readonly [K in keyof PlanEvent]: PlanEvent[K] }; // with its time, it is an event
      timed.at = now;
      const stored = changes.length < mostValues
        ? outliner.keep(timed as PlanEvent)
        : outliner.keepWhole(timed as PlanEvent);
      const refusal = reduce(state, stored.event);
      if (refusal !== undefined) return refusal;
      events = added(events, stored.event);
      texts = added(texts, stored.text);
      if (stored.changes.length > 0) changes = [...changes, ...stored.changes];
      if (isEnd(stored.event)) followUps(state, stored.event).forEach(draft.add);
      return undefined;
    },
  };
  const start = (at: number): void => {
    now = at;
    events = texts = none; // arrays are made for what is decided
    changes = noChanges;
  };
  return {
    write(at, decide) {
      start(at);
      decide(draft);
      return { events, texts, changes };
    },
    async writeInSlices(at, decide) {
      start(at);
      await decide(draft);
      return { events, texts, changes };
    },
  };
}

const noChanges: readonly Change[] = [];

/** The number of the next question of this plan. */
export function nextAskId({ created, askCount }: PlanState): AskFacts['ask'] {
  return `${created?.planId}.${askCount + 1}`;
}
