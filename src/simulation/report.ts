/** What a simulation found. */

import type { ObservedEvent } from '../contracts/event-sink.ts';
import type { ExecutedCall, SentRequest } from './client.ts';

/** How far a simulation is. */
export interface Progress {
  readonly done: number;
  readonly total: number;
  readonly failures: number;
}

/** A scenario that went wrong. */
export interface Failure {
  /** Repeats it, with the same options: `simulate({ …, seeds: [seed] })`. 0: the scenario without a fault. */
  readonly seed: number;
  /** The faults that are needed for it. */
  readonly faults: readonly StruckFault[];
  /** How the requests of the first client ended. */
  readonly ended: readonly string[];
  readonly problems: readonly string[];
}

/** The report of a simulation. Equal for equal options, in every runtime. */
export interface SimulationReport {
  readonly v: 1;
  readonly ok: boolean;
  /** Scenarios that ran, without those that repeat a failure with fewer faults. */
  readonly scenarios: number;
  /** How many of them a fault has struck. */
  readonly struck: number;
  /** Calls of ports in the scenario without a fault. */
  readonly steps: number;
  /** How many different faults have struck. */
  readonly faults: number;
  readonly failures: readonly Failure[];
  /** Whether it stopped at `maxFailures`. */
  readonly isCutShort: boolean;
}

/** Returns the report as text. Failures with the same problems are joined. */
export function toText(report: SimulationReport): string {
  const { scenarios, struck, steps, faults, failures, isCutShort } = report;
  const facts = `${scenarios} scenarios, ${faults} kinds of faults at ${steps} steps, ${struck} struck`;
  if (failures.length === 0) return `Simulation passed: ${facts}.`;
  if (failures[0]?.seed === 0) {
    return `Simulation failed without any fault: repair this first.\n\n${groupText(failures)}`;
  }
  const groups = Map.groupBy(failures, ({ problems }) => problems.join('\n'));
  const cut = isCutShort ? ' Stopped early: raise "maxFailures" to see more.' : '';
  const title = `Simulation failed: ${failures.length} of ${scenarios} scenarios (${facts}).${cut}`;
  return [title, ...groups.values().map(groupText)].join('\n\n');
}

function groupText(group: readonly Failure[]): string {
  const [first] = group as [Failure]; // a group has a member
  const seeds = group.map(({ seed }) => seed);
  const repeat = `Repeat with seeds: [${first.seed}]${
    seeds.length > 1 ? `; also seeds ${seeds.slice(1).join(', ')}` : ''
  }`;
  return [
    ...first.problems.map((problem) => `- ${problem}`),
    ...first.faults.map(({ fault, step }) => `  fault: ${fault}, at ${step}`),
    `  requests ended: ${first.ended.join(', ') || 'none was sent'}`,
    ...(first.seed === 0 ? [] : [`  ${repeat}`]),
  ].join('\n');
}

/** @throws Error with the text of the report when it has a failure, for test runners. */
export function expectNoFailures(report: SimulationReport): void {
  if (!report.ok) throw new Error(toText(report));
}

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
