import * as v from 'valibot';
import { describe, expect, inject, it } from 'vitest';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import {
  defineTool,
  type HostedRuntime,
  localPrincipal,
  type Storage,
  type UIMessageChunk,
} from '../../../src/index.ts';
import { budget, share } from '../../fixtures/budget.ts';
import { killedAfter, killedAt } from '../../fixtures/chance/killed-storage.ts';
import { randomNumbers } from '../../fixtures/chance/random.ts';
import { callsTools, says, scriptedModel, type Source } from '../../fixtures/model.ts';
import { recovered } from '../../fixtures/processes/lost-instance.ts';
import { lastData, readAll, runRequest, terminalChunks, testRuntime } from '../../fixtures/runtime.ts';

const me = localPrincipal();

/** What a model says by the number of the results that its prompt has: asked again, it says the same. */
interface Scene {
  readonly answers: readonly Source[];
  readonly request?: Partial<Parameters<typeof runRequest>[0]>;
  /** How the run ends, apart from what its kills have changed; `completed` when absent. */
  readonly end?: string;
  /** How often it acts at most; once when absent. */
  readonly acts?: number;
  /** What happens after the first kill. */
  readonly between?: (runtime: HostedRuntime, runId: string) => Promise<unknown>;
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
    end: 'stopped',
  },
  'asks a person before it acts': { answers: [callsTools({ ...act, tool: 'ask' })], end: 'awaiting_approval' },
  'has a plan of two agents that act': {
    answers: [callsTools(act), says('Done')],
    request: { planner: { plan: { tasks: ['a', 'b'].map((key) => ({ key, goal: key, agentId: 'helper' })) } } },
    acts: 2,
  },
  'is canceled while no instance has it': {
    answers: [callsTools(act), says('Done')],
    between: (runtime, runId) => runtime.runs.cancel(me, runId),
    end: 'cancelled',
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
    tool('ask'),
  ];
  const { model: inner } = scriptedModel(says());
  const doStream: typeof inner.doStream = (options) => {
    const steps = options.prompt.filter(({ role }) => role === 'tool').length;
    return scriptedModel(answers[steps] ?? says('More')).model.doStream(options);
  };
  return {
    effects,
    instance: (storage: Storage): HostedRuntime =>
      testRuntime({
        model: { ...inner, doStream },
        storage,
        tools,
        limits: { commitSpacingMs: 0 },
        authorize: (_, __, { id }) => ({ decision: id === 'ask' ? 'ask' : 'allow', reason: 'It acts' }),
      }),
  };
}

async function readUntil(
  runtime: HostedRuntime,
  runId: string,
  killed: Promise<true>,
  seen: string[],
): Promise<boolean> {
  const cursor = await Promise.race([killed, runtime.runs.cursor(me, runId, 0)]);
  if (cursor === true) return false;
  for (;;) {
    const events = await Promise.race([killed, cursor.next()]);
    if (events === true) return false;
    if (!events) return true;
    seen.push(...events.map(({ text }) => text));
  }
}

/** A storage that its instance loses with its life. */
type Mortal = (storage: Storage) => ReturnType<typeof killedAfter>;
const after = (commits: number): Mortal => (storage) => killedAfter(storage, commits);

/** Kills an instance, and the one that goes on; returns what came of it. */
async function kill(scene: Scene, first: Mortal, second: Mortal) {
  const storage = memoryStorage();
  const { effects, instance } = composition(scene);
  const one = first(storage);
  const started = await Promise.race([one.killed, instance(one.storage).start(runRequest(scene.request), me, {})]);
  if (started === true) return undefined;
  const { runId } = started;
  const seen: string[] = [];
  const isWhole = await readUntil(instance(one.storage), runId, one.killed, seen);
  if (isWhole) return 'whole';
  // It may have ended meanwhile, and say so.
  await scene.between?.(instance(storage), runId).catch(() => undefined);
  const two = second(storage);
  await Promise.race([two.killed, recovered(instance(two.storage), runId, storage)]);
  const chunks = await recovered(instance(storage), runId, storage);
  return { chunks, effects, seen, again: await readAll(await instance(storage).resume(runId, 0, { principal: me })) };
}

