import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { hurry } from '../../../fixtures/processes/hurry.ts';
import { mortal } from '../../../fixtures/processes/lost-instance.ts';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import { defineTool, localPrincipal, PinnaceError, type Storage, type UIMessageChunk } from '../../../../src/index.ts';
import { runs } from '../../../fixtures/budget.ts';
import { type Chance, createChance } from '../../../../src/simulation/chance.ts';
import { callsTools, says, type ScriptedModel, scriptedModel, streamOf } from '../../../fixtures/model.ts';
import { heldTool } from '../../../fixtures/tools/held-tool.ts';
import { lastData, recordedChunks, runRequest, terminalChunks, testRuntime } from '../../../fixtures/runtime.ts';

const me = localPrincipal();
const text = (id: string, said = id) => ({ id, parts: [{ type: 'text' as const, text: said }] });
const works = callsTools({ tool: 'work', input: {} });
const idle = () => scriptedModel(says('unused'));
/** One turn of the event loop. */
const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));

/** Two runtimes on one storage; the first executes the run. */
async function twoInstances(model: ScriptedModel, { ofA }: { readonly ofA?: (storage: Storage) => Storage } = {}) {
  let time = 1_800_000_000_000;
  const now = () => time;
  const storage = memoryStorage({ now });
  const held = heldTool();
  const a = testRuntime({ ...model, storage: ofA?.(storage) ?? storage, tools: [held.tool], now });
  const b = testRuntime({ ...idle(), storage, now, recovery: false });
  const { runId, ended } = await a.start(runRequest(), me, {});
  return { ...held, a, b, runId, ended, storage, jump: (ms: number) => void (time += ms) };
}

const deliveredIn = (chunks: readonly UIMessageChunk[]): string[] =>
  chunks.flatMap((chunk) => chunk.type === 'steering-message' ? [chunk.id] : []);
const undeliveredIn = (chunks: readonly UIMessageChunk[]): (string | undefined)[] =>
  chunks.flatMap((chunk) => chunk.type === 'data-steering' ? [chunk.id] : []);

hurry();

describe('a message that another instance accepts', () => {
  it('reaches the run, once and in order with those of the owner', async () => {
    const model = scriptedModel(works, says('ok'));
    const { a, b, runId, ended, started, open } = await twoInstances(model);
    await started;
    expect(await b.send(runId, text('1'), me)).toEqual({ messageId: '1', state: 'accepted' });
    expect(await a.send(runId, text('2'), me)).toEqual({ messageId: '2', state: 'accepted' });
    expect(await b.send(runId, text('3'), me)).toEqual({ messageId: '3', state: 'accepted' });
    expect(await a.send(runId, text('1'), me)).toEqual({ messageId: '1', state: 'accepted' });
    expect(await b.send(runId, text('2'), me)).toEqual({ messageId: '2', state: 'accepted' });
    open();
    await ended;
    expect(deliveredIn(await recordedChunks(b, runId))).toEqual(['1', '2', '3']);
    expect(await b.send(runId, text('2'), me)).toEqual({ messageId: '2', state: 'delivered' });
  });

  it('is refused there as at the owner', async () => {
    const { a, b, runId, ended, started, open } = await twoInstances(scriptedModel(works, says('ok')));
    await started;
    for (let i = 0; i < 16; i++) await a.send(runId, text(`m${i}`), me);
    const full = { code: 'rate_limited', details: { reason: 'too_many_messages' } };
    await expect(b.send(runId, text('more'), me)).rejects.toMatchObject(full);
    await expect(b.send(runId, text('more'), me)).rejects.toMatchObject(full); // it was read again
    await expect(b.send(runId, text('m0', 'other'), me)).rejects.toMatchObject({
      details: { reason: 'message_id_reused' },
    });
    open();
    await ended;
    await expect(b.send(runId, text('more'), me)).rejects.toMatchObject({
      code: 'conflict',
      details: { reason: 'run_ended' },
    });
  });

  it('is reported as undelivered, and refused from then on, when its owner is killed', async () => {
    let worker: ReturnType<typeof mortal> | undefined;
    const ofA = (storage: Storage): Storage => (worker = mortal(storage)).storage;
    const { a, b, runId, started, jump } = await twoInstances(scriptedModel(works), { ofA });
    await started;
    await a.send(runId, text('accepted'), me);
    worker?.kill();
    const unread = b.send(runId, text('unread'), me);
    jump(26_000);
    const refused = { code: 'conflict', details: { reason: 'run_ended' } };
    await expect(unread).rejects.toMatchObject(refused);
    const chunks = await recordedChunks(b, runId);
    expect(undeliveredIn(chunks)).toEqual(['accepted']);
    expect(deliveredIn(chunks)).toEqual([]);
    expect(terminalChunks(chunks)).toMatchObject([{ type: 'error' }]);
    expect(lastData(chunks, 'data-run')).toMatchObject({ error: { details: { reason: 'worker_lost' } } });
    await expect(b.send(runId, text('accepted'), me)).rejects.toMatchObject(refused);
  });

  it.each([
    ['is not made', false],
    ['is made, and its answer lost', true],
  ])('is delivered once, through any instance, where a commit %s', async (_, isMade) => {
    const failing = new Set<string>();
    const ofA = (storage: Storage): Storage => ({
      get: (key) => storage.get(key),
      list: (options) => storage.list(options),
      async commit(changes) {
        const name = changes.map(({ key }) => JSON.stringify(key)).find((key) => key.includes('"message"'));
        const isStruck = name !== undefined && !failing.has(name);
        if (name !== undefined) failing.add(name);
        if (!isStruck || isMade) {
          const result = await storage.commit(changes);
          if (!isStruck) return result;
        }
        throw new PinnaceError('unavailable', 'No', { details: { reason: 'storage_blocked' } });
      },
    });
    const { a, b, runId, ended, started, open } = await twoInstances(scriptedModel(works, says('ok')), { ofA });
    await started;
    expect(await a.send(runId, text('1'), me)).toEqual({ messageId: '1', state: 'accepted' });
    expect(await b.send(runId, text('2'), me)).toEqual({ messageId: '2', state: 'accepted' });
    open();
    await ended;
    expect(failing.size).toBe(2);
    expect(deliveredIn(await recordedChunks(b, runId))).toEqual(['1', '2']);
  });
});

