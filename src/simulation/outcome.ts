/** What a scenario did, for the checks of it. */

import type { ObservedEvent } from '../contracts/event-sink.ts';
import type { ExecutedCall, SentRequest } from './records.ts';

/** A fault and the step that it strikes. */
export interface StruckFault {
  readonly fault: string;
  readonly step: string;
}

/** What a scenario did. */
export interface ScenarioOutcome<W = unknown> {
  readonly world: W;
  readonly seed: number;
  /** None in the scenario without a fault. */
  readonly faults: readonly StruckFault[];
  /** Whether a fault has killed the first instance. */
  readonly isKilled: boolean;
  /** Whether a fault goes on until the first requests are over. */
  readonly isLasting: boolean;
  /** The requests of the first instance's client. */
  readonly first: readonly SentRequest[];
  /** The same requests at the second instance. */
  readonly retry: readonly SentRequest[];
  /** Further requests at the first instance, without a fault; none when it was killed. */
  readonly after: readonly SentRequest[];
  /** Every execution of a tool of `ports`, in their order. */
  readonly calls: readonly ExecutedCall[];
  readonly events: readonly ObservedEvent[];
  /** The scenario without a fault; absent for that one itself. */
  readonly reference: ScenarioOutcome<W> | undefined;
}

/**
 * Checks a scenario: returns what is wrong, or nothing. Called in virtual time, before the instances close. Texts without ids
 * let the report join equal failures.
 *
 * @example
 * const onePayment: Invariant<World> = ({ world }) => world.bank.payments.length > 1 ? 'paid twice' : undefined;
 */
export type Invariant<W = unknown> = (
  outcome: ScenarioOutcome<W>,
) => string | readonly string[] | undefined | Promise<string | readonly string[] | undefined>;
