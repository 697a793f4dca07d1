import * as v from 'valibot';
import { describe, expect, it, onTestFinished } from 'vitest';
import { etcdStorage } from '../../../adapters/storage/etcd.ts';
import { postgresStorage } from '../../../adapters/storage/postgres.ts';
import type { ClosableStorage } from '../../../src/contracts/index.ts';
import { defineTool, localPrincipal, type PlanningRuntime, type UIMessageChunk } from '../../../src/index.ts';
import { callsTools, says, scriptedModel, streamOf } from '../../fixtures/model.ts';
import { readAll, runRequest, terminalChunks, testRuntime, textOf, userMessage } from '../../fixtures/runtime.ts';
import { etcdProgram, startEtcd } from '../../tools/servers/etcd-server.ts';
import { startPair } from '../../tools/servers/postgres-pair.ts';
import { postgresPrograms } from '../../tools/servers/postgres-server.ts';

const me = localPrincipal();
const names = Array.from({ length: 40 }, (_, at) => `note-${at}`);

/** An instance whose agent notes the last word of the message by a tool that may act, and then says it. */
function createInstance(storage: ClosableStorage, noted: (name: string) => void): PlanningRuntime {
  const note = defineTool({
    id: 'note',
    description: 'Notes a name',
    input: v.strictObject({ name: v.string() }),
    execute: ({ name }) => (noted(name), 'noted'),
  });
  const { model } = scriptedModel(({ prompt }) => {
    const name = /note-\d+/.exec(JSON.stringify(prompt))?.[0] ?? '';
    const isNoted = prompt.some(({ role }) => role === 'tool');
    return streamOf(isNoted ? says('It is ', name) : callsTools({ tool: 'note', input: { name }, id: `call-${name}` }));
  });
  return testRuntime({ model, storage, tools: [note] });
}

/** Asks as a client does: with one key until there is an answer. */
async function ask(instances: readonly PlanningRuntime[], name: string, at: number): Promise<UIMessageChunk[]> {
  const request = runRequest({ chat: { id: name, messages: [userMessage(`Please take ${name}`)] } });
  for (let tries = 0;; tries++) {
    try {
      const instance = instances[(at + tries) % instances.length];
      if (!instance) throw new Error('No instance');
      return await readAll(await instance.run(request, me, { idempotencyKey: `key-of-${name}` }));
    } catch (error) {
      expect(error).toMatchObject({ details: { reason: expect.stringMatching(/storage_blocked|run_in_progress/) } });
    }
  }
}

/** A store that survives a machine. */
interface Engine {
  open(): ClosableStorage;
  fail(): Promise<void>;
  stop(): Promise<void>;
}

async function postgresPair(): Promise<Engine> {
  const pair = await startPair();
  const fail = () => pair.killPrimary().then(() => pair.promote());
  return { open: () => postgresStorage({ connect: pair.connect }), fail, stop: () => pair.stop() };
}

async function etcdOfThree(): Promise<Engine> {
  const cluster = await startEtcd(3);
  const fail = async () => cluster.signal(await cluster.leader(), 'SIGKILL');
  return { open: () => etcdStorage({ endpoints: cluster.endpoints }), fail, stop: () => cluster.stop() };
}

describe.each([
  ['PostgreSQL fails over to a synchronous standby', postgresPrograms, postgresPair],
  ['etcd loses its leader', etcdProgram, etcdOfThree],
])('two instances whose %s', (_, program, start) => {
  it.skipIf(program === undefined)('complete all runs, with each effect once, and replay them', async () => {
    const engine = await start();
    onTestFinished(() => engine.stop());
    const storages = [engine.open(), engine.open()];
    const effects = new Map<string, number>();
    const noted = (name: string) => void effects.set(name, (effects.get(name) ?? 0) + 1);
    const instances = storages.map((storage) => createInstance(storage, noted));
    const answers = new Map<string, UIMessageChunk[]>();
    const begun = Promise.withResolvers<void>();
    const waiting = names.map((name, at) => [name, at] as const);
    const work = async (): Promise<void> => {
      for (let next = waiting.shift(); next; next = waiting.shift()) {
        answers.set(next[0], await ask(instances, ...next));
        if (answers.size >= 8) begun.resolve();
      }
    };
    const workers = Array.from({ length: 6 }, work);
    await begun.promise;
    await engine.fail();
    await Promise.all(workers);
    for (const [at, name] of names.entries()) {
      const chunks = answers.get(name) ?? [];
      expect(terminalChunks(chunks)).toEqual([expect.objectContaining({ type: 'finish' })]);
      expect(textOf(chunks)).toBe(`It is ${name}`);
      expect([name, effects.get(name)]).toEqual([name, 1]);
      expect(await ask(instances, name, at + 1)).toEqual(chunks); // from the log, at the other instance
    }
    await Promise.all(instances.map((instance) => instance.close()));
    await Promise.all(storages.map((storage) => storage.close()));
  });
});