/** Ends of runs, some turns of the event loop from the start. */
const scripts: Readonly<Record<string, (chance: Chance) => ScriptedModel>> = {
  'completes': (chance) =>
    scriptedModel(...Array.from({ length: 1 + chance.below(3) }, () => () => inTurns(says('a', 'b'), chance))),
  'works and completes': (chance) =>
    scriptedModel(() => inTurns(callsTools({ tool: 'quick', input: {} }), chance), () => inTurns(says('a'), chance)),
  'fails': (chance) =>
    scriptedModel(() => inTurns([...says('a').slice(0, 2), { type: 'error', error: new Error('No') }], chance)),
  'waits for a person': (chance) => scriptedModel(() => inTurns(callsTools({ tool: 'ask', input: {} }), chance)),
};

/** Gives the parts, each after some turns of the event loop. */
function inTurns<T>(parts: readonly T[], chance: Chance): ReadableStream<T> {
  return streamOf(parts).pipeThrough(
    new TransformStream({
      async transform(part, controller) {
        for (let turns = chance.below(3); turns > 0; turns--) await turn();
        controller.enqueue(part);
      },
    }),
  );
}

describe('a message that races the end of its run', () => {
  const quick = defineTool({ id: 'quick', description: 'Works', input: v.object({}), execute: () => 'done' });
  const ask = defineTool({
    id: 'ask',
    description: 'Asks',
    input: v.object({}),
    approval: 'always',
    execute: () => 'done',
  });

  it.each(Object.keys(scripts))(
    'is delivered, reported as undelivered or refused, and never lost: a run that %s',
    async (name) => {
      const counts = { delivered: 0, undelivered: 0, refused: 0 };
      for (let seed = 1; seed <= runs(200); seed++) {
        const chance = createChance(seed);
        const storage = memoryStorage();
        const owner = testRuntime({ ...scripts[name]!(chance), storage, tools: [quick, ask] });
        const other = testRuntime({ ...idle(), storage });
        const { runId, ended } = await owner.start(runRequest(), me, {});
        const sending = Array.from({ length: 4 }, async (_, i) => {
          for (let turns = chance.below(14); turns > 0; turns--) await turn();
          return await chance.of([owner, other]).send(runId, text(`m${i}`), me).catch((error: unknown) => error);
        });
        if (chance.oneIn(4)) {
          for (let turns = chance.below(14); turns > 0; turns--) await turn();
          await owner.cancel(runId, me);
        }
        const sent = await Promise.all(sending);
        await ended;
        const chunks = await recordedChunks(other, runId);
        const [delivered, undelivered] = [deliveredIn(chunks), undeliveredIn(chunks)];
        for (const [i, outcome] of sent.entries()) {
          const id = `m${i}`;
          const found = [...delivered, ...undelivered].filter((one) => one === id).length;
          const where = `seed ${seed}, message ${id}`;
          if (outcome instanceof PinnaceError) {
            expect(outcome.details, where).toEqual({ reason: 'run_ended' });
            expect(delivered, where).not.toContain(id);
            counts.refused += 1;
          } else {
            expect(found, where).toBe(1);
            counts[delivered.includes(id) ? 'delivered' : 'undelivered'] += 1;
          }
        }
        await Promise.all([owner.close(), other.close()]);
      }
      expect(counts.refused).toBeGreaterThan(0);
      expect(counts.delivered + counts.undelivered).toBeGreaterThan(0);
    },
  );
});
