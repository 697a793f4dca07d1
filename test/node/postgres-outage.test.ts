import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { postgresStorage } from '../../adapters/storage/postgres.ts';
import { type HostedRuntime, localPrincipal } from '../../src/index.ts';
import { says, scriptedModel, streamOf } from '../fixtures/model.ts';
import { runRequest, testRuntime } from '../fixtures/runtime.ts';
import { postgresPrograms, type PostgresServer, startPostgres } from '../tools/postgres-server.ts';

const me = localPrincipal();
const words = Array.from({ length: 20 }, (_, at) => `word-${at} `);
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
  const storages = [0, 1].map(() => postgresStorage({ sql: server.connect(), table }));
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

describe.skipIf(postgresPrograms === undefined)('a run whose PostgreSQL is killed and started again', () => {
  beforeAll(async () => void (server = await startPostgres()));
  afterAll(() => server.stop());

  it.each(words.map((_, at) => at))(
    'after %i words ends as its log says, with the same bytes for eight readers',
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
      const restarted = server.restart();
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

  it('ends its readers with outcome_unknown, and never as completed, when the storage stays away', async () => {
    const storage = postgresStorage({ sql: server.connect(), table: `t${tables++}` });
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
    const runtime = testRuntime({ ...model, storage, limits: { storageGraceMs: 200 } });
    const { runId, ended } = await runtime.start(runRequest(), me, {});
    const reached = Promise.withResolvers<void>();
    const reader = readWhole(runtime, runId, (text) => text.includes('lo') && reached.resolve());
    await reached.promise;
    const isBack = server.restart(Promise.all([reader, ended]));
    gate.resolve();
    const texts = await reader;
    expect(texts.at(-1)).toContain('"errorText":"outcome_unknown: ');
    expect(texts.join('')).not.toContain('"finish"');
    await isBack;
    await expect.poll(() => runtime.runs.status(me, runId).then(({ state }) => state, () => undefined)).toBe('running');
    await runtime.close();
    await storage.close();
  });
});
