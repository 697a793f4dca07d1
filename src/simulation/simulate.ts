/** Finds a contradiction of recovery, memory or order: scenarios run on virtual time with faults, and a failing one is made smaller. */

import { checkNames, optional } from '../base/check-options.ts';
import { PinnaceError } from '../base/errors.ts';
import type { Storage } from '../contracts/storage.ts';
import { createChance } from './chance.ts';
import {
  createClient,
  createObserved,
  type Observed,
  type ObservedClient,
  type Phase,
  type SimulatedRuntime,
} from './client.ts';
import { portFaults } from './faults.ts';
import { createInstance, type Instance } from './instance.ts';
import { checkScenario } from './invariants.ts';
import { checkOptions, invalid, type LaunchContext, type Plan, type SimulateOptions } from './options.ts';
import { wrapAny, wrapOptions } from './ports.ts';
import { preload } from './preload.ts';
import type { Failure, ScenarioOutcome, SimulationReport, StruckFault } from './report.ts';
import { chooseFaults, createSchedule, type Schedule, shrink } from './schedule.ts';
import { createTurns, type VirtualTime, virtualTime } from './virtual-time.ts';

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

const simulateOptions = optional(
  'seeds',
  'world',
  'launch',
  'drive',
  'invariants',
  'faults',
  'faultsAtOnce',
  'driveMs',
  'maxFailures',
  'onProgress',
  'signal',
);

