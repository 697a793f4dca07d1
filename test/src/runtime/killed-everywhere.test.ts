import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import {
  defineTool,
  type HostedRuntime,
  localPrincipal,
  type Storage,
  type UIMessageChunk,
} from '../../../src/index.ts';
import { share } from '../../fixtures/budget.ts';
import { killedAfter } from '../../fixtures/chance/killed-storage.ts';
import { callsTools, says, scriptedModel, type Source } from '../../fixtures/model.ts';
import { recovered } from '../../fixtures/processes/lost-instance.ts';
import { lastData, readAll, runRequest, terminalChunks, testRuntime } from '../../fixtures/runtime.ts';

const me = localPrincipal();

/** What a model says by the number of the results that its prompt has: asked again, it says the same. */
interface Scene {
  readonly answers: readonly Source[];
  readonly request?: Partial<Parameters<typeof runRequest>[0]>;
}

const read = { tool: 'look', input: {}, id: 'l' };
const act = { tool: 'act', input: {}, id: 'a' };
const keyed = { tool: 'again', input: { idempotencyKey: 'k' }, id: 'k' };
const output = { name: 'answer', schema: { type: 'object', properties: { x: { type: 'number' } }, required: ['x'] } };

const scenes: Readonly<Record<string, Scene>> = {
  'says a text': { answers: [says(...Array.from({ length: 12 }, (_, i) => `w${i} `))] },
  'reads, then says': { answers: [callsTools(read), says('Done')] },
  'acts, then says': { answers: [callsTools(act), says('Done')] },
  'makes calls of each kind in one step': { answers: [callsTools(read, act, keyed), says('Done')] },
  'makes a call in each of three steps': {
    answers: [callsTools(read), callsTools(act), callsTools(keyed), says('Done')],
  },
  'calls a tool that fails': { answers: [callsTools({ tool: 'fail', input: {}, id: 'f' }), says('Sorry')] },
  'answers as data': { answers: [says('{"x":', '1}')], request: { output } },
  'acts until its steps are used up': {
    answers: [callsTools(act), callsTools(read)],
    request: { limits: { steps: 2 } },
  },
};

/** Instances of one composition, and what their tools have done. */
function composition({ answers }: Scene) {
  const effects: string[] = [];
  const tool = (id: string, annotations: object = {}) =>
    defineTool({
      id,
      description: `Does ${id}`,
      input: v.object({ idempotencyKey: v.optional(v.string()) }),
      annotations,
      execute() {
        if (id === 'fail') throw new Error('It fails');
        effects.push(id);
        return `${id} done`;
      },
    });
  const tools = [
    tool('look', { readOnlyHint: true }),
    tool('act'),
    tool('again', { idempotentHint: true }),
    tool('fail'),
  ];
  const { model: inner } = scriptedModel(says());
  const doStream: typeof inner.doStream = (options) => {
    const steps = options.prompt.filter(({ role }) => role === 'tool').length;
    return scriptedModel(answers[steps] ?? says('More')).model.doStream(options);
  };
  return {
    effects,
    instance: (storage: Storage): HostedRuntime =>
      testRuntime({ model: { ...inner, doStream }, storage, tools, limits: { commitSpacingMs: 0 } }),
  };
}

async function readUntil(
  runtime: HostedRuntime,
  runId: string,
  killed: Promise<true>,
  seen: string[],
): Promise<boolean> {
  const cursor = await runtime.runs.cursor(me, runId, 0);
  for (;;) {
    const events = await Promise.race([killed, cursor.next()]);
    if (events === true) return false;
    if (!events) return true;
    seen.push(...events.map(({ text }) => text));
  }
}

/** Kills an instance at its commit `first`, and the one that goes on at its commit `second`; returns what came of it. */
async function kill(scene: Scene, first: number, second: number) {
  const storage = memoryStorage();
  const { effects, instance } = composition(scene);
  const one = killedAfter(storage, first);
  const started = await Promise.race([one.killed, instance(one.storage).start(runRequest(scene.request), me, {})]);
  if (started === true) return undefined;
  const { runId } = started;
  const seen: string[] = [];
  const isWhole = await readUntil(instance(one.storage), runId, one.killed, seen);
  if (isWhole) return 'whole';
  const two = killedAfter(storage, second);
  await Promise.race([two.killed, recovered(instance(two.storage), runId, storage)]);
  const chunks = await recovered(instance(storage), runId, storage);
  return { chunks, effects, seen, again: await readAll(await instance(storage).resume(runId, 0, { principal: me })) };
}

type Killed = Exclude<Awaited<ReturnType<typeof kill>>, 'whole' | undefined>;

/** What must hold wherever processes were killed. Returns how the run has ended. */
function check({ chunks, effects, seen, again }: Killed, where: string): unknown {
  expect(chunks.slice(0, seen.length).map((chunk) => JSON.stringify(chunk)), where).toEqual(seen);
  expect(again, where).toEqual(chunks);
  expect(terminalChunks(chunks), where).toHaveLength(1);
  const acts = effects.filter((effect) => effect === 'act').length;
  const ends = (toolCallId: string): UIMessageChunk[] =>
    chunks.filter((chunk) =>
      'toolCallId' in chunk && chunk.toolCallId === toolCallId &&
      ['tool-output-available', 'tool-output-error', 'tool-input-error'].includes(chunk.type)
    );
  expect(acts, where).toBeLessThanOrEqual(1);
  const ids = new Set(
    chunks.flatMap((chunk) =>
      chunk.type === 'tool-input-start' || chunk.type === 'tool-input-available' ? [chunk.toolCallId] : []
    ),
  );
  for (const id of ids) expect(ends(id), `${where}: ends of ${id}`).toHaveLength(1);
  const reported = [...ids].filter((id) => id.startsWith('a')).flatMap(ends).filter(({ type }) =>
    type !== 'tool-input-error'
  );
  expect(reported.length, `${where}: the effect is reported`).toBeGreaterThanOrEqual(acts);
  const { state, error } = lastData(chunks, 'data-run') as { state: string; error?: { details?: { why?: string } } };
  return error?.details?.why ?? state;
}

/** After how many more commits the second process is killed: all of these in a long run. */
const seconds = share([0, 1, 2, 3, 4, 6, 9], 3);

describe.each(Object.entries(scenes))('a run that %s', (_, scene) => {
  it('ends once and acts once at most, wherever its process is killed', async () => {
    const ends = new Set<unknown>();
    let killed = 0;
    for (let first = 1; first < 60; first++) {
      const how = await kill(scene, first, 1_000);
      if (how === 'whole') break;
      if (!how) continue;
      killed++;
      ends.add(check(how, `killed after ${first}`));
    }
    expect(killed).toBeGreaterThan(0);
    expect([...ends]).toEqual([scene.request?.limits ? 'stopped' : 'completed']);
  });

  it('ends once and acts once at most, wherever the process that goes on is killed too', async () => {
    for (let first = 1; first < 60; first++) {
      for (const second of seconds) {
        const how = await kill(scene, first, second);
        if (how === 'whole') return;
        if (!how) continue;
        const end = check(how, `killed after ${first}, then after ${second}`);
        expect(['completed', 'stopped', 'recovery_limit']).toContain(end);
      }
    }
  });
});
