/** One scenario: an instance under faults, a second one that gets the same requests, and the first one again. */

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
import { createInstance, type Instance } from './instance.ts';
import { checkScenario } from './invariants.ts';
import type { LaunchContext, Plan } from './options.ts';
import type { ScenarioOutcome, StruckFault } from './report.ts';
import { wrapAny, wrapOptions } from './ports.ts';
import { createSchedule, type Schedule } from './schedule.ts';
import { type VirtualTime, virtualTime } from './virtual-time.ts';

/** What a scenario is run with. */
export interface ScenarioGiven<W> {
  readonly seed: number;
  readonly faults: readonly StruckFault[];
  readonly reference: ScenarioOutcome<W> | undefined;
}

/** What a scenario did, and what is wrong with it. */
export interface ScenarioResult<W> {
  readonly outcome: ScenarioOutcome<W>;
  readonly problems: readonly string[];
  /** The steps of the first instance until the second one started. */
  readonly steps: readonly string[];
  readonly struck: ReadonlySet<string>;
}

/** A composed instance. */
export interface Launched<R extends SimulatedRuntime> {
  readonly instance: Instance;
  /** Absent when a fault kept it from starting. */
  readonly runtime: R | undefined;
  /** Its storages by name, without faults. */
  readonly storages: ReadonlyMap<string, Storage>;
}

/** What the parts of a scenario share. */
export interface ScenarioParts<W, R extends SimulatedRuntime> {
  readonly plan: Plan<W, R>;
  readonly given: ScenarioGiven<W>;
  readonly time: VirtualTime;
  readonly observed: Observed;
  readonly world: W;
  readonly problems: string[];
}

/** Runs a scenario in virtual time. */
export async function runScenario<W, R extends SimulatedRuntime>(
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
  const first = await launch(parts, schedule);
  const requests = first.runtime ? await drive(parts, first, 'first') : noClient;
  schedule.endLasting();
  await time.pass(restMs);
  schedule.end();
  const steps = [...first.instance.steps];
  const second = await launch(parts);
  await checkUnknown(parts, second);
  const retried = await drive(parts, second, 'retry');
  const isKilled = first.instance.isDead();
  if (!isKilled) await time.pass(recoveryMs);
  const after = isKilled ? noClient : await drive(parts, first, 'after');
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
async function launch<W, R extends SimulatedRuntime>(
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
async function drive<W, R extends SimulatedRuntime>(
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
