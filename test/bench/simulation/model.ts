/** Isolates that share one database, as a discrete-event model: what runs wait for, and what the database must bear. */

import { quantile } from '../measure.ts';
import { createEventQueue, type EventQueue } from './event-queue.ts';

export interface RunCost {
  /** CPU from the request to the first byte, and from there to the end. */
  readonly startCpuMs: number;
  readonly streamCpuMs: number;
  /** Storage calls before the first byte that wait for each other: reads, then commits. */
  readonly startReads: number;
  readonly startCommits: number;
  /** Commits while it streams, one after the other. */
  readonly streamCommits: number;
  /** Of a commit, on average. */
  readonly changes: number;
  readonly bytes: number;
  /** How long the model speaks. */
  readonly answerMs: number;
}

/** A database, as published or measured. */
export interface Database {
  readonly readMs: number;
  readonly commitMs: number;
  /** What an operation takes of the database's own time, and each change in it. */
  readonly operationMs: number;
  readonly changeMs: number;
}

/** A deployment under load. */
export interface Scenario {
  readonly cost: RunCost;
  readonly database: Database;
  readonly isolates: number;
  readonly runsPerSecond: number;
  /** What is measured, after what is not. */
  readonly seconds: number;
  readonly warmUpSeconds: number;
  /** Whether an isolate sends what comes at once as one operation, as `denoKvStorage` does. */
  readonly grouped: boolean;
  readonly seed: number;
}

export interface Outcome {
  readonly started: number;
  /** Those that were streaming at the end have not ended. */
  readonly ended: number;
  /** Without the model's own time. */
  readonly firstByteMs: { readonly p50: number; readonly p99: number };
  readonly operationsPerSecond: number;
  readonly changesPerSecond: number;
  readonly bytesPerSecond: number;
  /** Shares of the time. The database's is above 1 where it falls behind. */
  readonly cpuUse: number;
  readonly databaseUse: number;
}

/** Limits of one atomic operation of Deno KV. */
const [maxChanges, maxBytes] = [1000, 819_200];
const operationsAtOnce = 2;

interface Commit {
  readonly done: () => void;
}

interface World {
  readonly scenario: Scenario;
  readonly queue: EventQueue;
  readonly random: () => number;
  readonly isolates: readonly Isolate[];
  readonly firstByteMs: number[];
  readonly sums: {
    started: number;
    ended: number;
    operations: number;
    changes: number;
    cpuMs: number;
    databaseMs: number;
  };
  databaseFree: number;
}

interface Isolate {
  cpuFree: number;
  underWay: number;
  waiting: Commit[];
}

/** Simulates a deployment for some time. The same scenario has the same outcome. */
export function simulate(scenario: Scenario): Outcome {
  const world = createWorld(scenario);
  const { queue, sums, firstByteMs } = world;
  const warmUpMs = scenario.warmUpSeconds * 1000;
  const endMs = scenario.seconds * 1000;
  arrive(world, warmUpMs + endMs);
  queue.runUntil(warmUpMs);
  forget(world);
  queue.runUntil(warmUpMs + endMs);
  return {
    started: sums.started,
    ended: sums.ended,
    firstByteMs: { p50: quantile(firstByteMs, 0.5), p99: quantile(firstByteMs, 0.99) },
    operationsPerSecond: sums.operations / scenario.seconds,
    changesPerSecond: sums.changes / scenario.seconds,
    bytesPerSecond: sums.changes / scenario.cost.changes * scenario.cost.bytes / scenario.seconds,
    cpuUse: sums.cpuMs / endMs / scenario.isolates,
    databaseUse: sums.databaseMs / endMs,
  };
}

function createWorld(scenario: Scenario): World {
  return {
    scenario,
    queue: createEventQueue(),
    random: randomFrom(scenario.seed),
    isolates: Array.from({ length: scenario.isolates }, () => ({ cpuFree: 0, underWay: 0, waiting: [] })),
    firstByteMs: [],
    sums: { started: 0, ended: 0, operations: 0, changes: 0, cpuMs: 0, databaseMs: 0 },
    databaseFree: 0,
  };
}

