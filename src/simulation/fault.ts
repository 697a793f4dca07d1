/** What a fault is. */

import type { Chance } from './chance.ts';

/** What happens in place of a call of a port. */
export type FaultStrike = (call: StruckCall) => unknown;

/**
 * Something that goes wrong at one call of a port.
 *
 * @example
 * const slowSearch: Fault = {
 *   name: 'search takes a minute',
 *   at: /^tool\.search /,
 *   strike: async ({ go }) => {
 *     await new Promise((resolve) => setTimeout(resolve, 60_000));
 *     return await go();
 *   },
 * };
 */
export interface Fault {
  /** Unique among the faults of a simulation. */
  readonly name: string;
  /** Matches the steps that it may strike, as `storage.commit 4`. */
  readonly at: RegExp;
  readonly strike: FaultStrike;
  /** It strikes every later step as well that `at` matches, until the requests of the first instance are over. */
  readonly lasts?: true;
}

/** A call that a fault strikes. */
export interface StruckCall {
  /** As `storage.commit 4`. */
  readonly step: string;
  readonly args: readonly unknown[];
  /** Calls the port, and returns its answer. */
  readonly go: () => Promise<unknown>;
  readonly chance: Chance;
  /** A text for errors and answers, which must come out nowhere. */
  readonly canary: string;
  readonly instance: StruckInstance;
}

/** The instance whose call is struck. */
export interface StruckInstance {
  /** Kills it: nothing that it does has any effect from now on. */
  readonly kill: () => void;
  /** Moves its clock, and no other. */
  readonly jump: (ms: number) => void;
  /** Aborts the requests of its client. */
  readonly stop: AbortController;
}

/** Decides at each step what happens in place of the call; `undefined`: the call itself. */
export type Scheduler = (step: string) => ((call: Pick<StruckCall, 'step' | 'args' | 'go'>) => unknown) | undefined;
