import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ConnectPostgres, notePooler, openClient } from '../../../adapters/storage/postgres-client.ts';
import { postgresStorage } from '../../../adapters/storage/postgres.ts';
import type { Change } from '../../../src/contracts/index.ts';
import { type HostedRuntime, localPrincipal, PinnaceError } from '../../../src/index.ts';
import { createTestClock, watchableStorageContract } from '../../contracts/storage.ts';
import { share } from '../../fixtures/budget.ts';
import { says, scriptedModel, streamOf } from '../../fixtures/model.ts';
import { runRequest, testRuntime } from '../../fixtures/runtime.ts';
import { hasPooler, type Pooler, startPooler } from '../../tools/servers/pooler-server.ts';
import {
  type Ending,
  endings,
  postgresPrograms,
  type PostgresServer,
  startPostgres,
} from '../../tools/servers/postgres-server.ts';

const me = localPrincipal();
const words = Array.from({ length: 20 }, (_, at) => `word-${at} `);
/** After how many words the server ends. */
const breaks = share(words.map((_, at) => at), 10);
let server: PostgresServer;
let tables = 0;

/** Two instances with a database of their own; the model says a word whenever it is let. */
function twoInstances() {
  const table = `t${tables++}`;
  const gates = words.map(() => Promise.withResolvers<void>());
  let said = 0;
  const model = scriptedModel(() =>
    streamOf(says(...words)).pipeThrough(
      new TransformStream({
        async transform(part, controller) {
          if (part.type === 'text-delta') await gates[said++]?.promise;
          controller.enqueue(part);
        },
      }),
    )
  );
  const storages = [0, 1].map(() => postgresStorage({ connect: server.connect, table }));
  const [here, there] = storages.map((storage) => testRuntime({ ...model, storage }));
  if (!here || !there) throw new Error('No instances');
  return { here, there, storages, let: (at: number) => gates[at]?.resolve() };
}

/** Reads a run as a client does that comes back with the last event it has when its stream breaks. */
async function readWhole(runtime: HostedRuntime, runId: string, onEvent: (text: string) => void): Promise<string[]> {
  const texts: string[] = [];
  const cursor = await runtime.runs.cursor(me, runId, 0);
  for (let events = await cursor.next(); events; events = await cursor.next()) {
    for (const { text } of events) {
      texts.push(text);
      onEvent(text);
    }
  }
  cursor.close();
  return texts;
}

/** An instance that forgives an outage of 200 ms; its model says "Hello", and ends when it is let. */
function oneInstance(options: { readonly onEndCommitted?: () => Promise<unknown>; readonly graceMs?: number } = {}) {
  const { onEndCommitted, graceMs = 200 } = options;
  const inner = postgresStorage({ connect: server.connect, table: `t${tables++}` });
  const gate = Promise.withResolvers<void>();
  const model = scriptedModel(() =>
    streamOf(says('Hel', 'lo')).pipeThrough(
      new TransformStream({
        async transform(part, controller) {
          if (part.type === 'text-end') await gate.promise;
          controller.enqueue(part);
        },
      }),
    )
  );
  const commit = async (changes: readonly Change[]) => {
    const result = await inner.commit(changes);
    if (!onEndCommitted || !JSON.stringify(changes).includes('"state":"completed"')) return result;
    await onEndCommitted();
    throw new PinnaceError('unavailable', 'The answer was lost', { details: { reason: 'storage_blocked' } });
  };
  const runtime = testRuntime({ ...model, storage: { ...inner, commit }, limits: { storageGraceMs: graceMs } });
  const close = async () => {
    await runtime.close();
    await inner.close();
  };
  return { runtime, letEnd: gate.resolve, close };
}

async function readUntilItsEnd(runtime: HostedRuntime) {
  const { runId, ended } = await runtime.start(runRequest(), me, {});
  const reached = Promise.withResolvers<void>();
  const reader = readWhole(runtime, runId, (text) => text.includes('lo') && reached.resolve());
  await reached.promise;
  return { runId, ended, reader };
}

/** The state that the log has, as soon as the storage answers. */
async function stateOf(runtime: HostedRuntime, runId: string): Promise<string | undefined> {
  let state: string | undefined;
  const read = () => runtime.runs.status(me, runId).then((status) => state = status.state, () => undefined);
  await expect.poll(read).toBeDefined();
  return state;
}