/** What came while it warmed up is not counted. */
function forget({ sums, firstByteMs }: World): void {
  firstByteMs.length = 0;
  Object.assign(sums, { started: 0, ended: 0, operations: 0, changes: 0, cpuMs: 0, databaseMs: 0 });
}

/** Runs come by themselves, each to any isolate (Poisson). */
function arrive(world: World, endMs: number): void {
  const { queue, random, scenario: { runsPerSecond } } = world;
  const next = queue.now() - Math.log(1 - random()) * 1000 / runsPerSecond;
  if (next > endMs) return;
  queue.at(next, () => {
    startRun(world);
    arrive(world, endMs);
  });
}

function startRun(world: World): void {
  const { queue, random, isolates, sums, firstByteMs, scenario: { cost, database } } = world;
  const isolate = isolates[Math.floor(random() * isolates.length)];
  if (isolate === undefined) return;
  const startedAt = queue.now();
  sums.started += 1;
  const commits = (left: number): void => {
    if (left > 0) return commit(world, isolate, () => commits(left - 1));
    firstByteMs.push(queue.now() - startedAt);
    stream(world, isolate, cost.streamCommits);
  };
  compute(world, isolate, cost.startCpuMs, () => {
    const readMs = Array.from({ length: cost.startReads }, () => spread(database.readMs, random)).reduce(
      (a, b) => a + b,
      0,
    );
    queue.at(queue.now() + readMs, () => commits(cost.startCommits));
  });
}

/** Alternates between computing and committing text until the end. Text reaches its reader after its commit. */
function stream(world: World, isolate: Isolate, left: number): void {
  const { queue, sums, scenario: { cost } } = world;
  if (left === 0) return void (sums.ended += 1);
  queue.at(queue.now() + cost.answerMs / cost.streamCommits, () => {
    compute(world, isolate, cost.streamCpuMs / cost.streamCommits, () => {
      commit(world, isolate, () => stream(world, isolate, left - 1));
    });
  });
}

/** An isolate does one thing at a time. */
function compute({ queue, sums }: World, isolate: Isolate, ms: number, then: () => void): void {
  isolate.cpuFree = Math.max(isolate.cpuFree, queue.now()) + ms;
  sums.cpuMs += ms;
  queue.at(isolate.cpuFree, then);
}

function commit(world: World, isolate: Isolate, done: () => void): void {
  isolate.waiting.push({ done });
  send(world, isolate);
}

function send(world: World, isolate: Isolate): void {
  const { scenario: { cost, database, grouped }, queue, random, sums } = world;
  if (isolate.waiting.length === 0 || (grouped && isolate.underWay >= operationsAtOnce)) return;
  const most = Math.max(1, Math.floor(Math.min(maxChanges / cost.changes, maxBytes / cost.bytes)));
  const group = isolate.waiting.splice(0, grouped ? most : 1);
  const changes = group.length * cost.changes;
  isolate.underWay += 1;
  queue.at(queue.now() + spread(database.readMs, random), () => {
    const serviceMs = database.operationMs + changes * database.changeMs;
    world.databaseFree = Math.max(world.databaseFree, queue.now()) + serviceMs;
    sums.operations += 1;
    sums.changes += changes;
    sums.databaseMs += serviceMs;
    queue.at(world.databaseFree + spread(database.commitMs, random), () => {
      isolate.underWay -= 1;
      for (const { done } of group) done();
      send(world, isolate);
    });
  });
}

/** Latencies have a tail: log-normal around the median, a hundredth takes 2.5 times as long or longer. */
function spread(medianMs: number, random: () => number): number {
  const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  return medianMs * Math.exp(0.4 * normal);
}

/** Mulberry32: the same numbers for the same seed. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
