/** Runs an app's own runtime under faults. */

import type { SimulatedRuntime } from './client.ts';
import { portFaults } from './faults.ts';
import { checkOptions, invalid, type Plan, type SimulateOptions } from './options.ts';
import type { Failure, ScenarioOutcome, SimulationReport, StruckFault } from './report.ts';
import { preload } from './preload.ts';
import { runScenario, type ScenarioResult } from './scenario.ts';
import { chooseFaults, shrink } from './schedule.ts';
import { createTurns } from './virtual-time.ts';

/**
 * Runs scenarios of an app in virtual time, each with a fault at some call of some port, and checks what no fault may change: each
 * request has one outcome; a side effect happens once or is `outcome_unknown`; every instance returns the same answer; a resumed
 * stream equals the log; no secret comes out; storages keep their rules; later requests succeed; nothing is left open. The same
 * options give the same report in Node, Deno and browsers. One simulation runs in a thread at a time.
 *
 * Rejects with `invalid_argument` for options that cannot be used, `conflict` while time is virtual already, and with the reason of
 * `signal`. What goes wrong in a scenario is in the report.
 *
 * @example
 * const report = await simulate({
 *   world: ({ now }) => ({ storage: memoryStorage({ now }) }),
 *   launch: ({ ports, world }) => createRuntime(ports({ catalog, models, tools, storage: world.storage })),
 *   drive: ({ send }) => send({ agentId: 'helper', chat: { id: 'c1', messages } }),
 * });
 * console.log(toText(report));
 */
export async function simulate<R extends SimulatedRuntime, W = undefined>(
  options: SimulateOptions<W, R>,
): Promise<SimulationReport> {
  const plan = planOf(options);
  await preload();
  const { reference, steps, problems } = await runReference(plan);
  if (problems.length > 0) {
    return reportOf([failureOf(reference, problems)], { plan, steps, scenarios: 0, struck: new Map() });
  }
  return await runSeeds(plan, { reference, steps });
}

interface Reference<W> {
  readonly reference: ScenarioOutcome<W>;
  readonly steps: readonly string[];
}

/** The first time, code that is loaded on demand takes real time: until two times are equal, they do not count. */
const mostTries = 20;

/** Runs the scenario without a fault. */
async function runReference<W, R extends SimulatedRuntime>(plan: Plan<W, R>) {
  let last: ScenarioResult<W> | undefined;
  for (let tries = 0; tries < mostTries; tries++) {
    const { signal } = plan;
    signal?.throwIfAborted();
    const result = await runScenario(plan, { seed: 0, faults: [], reference: undefined });
    const { outcome: reference, steps, problems } = result;
    if (last && textOf(last) === textOf(result)) return { reference, steps, problems };
    last = result;
    await realTurn(tries);
  }
  throw invalid(
    'without a fault the app does something else each time: does it use the network, files, workers or other timers?',
  );
}

function textOf({ steps, problems }: ScenarioResult<unknown>): string {
  return JSON.stringify([steps, problems]);
}

/** Lets other work of this thread happen, and code load. */
async function realTurn(tries = 0): Promise<void> {
  const turns = createTurns();
  await turns.next();
  turns.close();
  if (tries > 0) await new Promise((resolve) => setTimeout(resolve, 10 * tries));
}

async function runSeeds<W, R extends SimulatedRuntime>(
  plan: Plan<W, R>,
  { reference, steps }: Reference<W>,
): Promise<SimulationReport> {
  const failures: Failure[] = [];
  const struck = new Map<number, readonly string[]>();
  let done = 0;
  for (const seed of plan.seeds) {
    plan.signal?.throwIfAborted();
    const faults = chooseFaults(seed, { faults: plan.faults, steps, count: plan.faultsAtOnce });
    const result = await runScenario(plan, { seed, faults, reference });
    done += 1;
    if (result.struck.size > 0) struck.set(seed, [...result.struck]);
    if (result.problems.length > 0) failures.push(await smallest(plan, { seed, faults, reference, result }));
    plan.onProgress({ done, total: plan.seeds.length, failures: failures.length });
    if (failures.length >= plan.maxFailures) break;
    await realTurn();
  }
  return reportOf(failures, { plan, steps, scenarios: done, struck });
}

/** Returns the failure with as few of its faults as suffice. */
async function smallest<W, R extends SimulatedRuntime>(
  plan: Plan<W, R>,
  { seed, faults, reference, result }: {
    readonly seed: number;
    readonly faults: readonly StruckFault[];
    readonly reference: ScenarioOutcome<W>;
    readonly result: ScenarioResult<W>;
  },
): Promise<Failure> {
  let found = result;
  await shrink(faults, async (fewer) => {
    const tried = await runScenario(plan, { seed, faults: fewer, reference });
    if (tried.problems.length > 0) found = tried;
    return tried.problems.length > 0;
  });
  return failureOf(found.outcome, found.problems);
}

function failureOf({ seed, faults, first }: ScenarioOutcome, problems: readonly string[]): Failure {
  return { seed, faults, ended: first.map(({ ended }) => ended), problems };
}

function reportOf<W, R extends SimulatedRuntime>(
  failures: readonly Failure[],
  { plan, steps, scenarios, struck }: {
    readonly plan: Plan<W, R>;
    readonly steps: readonly string[];
    readonly scenarios: number;
    readonly struck: ReadonlyMap<number, readonly string[]>;
  },
): SimulationReport {
  return {
    v: 1,
    ok: failures.length === 0,
    scenarios,
    struck: struck.size,
    steps: steps.length,
    faults: new Set([...struck.values()].flat()).size,
    failures,
    isCutShort: scenarios > 0 && scenarios < plan.seeds.length,
  };
}

function planOf<W, R extends SimulatedRuntime>(options: SimulateOptions<W, R>): Plan<W, R> {
  const { seeds = 200, faults = portFaults, faultsAtOnce = 1, driveMs = 600_000, maxFailures = 10, launch, drive } =
    options;
  const counts = { faultsAtOnce, driveMs, maxFailures, ...(typeof seeds === 'number' && { seeds }) };
  const list = typeof seeds === 'number' ? Array.from({ length: seeds }, (_, at) => at + 1) : seeds;
  checkOptions({ seeds: list, faults, launch, drive, counts });
  return {
    seeds: list,
    world: options.world ?? (() => undefined as W), // without a world, W is undefined
    launch,
    drive,
    invariants: options.invariants ?? [],
    faults,
    faultsAtOnce,
    driveMs,
    maxFailures,
    onProgress: options.onProgress ?? (() => undefined),
    signal: options.signal,
  };
}