type Killed = Exclude<Awaited<ReturnType<typeof kill>>, 'whole' | undefined>;

/** A plan asks a person what became of a call whose process was killed. */
const endsOf = ({ end = 'completed', acts }: Scene): string[] => acts === undefined ? [end] : [end, 'suspended'];

/** What must hold wherever processes were killed. Returns how the run has ended. */
function check({ chunks, effects, seen, again }: Killed, { acts: most = 1 }: Scene, where: string): unknown {
  expect(chunks.slice(0, seen.length).map((chunk) => JSON.stringify(chunk)), where).toEqual(seen);
  expect(again, where).toEqual(chunks);
  expect(terminalChunks(chunks), where).toHaveLength(1);
  const acts = effects.filter((effect) => effect === 'act').length;
  const ends = (toolCallId: string): UIMessageChunk[] =>
    chunks.filter((chunk) =>
      'toolCallId' in chunk && chunk.toolCallId === toolCallId &&
      ['tool-output-available', 'tool-output-error', 'tool-input-error'].includes(chunk.type)
    );
  expect(acts, where).toBeLessThanOrEqual(most);
  const ids = new Set(
    chunks.flatMap((chunk) =>
      chunk.type === 'tool-input-start' || chunk.type === 'tool-input-available' ? [chunk.toolCallId] : []
    ),
  );
  const asked = new Set(chunks.flatMap((chunk) => chunk.type === 'tool-approval-request' ? [chunk.toolCallId] : []));
  for (const id of ids.difference(asked)) expect(ends(id), `${where}: ends of ${id}`).toHaveLength(1);
  const reported = [...ids].filter((id) => id.startsWith('a')).flatMap(ends).filter(({ type }) =>
    type !== 'tool-input-error'
  );
  // A plan reports to its agents.
  if (most === 1) expect(reported.length, `${where}: the effect is reported`).toBeGreaterThanOrEqual(acts);
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
      const how = await kill(scene, after(first), after(1_000));
      if (how === 'whole') break;
      if (!how) continue;
      killed++;
      ends.add(check(how, scene, `killed after ${first}`));
    }
    expect(killed).toBeGreaterThan(0);
    expect([...ends]).toEqual([scene.end ?? 'completed']);
  });

  it('ends once and acts once at most, wherever the process that goes on is killed too', async () => {
    for (let first = 1; first < 60; first++) {
      for (const second of seconds) {
        const how = await kill(scene, after(first), after(second));
        if (how === 'whole') return;
        if (!how) continue;
        const end = check(how, scene, `killed after ${first}, then after ${second}`);
        expect([...endsOf(scene), 'recovery_limit']).toContain(end);
      }
    }
  });
});

/** How many requests of its storage an instance makes for a run. */
async function requestsOf(scene: Scene): Promise<number> {
  const { storage, made } = killedAt(memoryStorage(), { request: 1e6, isMade: false });
  await readAll(await composition(scene).instance(storage).run(runRequest(scene.request), me));
  return made();
}

it('ends once and acts once at most, wherever processes are killed beside a request of their storage', async () => {
  const all = Object.entries(scenes);
  const requests = await Promise.all(all.map(([, scene]) => requestsOf(scene)));
  let killed = 0;
  for (let at = 0; at < budget({ short: 40, long: 10_000 }); at++) {
    const seed = inject('sampleSeed') + at;
    const random = randomNumbers(seed);
    const below = (bound: number): number => Math.floor(random() * bound);
    const which = below(all.length);
    const [name, scene] = all[which]!;
    const die = (): Mortal => {
      const death = { request: 1 + below(requests[which] ?? 1), isMade: random() < 0.5 };
      return (storage) => killedAt(storage, death);
    };
    const how = await kill(scene, die(), random() < 0.5 ? die() : after(1_000));
    if (how === 'whole' || !how) continue;
    killed++;
    const end = check(how, scene, `seed ${seed}, a run that ${name}`);
    const ends = [...endsOf(scene), ...(scene.between ? ['completed'] : [])]; // it may have ended before the kill
    expect([...ends, 'recovery_limit'], `seed ${seed}`).toContain(end);
  }
  expect(killed).toBeGreaterThan(10);
}, 3_600_000);
