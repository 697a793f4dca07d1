/**
 * What is lost while processes, clocks, connections and disks fail: two instances on one database, and clients that ask again by their
 * key. Each run has a tool with an effect, whose ledger is outside of the database. `CHAOS_ONLY` names the rows that are wanted.
 */

import { spawnSync } from 'node:child_process';
import { existsSync, globSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import postgres from 'postgres';
import { type DatabaseKind, databases, isInstalled, openDatabase } from '../../fixtures/processes/shared-database.ts';
import { runRequest, terminalChunks, userMessage } from '../../fixtures/runtime.ts';
import type { UIMessageChunk } from '../../../src/index.ts';
import { type EndpointProcess, startEndpoint } from '../../tools/servers/endpoint.ts';
import { report, type Row, skip } from '../measure.ts';

const runs = 60;
/** A client gives up after this. */
const patienceMs = 180_000;
const fakeTime = globSync('/usr/lib/*/faketime/libfaketime.so.1')[0];
const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Two instances, and what can be done to them. */
class World {
  readonly instances: EndpointProcess[] = [];
  /** Ends the connections that clients have. */
  cut = new AbortController();
  isOver = false;
  readonly folder: string;
  readonly #start: (at: number) => Promise<EndpointProcess>;
  readonly databaseSocket: string | undefined;

  constructor(
    folder: string,
    { start, socket }: {
      readonly start: (at: number) => Promise<EndpointProcess>;
      readonly socket: string | undefined;
    },
  ) {
    this.folder = folder;
    this.#start = start;
    this.databaseSocket = socket;
  }

  async start(at: number): Promise<void> {
    this.instances[at] = await this.#start(at);
  }

  /** Ends an instance, and starts it again. */
  async restart(at: number, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    await this.instances[at]?.stop(signal);
    await sleep(300);
    await this.start(at);
  }

  /** Does something again and again until all runs have ended. */
  async each(everyMs: number, work: (nth: number) => Promise<void>): Promise<void> {
    for (let nth = 0; !this.isOver; nth++) {
      await sleep(everyMs);
      if (!this.isOver) await work(nth);
    }
  }
}

interface Chaos {
  readonly spreadMs?: number;
  /** Of the second instance. */
  readonly env?: Readonly<Record<string, string>>;
  readonly only?: DatabaseKind;
  /** The size of the disk of the database. */
  readonly disk?: string;
  readonly what: (world: World) => Promise<void>;
}

const kills = (world: World): Promise<void> => world.each(3_000, (nth) => world.restart(nth % 2, 'SIGKILL'));

/** An instance whose clock is off, and kills. */
const clock = (by: string): Chaos => ({
  env: { LD_PRELOAD: fakeTime ?? '', FAKETIME: by, FAKETIME_DONT_FAKE_MONOTONIC: '1', FAKETIME_DONT_RESET: '1' },
  what: kills,
});

const chaoses: Readonly<Record<string, Chaos>> = {
  'kill -9 every 3 s, in turn': { what: kills },
  'SIGSTOP for 20 s, in turn': {
    spreadMs: 60_000,
    what: (world) =>
      world.each(2_000, async (nth) => {
        world.instances[nth % 2]?.signal('SIGSTOP');
        await sleep(20_000);
        world.instances[nth % 2]?.signal('SIGCONT');
      }),
  },
  'SIGTERM every 3 s, in turn': { what: (world) => world.each(3_000, (nth) => world.restart(nth % 2, 'SIGTERM')) },
  'connections of readers cut every 3 s': {
    what: (world) =>
      world.each(3_000, async () => {
        world.cut.abort();
        world.cut = new AbortController();
      }),
  },
  'connections of the database ended every 3 s': { only: 'PostgreSQL', what: endConnections },
  'clock 4 s ahead, with kills': clock('+4s'),
  'clock 20 s ahead, with kills': clock('+20s'),
  'clock 20 s behind, with kills': clock('-20s'),
  'disk full for 6 s and 18 s': {
    disk: '120m',
    spreadMs: 45_000,
    async what(world) {
      for (const ms of [6_000, 18_000]) {
        await sleep(5_000);
        spawnSync('dd', ['if=/dev/zero', `of=${join(world.folder, 'filler')}`, 'bs=64k']);
        await sleep(ms);
        await rm(join(world.folder, 'filler'), { force: true });
      }
    },
  },
};

async function endConnections(world: World): Promise<void> {
  const sql = postgres({ path: world.databaseSocket ?? '', user: 'pinnace', database: 'postgres', max: 1 });
  await world.each(3_000, async () => {
    await sql`select pg_terminate_backend(pid) from pg_stat_activity
      where pid <> pg_backend_pid() and backend_type = 'client backend'`;
  });
  await sql.end();
}

async function call(
  { url, token }: EndpointProcess,
  path: string,
  init: Omit<RequestInit, 'headers'> & { readonly headers?: Record<string, string> } = {},
): Promise<Response> {
  const headers = { 'authorization': `Bearer ${token}`, 'content-type': 'application/json', ...init.headers };
  return await fetch(url + path, { ...init, headers });
}

/** What a client knows of its run. */
interface Asked {
  readonly name: string;
  readonly at: number;
  runId?: string | undefined;
  seen: string;
  /** What came later does not begin with what came before. */
  isBroken?: boolean;
  /** How often a stream was cut, or an instance not reached. */
  retries: number;
}

const isWhole = (text: string): boolean => text.endsWith('data: [DONE]\n\n');

/** Asks by the key of the run until its stream has come to its end. */
async function ask(world: Pick<World, 'instances' | 'cut'>, asked: Asked): Promise<void> {
  const until = performance.now() + patienceMs;
  while (performance.now() < until) {
    const instance = world.instances[(asked.at + asked.retries) % world.instances.length];
    const text = instance && await readRun(instance, asked, world.cut.signal);
    if (text !== undefined) {
      const [shorter, longer] = text.length < asked.seen.length ? [text, asked.seen] : [asked.seen, text];
      asked.isBroken ||= !longer.startsWith(shorter);
      asked.seen = longer;
      if (isWhole(text)) return;
    }
    asked.retries++;
    await sleep(300);
  }
}

/** Reads the run from its start for as long as it can; `undefined` where there is nothing to read. */
async function readRun(instance: EndpointProcess, asked: Asked, signal: AbortSignal): Promise<string | undefined> {
  const { name, runId } = asked;
  let text = '';
  try {
    const body = runRequest({ chat: { id: name, messages: [userMessage(`append ${name}, then say words 60`)] } });
    const response = runId !== undefined
      ? await call(instance, `/v1/runs/${runId}/stream`, { signal })
      : await call(instance, '/v1/runs', {
        method: 'POST',
        body: JSON.stringify(body),
        headers: { 'idempotency-key': `"the-key-of-the-run-${name}"` },
        signal,
      });
    asked.runId ??= /runs\/([\w-]+)/.exec(response.headers.get('location') ?? '')?.[1] ??
      response.headers.get('x-run-id') ?? undefined;
    if (!response.ok) {
      await response.body?.cancel();
      return undefined;
    }
    const decoder = new TextDecoder();
    for await (const bytes of response.body ?? []) text += decoder.decode(bytes, { stream: true });
  } catch {
    // It was cut, or not reached: what came until then is what the client has.
  }
  return text;
}

/** What is counted of one row: all that is no retry and no end that could not be recorded must be 0. */
interface Counts {
  completed: number;
  retries: number;
  lost: number;
  doubled: number;
  unreported: number;
  toldNotDone: number;
  toldTwice: number;
  prefixBroken: number;
  /** The client was told that the end could not be recorded, and to read the run later. */
  unrecorded: number;
  /** The log says something else than what the client was sent, not only more. */
  contradicted: number;
  readonly ends: Record<string, number>;
}

/** Holds what clients saw, what both instances replay and what was done against each other. */
async function judge(world: World, asked: readonly Asked[], effects: string): Promise<Counts> {
  const ends: Record<string, number> = {};
  const nothing = { completed: 0, retries: 0, unrecorded: 0, lost: 0, doubled: 0, unreported: 0 };
  const counts = { ...nothing, toldNotDone: 0, toldTwice: 0, prefixBroken: 0, contradicted: 0 };
  const replaysOf = new Map<Asked, readonly string[]>();
  for (const one of asked) {
    const replays = [0, 1].map(async (at) => {
      const again: Asked = { name: one.name, at, seen: '', retries: 0, runId: one.runId };
      await ask({ instances: world.instances.slice(at, at + 1), cut: new AbortController() }, again);
      return again.seen;
    });
    replaysOf.set(one, await Promise.all(replays));
  }
  const done = (await readFile(effects, 'utf8')).split('\n'); // a run may go on after its client was told to read it later
  for (const [one, replays] of replaysOf) {
    const text = replays[0] ?? '';
    const chunks = text.split('\n').filter((line) => line.startsWith('data: {'))
      .map((line) => JSON.parse(line.slice(6)) as UIMessageChunk);
    const [end] = terminalChunks(chunks);
    const acted = done.filter((line) => line === one.name).length;
    const outputs = chunks.flatMap((chunk) => chunk.type === 'tool-output-available' ? [chunk.toolCallId] : []);
    const told = new Set(outputs).size;
    const why = [...text.matchAll(/"(?:why|reason)":"(\w+)"/g)].at(-1)?.[1] ?? end?.type ?? 'none';
    if (end?.type !== 'finish') ends[why] = (ends[why] ?? 0) + 1;
    counts[end?.type === 'finish' ? 'completed' : 'lost']++;
    counts.retries += one.retries;
    if (acted > 1) counts.doubled++;
    if (acted > told && !text.includes('"outcome_unknown"')) counts.unreported++;
    if (told > acted) counts.toldNotDone++;
    if (outputs.length > told) counts.toldTwice++;
    if (one.isBroken) counts.prefixBroken++;
    const isOther = replays.some((replay) => !replay.startsWith(one.seen));
    if (isOther) counts[one.seen.includes('"run_unrecorded"') ? 'unrecorded' : 'contradicted']++;
  }
  return { ...counts, ends };
}

async function withDisk(folder: string, size: string | undefined): Promise<() => void> {
  if (size === undefined) return () => undefined;
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size},mode=777`, 'tmpfs', folder]);
  if (status !== 0) throw new Error('A disk of its own needs the rights of root');
  return () => void spawnSync('umount', ['-l', folder]);
}

async function measure(kind: DatabaseKind, { what, env = {}, spreadMs = 25_000, disk }: Chaos): Promise<Counts> {
  const folder = await mkdtemp(join(tmpdir(), 'pinnace-chaos-'));
  const unmount = await withDisk(folder, disk);
  const ledgers = await mkdtemp(join(tmpdir(), 'pinnace-chaos-ledger-'));
  const effects = join(ledgers, 'effects');
  await writeFile(effects, '');
  if (disk !== undefined) process.env['TMPDIR'] = folder; // where PostgreSQL gets its folder
  const database = await openDatabase(kind, folder);
  delete process.env['TMPDIR'];
  const world = new World(folder, {
    socket: database.env['CRASH_POSTGRES'],
    start: (at) =>
      startEndpoint({
        script: 'test/fixtures/processes/crash-server.ts',
        env: { ...database.env, CRASH_EFFECTS: effects, ...(at === 1 && env) },
        permissions: [...database.permissions, ...(kind === 'Deno KV' ? [`--allow-write=${ledgers}`] : [])],
        reaches: database.reaches,
      }),
  });
  await Promise.all([world.start(0), world.start(1)]);
  const chaos = what(world);
  const asked = Array.from({ length: runs }, (_, at): Asked => ({ name: `run-${at}`, at, seen: '', retries: 0 }));
  await Promise.all(asked.map(async (one, at) => {
    await sleep((at / runs) * spreadMs);
    await ask(world, one);
  }));
  world.isOver = true;
  await chaos;
  const counts = await judge(world, asked, effects);
  await Promise.all(world.instances.map((instance) => instance.stop('SIGKILL')));
  await database.stop();
  unmount();
  await Promise.all([folder, ledgers].map((path) => rm(path, { recursive: true, force: true })));
  return counts;
}

function toRow(figure: string, { completed, retries, unrecorded, ends, ...faults }: Counts): Row {
  const shown = Object.entries(faults).map(([name, count]) => `${name} ${count}`).join(', ');
  return {
    figure,
    value: `${completed} of ${runs} completed, ${shown}${
      Object.keys(ends).length > 0 ? ` ${JSON.stringify(ends)}` : ''
    }`,
    peer: `${retries} retries, ${unrecorded} ends that could not be recorded`,
    met: Object.values(faults).every((count) => count === 0),
  };
}

const wanted = process.env['CHAOS_ONLY'];
for (const kind of databases) {
  if (!isInstalled(kind)) {
    skip(`${kind} is not installed`);
    continue;
  }
  const rows: Row[] = [];
  for (const [name, chaos] of Object.entries(chaoses)) {
    if (chaos.only !== undefined && chaos.only !== kind) continue;
    if (wanted !== undefined && !`${kind}: ${name}`.includes(wanted)) continue;
    if (chaos.env && !existsSync(fakeTime ?? '')) {
      skip(`${name}: apt-get install faketime`);
      continue;
    }
    if (chaos.disk !== undefined && process.getuid?.() !== 0) {
      skip(`${name}: needs the rights of root`);
      continue;
    }
    const row = toRow(name, await measure(kind, chaos));
    console.log(kind, row);
    rows.push(row);
  }
  report(`Chaos over ${kind}: ${runs} runs, each with an effect, at two instances`, rows);
}