function planOf<W, R extends SimulatedRuntime>(options: SimulateOptions<W, R>): Plan<W, R> {
  checkNames('simulate', options, simulateOptions);
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

interface ScenarioGiven<W> {
  readonly seed: number;
  readonly faults: readonly StruckFault[];
  readonly reference: ScenarioOutcome<W> | undefined;
}

interface ScenarioResult<W> {
  readonly outcome: ScenarioOutcome<W>;
  readonly problems: readonly string[];
  /** The steps of the first instance until the second one started. */
  readonly steps: readonly string[];
  readonly struck: ReadonlySet<string>;
}

interface Launched<R extends SimulatedRuntime> {
  readonly instance: Instance;
  /** Absent when a fault kept it from starting. */
  readonly runtime: R | undefined;
  /** Its storages by name, without faults. */
  readonly storages: ReadonlyMap<string, Storage>;
}

interface ScenarioParts<W, R extends SimulatedRuntime> {
  readonly plan: Plan<W, R>;
  readonly given: ScenarioGiven<W>;
  readonly time: VirtualTime;
  readonly observed: Observed;
  readonly world: W;
  readonly problems: string[];
}

/** Runs a scenario in virtual time. */
async function runScenario<W, R extends SimulatedRuntime>(
  plan: Plan<W, R>,
  given: ScenarioGiven<W>,
): Promise<ScenarioResult<W>> {
  const time = virtualTime({ seed: given.seed });
  try {
    const context = { now: time.now, seed: given.seed };
    const world = await settle(time, async () => await plan.world(context), 'world');
    return await runIn({ plan, given, time, observed: createObserved(), world, problems: [] });
  } finally {
    time.close();
  }
}

/** How long an instance may take to start, and to close. */
const startMs = 60_000;
const closeMs = 30_000;
/** What is left to do after the requests, as audits. */
const restMs = 5_000;
/** Until then an instance takes a silent one for lost, and caches have expired. */
const recoveryMs = 60_000;

async function runIn<W, R extends SimulatedRuntime>(parts: ScenarioParts<W, R>): Promise<ScenarioResult<W>> {
  const { plan, given, time, observed, world, problems } = parts;
  const schedule = createSchedule(given.faults, plan.faults);
  const first = await launchInstance(parts, schedule);
  const requests = first.runtime ? await driveClient(parts, first, 'first') : noClient;
  schedule.endLasting();
  await time.pass(restMs);
  schedule.end();
  const steps = [...first.instance.steps];
  const second = await launchInstance(parts);
  await checkUnknown(parts, second);
  const retried = await driveClient(parts, second, 'retry');
  const isKilled = first.instance.isDead();
  if (!isKilled) await time.pass(recoveryMs);
  const after = isKilled ? noClient : await driveClient(parts, first, 'after');
  const outcome: ScenarioOutcome<W> = {
    world,
    seed: given.seed,
    faults: given.faults,
    isKilled,
    isLasting: plan.faults.some(({ name, lasts }) => lasts && schedule.struck.has(name)),
    first: requests.requests,
    retry: retried.requests,
    after: after.requests,
    calls: observed.calls,
    events: observed.events,
    reference: given.reference,
  };
  const checked = { outcome, observed, invariants: plan.invariants, ...second, principals: retried.principals };
  problems.push(...await settle(time, () => checkScenario(checked), 'the checks'));
  await close(parts, isKilled ? [second] : [first, second]);
  if (!isKilled) problems.push(...leftOpen(parts));
  return { outcome, problems: [...new Set(problems)], steps, struck: schedule.struck };
}

/** The requests of an instance that did not start. */
const noClient = { requests: [], principals: new Map() };

/** Composes an instance. One that a fault keeps from starting counts as killed. */
async function launchInstance<W, R extends SimulatedRuntime>(
  { plan, given: { seed }, time, observed, world }: ScenarioParts<W, R>,
  schedule?: Schedule,
): Promise<Launched<R>> {
  const chance = createChance(seed);
  const instance = createInstance({ time, chance, schedule: (step) => schedule?.strikeAt(step) });
  const storages = new Map<string, Storage>();
  const parts = { time, instance, observed, storages };
  const context: LaunchContext<W> = {
    now: instance.now,
    seed,
    world,
    ports: (options) => wrapOptions(options, parts),
    port: (name, port) => wrapAny(name, port, parts),
  };
  const started = settle(time, async () => await plan.launch(context), 'launch', instance.killed);
  const runtime = await started.catch((error: unknown) => {
    if (!schedule || schedule.struck.size === 0) throw error;
    instance.kill();
    return undefined;
  });
  return { instance, runtime, storages };
}

/** Sends the requests of a client, until they are answered, the client has left or the instance is dead. */
async function driveClient<W, R extends SimulatedRuntime>(
  { plan, given, time, observed, world, problems }: ScenarioParts<W, R>,
  { instance, runtime }: Launched<R>,
  phase: Phase,
): Promise<Pick<ObservedClient<R>, 'requests' | 'principals'>> {
  observed.phase = phase;
  if (!runtime) return noClient;
  const { client, requests, principals, left } = createClient(runtime, { phase, instance });
  let failure: unknown;
  const driven = (async () => await plan.drive(client, world))().catch((error: unknown) => void (failure = error));
  const isOver = await time.passUntil(Promise.race([driven, left, instance.killed]), plan.driveMs);
  if (!isOver) problems.push(`"drive" does not end within ${plan.driveMs} ms of virtual time`);
  const isExpected = failure instanceof PinnaceError && given.faults.length > 0 && phase === 'first';
  if (failure !== undefined && !isExpected) problems.push(`"drive" throws ${shownError(failure)}`);
  return { requests: [...requests], principals };
}

function shownError(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message.split('\n', 1)[0]}` : String(error);
}

async function checkUnknown<W, R extends SimulatedRuntime>(
  { time, observed }: ScenarioParts<W, R>,
  { storages }: Launched<R>,
): Promise<void> {
  for (const [name, check] of observed.storages) {
    const storage = storages.get(name);
    if (storage) await settle(time, () => check.checkUnknown(storage), 'the check of the storage');
  }
}

async function close<W, R extends SimulatedRuntime>(
  { time, problems }: ScenarioParts<W, R>,
  instances: readonly Launched<R>[],
): Promise<void> {
  for (const { runtime } of instances) {
    if (runtime && !await time.passUntil(runtime.close(), closeMs)) problems.push('an instance cannot be closed');
  }
  await time.pass(1_000);
}

function leftOpen(
  { time, observed }: Pick<ScenarioParts<unknown, SimulatedRuntime>, 'time' | 'observed'>,
): readonly string[] {
  const { streams, watchers, connections } = observed;
  const left = { timers: time.timers, watchers, connections, 'model streams': streams.count };
  return Object.entries(left).flatMap(([name, count]) => count === 0 ? [] : [`${name} are left after closing`]);
}

/** Lets time pass until the work is done. @throws what it rejects with, and an error when it hangs or the instance is killed. */
async function settle<T>(
  time: VirtualTime,
  work: () => Promise<T>,
  what: string,
  killed: Promise<void> = new Promise(() => undefined),
): Promise<T> {
  const done = work();
  const dead = killed.then(() => Promise.reject(stopped(what, 'its instance was killed')));
  const isDone = await time.passUntil(Promise.race([done, dead]), startMs);
  if (!isDone) throw stopped(what, `it does not end within ${startMs} ms of virtual time`);
  return await Promise.race([done, dead]);
}

function stopped(what: string, why: string): PinnaceError {
  return new PinnaceError('deadline_exceeded', `Cannot simulate: ${what} was stopped, because ${why}`);
}
