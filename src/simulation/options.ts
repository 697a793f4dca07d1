/** What to simulate, and the checks of it. */

import { PinnaceError } from '../base/errors.ts';
import type { CreateRuntimeOptions } from '../create-runtime.ts';
import type { SimulatedClient, SimulatedRuntime } from './client.ts';
import type { Fault } from './faults.ts';
import type { Invariant, Progress } from './report.ts';

/** What outlives instances. */
export interface WorldContext {
  /** Milliseconds since 1970, in virtual time: for storages. */
  readonly now: () => number;
  readonly seed: number;
}

/** What an instance is composed with. */
export interface LaunchContext<W> extends WorldContext {
  readonly world: W;
  /**
   * Returns the options of `createRuntime` with faults at every port, the clock of this instance, and a sink that observes it. Steps
   * are named `storage.commit 4`, `catalog.agent 1`, `secrets.resolve 1`, `model.call 2`, `tool.<id> 1`, `tool.<id>.undo 1`, `mcp.callTool 1`,
   * `egress.fetch 1`, `authorize 1`, `sink 7`, and so on.
   */
  readonly ports: <O extends CreateRuntimeOptions>(options: O) => O;
  /**
   * Returns a port of your own with faults: what a tool calls, or what lies below an adapter. Its methods return promises. A port with
   * `get`, `list` and `commit` is also checked against the rules of `Storage`.
   */
  readonly port: <P extends object>(name: string, port: P) => P;
}

/** Options of {@link simulate}. */
export interface SimulateOptions<W, R extends SimulatedRuntime> {
  /** Seeds to run, or how many, from 1; 200 when absent. Each runs one scenario. */
  readonly seeds?: number | readonly number[];
  /** Creates what outlives an instance, for each scenario anew: storages and other servers. */
  readonly world?: (context: WorldContext) => W | Promise<W>;
  /** Composes an instance. Each scenario has two: the second one gets the requests of the first again. */
  readonly launch: (context: LaunchContext<W>) => R | Promise<R>;
  /**
   * Sends the requests of a client. Is called with the first instance, then with the second one, then with the first one again, so it
   * must accept what has already happened, as a decision that was made before. What it throws is a problem, unless it is a
   * `PinnaceError`, which a fault may cause.
   */
  readonly drive: (client: SimulatedClient<R>, world: W) => Promise<unknown>;
  /** Checks of your own, besides the built-in ones. */
  readonly invariants?: readonly Invariant<W>[];
  /** The faults to choose from; `portFaults` when absent. */
  readonly faults?: readonly Fault[];
  /** How many faults strike a scenario; 1 when absent. A scenario that fails is reported with as few of them as suffice. */
  readonly faultsAtOnce?: number;
  /** How long `drive` may take, in milliseconds of virtual time; 600,000 when absent. */
  readonly driveMs?: number;
  /** Stops after so many failures; 10 when absent. */
  readonly maxFailures?: number;
  /** Receives the progress. */
  readonly onProgress?: (progress: Progress) => void;
  /** Cancels between two scenarios: the simulation then rejects with the reason of the signal. */
  readonly signal?: AbortSignal;
}

export interface Plan<W, R extends SimulatedRuntime> extends Required<Omit<SimulateOptions<W, R>, 'seeds' | 'signal'>> {
  readonly seeds: readonly number[];
  readonly signal: AbortSignal | undefined;
}

export function checkOptions(given: {
  readonly seeds: readonly number[];
  readonly faults: readonly Fault[];
  readonly launch: unknown;
  readonly drive: unknown;
  readonly counts: Readonly<Record<string, number>>;
}): void {
  const { seeds, faults, launch, drive, counts } = given;
  if (typeof launch !== 'function') throw invalid('"launch" must be a function that composes a runtime');
  if (typeof drive !== 'function') throw invalid('"drive" must be a function that sends requests');
  for (const [name, count] of Object.entries(counts)) {
    if (!Number.isInteger(count) || count < 1) throw invalid(`"${name}" must be a whole number from 1, not ${count}`);
  }
  if (seeds.length === 0) throw invalid('"seeds" has no seed: pass a number of seeds from 1, or a list of them');
  const odd = seeds.find((seed) => !Number.isSafeInteger(seed));
  if (odd !== undefined) throw invalid(`"seeds" must be whole numbers, not ${odd}`);
  if (faults.length === 0) throw invalid('"faults" is empty: leave it out to use portFaults');
  const names = faults.map(({ name }) => name);
  const twice = names.find((name, at) => names.indexOf(name) < at);
  if (twice !== undefined) throw invalid(`two faults are named "${twice}"`);
  const sticky = faults.find(({ at }) => at.global || at.sticky);
  if (sticky) throw invalid(`"at" of the fault "${sticky.name}" must not have the flags g or y`);
}

export function invalid(why: string): PinnaceError {
  return new PinnaceError('invalid_argument', `Cannot simulate: ${why}`, { details: { reason: 'invalid_simulation' } });
}