describe.skipIf(postgresPrograms === undefined).each(endings)('a run whose PostgreSQL ends by %s', (how: Ending) => {
  beforeAll(async () => void (server = await startPostgres()));
  afterAll(() => server.stop());

  it.each(breaks)(
    'after %i words, and is started again, ends as its log says, with the same bytes for eight readers',
    async (at) => {
      const { here, there, storages, let: allow } = twoInstances();
      const { runId, ended } = await here.start(runRequest(), me, {});
      const reached = Promise.withResolvers<void>();
      const watch = (text: string) => {
        if (at === 0 ? text.includes('data-manifest') : text.includes(`word-${at - 1} `)) reached.resolve();
      };
      const readers = Array.from({ length: 8 }, (_, i) => readWhole(i % 2 === 0 ? here : there, runId, watch));
      for (let word = 0; word < at; word++) allow(word);
      await reached.promise;
      const restarted = server.restart(how);
      for (let word = at; word < words.length; word++) allow(word);
      await restarted;
      const seen = await Promise.all(readers);
      await ended;
      const log = await readWhole(there, runId, () => undefined);
      for (const texts of seen) expect(texts).toEqual(log);
      expect(await there.runs.status(me, runId)).toMatchObject({ state: 'completed', lastSeq: log.length });
      expect(log.at(-1)).toContain('"type":"finish"');
      expect(log.join('')).toContain('word-19 ');
      await Promise.all([here.close(), there.close()]);
      await Promise.all(storages.map((storage) => storage.close()));
    },
  );

  it('ends its readers with outcome_unknown when the storage stays away, and goes on when that is back', async () => {
    const { runtime, letEnd, close } = oneInstance();
    const { runId, ended, reader } = await readUntilItsEnd(runtime);
    await server.kill(how); // before the end is said: its commit cannot arrive
    letEnd();
    const texts = await reader;
    expect(texts.at(-1)).toContain('"errorText":"outcome_unknown: ');
    expect(texts.join('')).not.toContain('"finish"');
    await ended;
    await server.start();
    const seen = texts.slice(0, -3); // without the end that the log does not have
    const log = await readWhole(runtime, runId, () => undefined);
    expect(log.slice(0, seen.length)).toEqual(seen);
    expect(log.at(-1)).toContain('"type":"finish"');
    await close();
  });

  it('ends its readers with outcome_unknown when its end is in the log, its answer is lost and the storage stays away', async () => {
    const { runtime, letEnd, close } = oneInstance({ onEndCommitted: () => server.kill(how) });
    const { runId, ended, reader } = await readUntilItsEnd(runtime);
    letEnd();
    const texts = await reader;
    expect(texts.at(-1)).toContain('"errorText":"outcome_unknown: ');
    expect(texts.join('')).not.toContain('"finish"');
    await ended;
    await server.start();
    expect(await stateOf(runtime, runId)).toBe('completed');
    const log = await readWhole(runtime, runId, () => undefined);
    expect(log.at(-1)).toContain('"type":"finish"');
    await close();
  });

  it('ends as completed when its end is in the log, its answer is lost and the storage comes back', async () => {
    const { runtime, letEnd, close } = oneInstance({ onEndCommitted: () => server.restart(how), graceMs: 10_000 });
    const { runId, ended, reader } = await readUntilItsEnd(runtime);
    letEnd();
    const texts = await reader;
    await ended;
    expect(texts.at(-1)).toContain('"type":"finish"');
    expect(await readWhole(runtime, runId, () => undefined)).toEqual(texts);
    await close();
  });
});

let poolers: Readonly<Record<'transaction' | 'session', Pooler>>;

/** What became of many calls at once, each of which reads what it has written. */
async function outcomesOf(connect: ConnectPostgres, calls: number): Promise<string[]> {
  const storage = postgresStorage({ connect, table: `p${tables++}` });
  const outcomes = await Promise.all(Array.from({ length: calls }, async (_, at) => {
    try {
      const key = ['call', at];
      await storage.commit([{ key, value: { at } }]);
      const entry = await storage.get(key);
      return JSON.stringify(entry?.value);
    } catch (error) {
      return String(error);
    }
  }));
  await storage.close();
  return outcomes;
}

describe.skipIf(postgresPrograms === undefined || !hasPooler)('postgresStorage behind PgBouncer', () => {
  beforeAll(async () => {
    server = await startPostgres();
    poolers = { transaction: await startPooler(server, 'transaction'), session: await startPooler(server, 'session') };
  });
  afterAll(async () => {
    await Promise.all(Object.values(poolers).map(({ stop }) => stop()));
    await server.stop();
  });

  it.each(['transaction', 'session'] as const)('answers every call in %s mode', async (mode) => {
    const expected = Array.from({ length: 120 }, (_, at) => JSON.stringify({ at }));
    for (const more of [{}, { prepare: false }, { prepare: true }]) {
      expect(await outcomesOf(poolers[mode].connect(more), 120)).toEqual(expected);
    }
  });

  it.each(share(watchableStorageContract, 3))('keeps the contract in transaction mode: $name', async ({ run }) => {
    const clock = createTestClock();
    const storages: { close(): Promise<void> }[] = [];
    const openFresh = () => {
      const storage = postgresStorage({
        connect: poolers.transaction.connect(),
        table: `p${tables++}`,
        now: clock.now,
        pollMs: 50,
      });
      storages.push(storage);
      return Promise.resolve(storage);
    };
    await expect(run({ clock, open: openFresh, openOther: openFresh })).resolves.toBeUndefined();
    await Promise.all(storages.map((storage) => storage.close()));
  });

  it('prepares statements where it reaches the server itself, and nowhere else', async () => {
    for (const [connect, isPooled] of [[server.connect, false], [poolers.transaction.connect(), true]] as const) {
      const clients = { connect, isPooled: false };
      const client = openClient(clients, () => undefined);
      notePooler(clients, client, await client.sql.unsafe('select 1; select pg_backend_pid() as pid'));
      expect([clients.isPooled, client.sql.options.prepare]).toEqual([isPooled, !isPooled]);
      await client.sql.end();
    }
  });
});
