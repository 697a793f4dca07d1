import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { hurry } from '../../fixtures/processes/hurry.ts';
import { mortal, stoppable, withPresence } from '../../fixtures/processes/lost-instance.ts';
import { memorySecrets } from '../../../adapters/secrets/memory.ts';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import {
  createRules,
  type CreateRuntimeOptions,
  defineAgent,
  defineTool,
  type HostedRuntime,
  localPrincipal,
  PinnaceError,
  type Storage,
  type UIMessageChunk,
} from '../../../src/index.ts';
import { callsTools, says, scriptedModel, type Source, stallingStream } from '../../fixtures/model.ts';
import {
  lastData,
  recordedChunks,
  runRequest,
  terminalChunks,
  testRuntime,
  textOf,
  userMessage,
} from '../../fixtures/runtime.ts';

const me = localPrincipal();

type Options = Partial<Parameters<typeof testRuntime>[0]>;

/** Tools that count: one reads, one acts, one acts and carries its own key. Those that are named never end. */
function tools(stuck: readonly string[] = []) {
  const made: string[] = [];
  const tool = (id: string, annotations: object = {}) =>
    defineTool({
      id,
      description: `Does ${id}`,
      input: v.object({ idempotencyKey: v.optional(v.string()) }),
      annotations,
      execute(_, { toolCallId }) {
        made.push(`${id} ${toolCallId}`);
        return stuck.includes(id) ? new Promise<string>(() => undefined) : `${id} done`;
      },
    });
  return {
    made,
    tools: [tool('look', { readOnlyHint: true }), tool('act'), tool('again', { idempotentHint: true })],
  };
}

/** Starts a run, kills its instance once the stream has shown a chunk of this type so often, and reads it at another. */
async function killed(
  { first, second, until, stuck = [], limits = {}, agent = {}, before = {}, after = {}, request, between }: {
    readonly first: readonly Source[];
    readonly second: readonly Source[];
    readonly until: { readonly type: string; readonly count: number };
    readonly stuck?: readonly string[];
    readonly limits?: NonNullable<CreateRuntimeOptions['limits']>;
    /** The record of the agent after the kill. */
    readonly agent?: Options['agent'];
    readonly before?: Options;
    readonly after?: Options;
    readonly request?: Parameters<typeof runRequest>[0];
    /** What happens while no instance has the run. */
    readonly between?: (b: HostedRuntime, runId: string) => Promise<void>;
  },
) {
  const storage = memoryStorage();
  const [dying, here, there] = [mortal(storage), tools(stuck), tools()];
  const a = testRuntime({ ...scriptedModel(...first), storage: dying.storage, tools: here.tools, limits, ...before });
  const model = scriptedModel(...second);
  const b = testRuntime({ ...model, storage, tools: there.tools, limits, agent, ...after });
  const { runId } = await a.start(runRequest(request), me, {});
  const cursor = await a.runs.cursor(me, runId, 0);
  const seen: string[] = [];
  for (let count = 0; count < until.count;) {
    for (const { text } of await cursor.next() ?? []) {
      seen.push(text);
      if ((JSON.parse(text) as UIMessageChunk).type === until.type) count++;
    }
  }
  if (stuck.length > 0) await expect.poll(() => here.made.length).toBeGreaterThan(0);
  dying.kill();
  await between?.(b, runId);
  const chunks = await recordedChunks(b, runId);
  expect(chunks.slice(0, seen.length).map((chunk) => JSON.stringify(chunk))).toEqual(seen);
  expect(terminalChunks(chunks)).toHaveLength(1);
  return { chunks, b, runId, model, storage, here: here.made, there: there.made };
}

const look = callsTools({ tool: 'look', input: {}, id: 'l' });
const act = callsTools({ tool: 'act', input: {}, id: 'a' }, { tool: 'look', input: {}, id: 'l' });
const half = () => stallingStream(says('Half of an ', 'answer').slice(0, 3));

/** Killed in the middle of the second answer. */
const torn = { first: [look, half], second: [says('All done')], until: { type: 'text-delta', count: 1 } } as const;

hurry();

describe('a run whose instance was killed', () => {
  it('is continued under its id: the half of an answer is dropped, and the model asked again', async () => {
    const { chunks, b, runId, model } = await killed({
      first: [look, half],
      second: [says('All done')],
      until: { type: 'text-delta', count: 1 },
    });
    expect(textOf(chunks)).toBe('Half of an All done');
    expect(lastData(chunks, 'data-recovery')).toMatchObject({ recovery: 1, of: 8, again: true, unknown: [] });
    expect(JSON.stringify(model.calls[0]?.prompt)).not.toContain('Half of an');
    expect(JSON.stringify(model.calls[0]?.prompt)).toContain('look done');
    expect(await b.runs.status(me, runId)).toMatchObject({ state: 'completed' });
    expect((await b.runs.status(me, runId)).usage).toMatchObject({ steps: 2, toolCalls: 1, estimated: true });
  });

  it('is continued at once where the storage knows that the first has ended, and not while that is frozen', async () => {
    const { storage, end } = withPresence(memoryStorage());
    const dying = mortal(storage);
    const first = testRuntime({ ...scriptedModel(half), storage: dying.storage });
    const { runId } = await first.start(runRequest(), me, {});
    await first.runs.cursor(me, runId, 0).then((cursor) => cursor.next());
    const second = testRuntime({ ...scriptedModel(says('All done')), storage });
    dying.kill();
    const chunks = recordedChunks(second, runId);
    await new Promise((resolve) => setTimeout(resolve, 15_000)); // long enough for one that is judged by its silence
    expect(await second.runs.status(me, runId)).toMatchObject({ state: 'running' });
    end(0);
    expect(textOf(await chunks)).toBe('Half of an All done');
  });

  it('is continued where nothing of it was shown', async () => {
    const { chunks } = await killed({
      first: [() => stallingStream([])],
      second: [says('All done')],
      until: { type: 'data-manifest', count: 1 },
    });
    expect(textOf(chunks)).toBe('All done');
  });

  it('never makes a call again that may have acted, and makes those again that read', async () => {
    const { chunks, model, here, there } = await killed({
      first: [act],
      second: [says('I do not know')],
      until: { type: 'tool-input-available', count: 2 },
      stuck: ['act', 'look'],
    });
    expect(here.toSorted()).toEqual(['act a', 'look l']);
    expect(there).toEqual(['look l']);
    expect(lastData(chunks, 'data-tool-error')).toMatchObject({ toolCallId: 'a', code: 'outcome_unknown' });
    expect(JSON.stringify(model.calls[0]?.prompt.at(-1))).toContain('The outcome of tool \\"act\\" is unknown');
    expect(textOf(chunks)).toBe('I do not know');
    expect(lastData(chunks, 'data-recovery')).toMatchObject({ unknown: ['a'], again: false });
  });

  it('goes on at another instance when its own is closed: nothing is ended, and no recovery is counted', async () => {
    const storage = memoryStorage();
    const here = tools();
    const first = testRuntime({ ...scriptedModel(act, half), storage, tools: here.tools });
    const { runId } = await first.start(runRequest(), me, {});
    const cursor = await first.runs.cursor(me, runId, 0);
    const read = async (): Promise<string[]> => (await cursor.next() ?? []).map(({ text }) => text);
    const seen: string[] = [];
    while (!seen.some((text) => text.includes('Half of'))) seen.push(...await read());
    await first.close({ handOver: true });
    await expect(Promise.resolve().then(read).then(read)).rejects.toMatchObject({
      details: { reason: 'runtime_closed' },
    });
    const second = testRuntime({ ...scriptedModel(says('All done')), storage, tools: here.tools });
    const chunks = await recordedChunks(second, runId);
    expect(chunks.slice(0, seen.length).map((chunk) => JSON.stringify(chunk))).toEqual(seen);
    expect(lastData(chunks, 'data-recovery')).toMatchObject({ recovery: 0, again: true });
    expect(chunks.at(-1)).toMatchObject({ type: 'finish' });
    expect(here.made.toSorted()).toEqual(['act a', 'look l']);
  });

  it('ends after it has killed its process twice while it made the same call, and says why', async () => {
    const storage = memoryStorage();
    let runId = '';
    for (let kill = 0; kill < 2; kill++) {
      const dying = mortal(storage);
      const here = tools(['look']);
      const runtime = testRuntime({ ...scriptedModel(look), storage: dying.storage, tools: here.tools });
      if (kill === 0) ({ runId } = await runtime.start(runRequest(), me, {}));
      else void recordedChunks(runtime, runId).catch(() => undefined);
      await expect.poll(() => here.made.length, { timeout: 10_000 }).toBe(1);
      dying.kill();
    }
    const model = scriptedModel(says('Never'));
    const chunks = await recordedChunks(testRuntime({ ...model, storage, tools: tools().tools }), runId);
    expect(lastData(chunks, 'data-run')).toMatchObject({
      state: 'interrupted',
      error: { details: { reason: 'worker_lost', why: 'recovery_limit' } },
    });
    expect(lastData(chunks, 'data-usage')).toMatchObject({ steps: 2, toolCalls: 2, estimated: true }); // as made
    expect(model.calls).toEqual([]);
  });

  it('is not ended for the run that kills its process, with which it has shared three', async () => {
    const storage = memoryStorage();
    const ids: Record<string, string> = {};
    const ends = new Map<string, UIMessageChunk[]>();
    for (let lives = 1; ends.size < 2 && lives < 6; lives++) {
      const dying = mortal(storage);
      const died = Promise.withResolvers<void>();
      const bomb = defineTool({
        id: 'bomb',
        description: 'Kills its process',
        annotations: { readOnlyHint: true },
        input: v.object({}),
        execute: () => (dying.kill(), died.resolve(), new Promise<string>(() => undefined)),
      });
      const { model } = scriptedModel(says());
      const doStream: typeof model.doStream = (options) => {
        const isBomb = JSON.stringify(options.prompt).includes('Explode');
        const slow: Source = lives < 3 ? () => stallingStream([]) : says('Done');
        return scriptedModel(isBomb ? callsTools({ tool: 'bomb', input: {} }) : slow).model.doStream(options);
      };
      const runtime = testRuntime({ model: { ...model, doStream }, storage: dying.storage, tools: [bomb] });
      const start = async (text: string) =>
        (await runtime.start(runRequest({ chat: { id: text, messages: [userMessage(text)] } }), me, {})).runId;
      ids['innocent'] ??= await start('Wait');
      ids['culprit'] ??= await start('Explode');
      const read = Object.entries(ids).map(async ([name, runId]) => {
        if (!ends.has(name)) ends.set(name, await recordedChunks(runtime, runId));
      });
      await Promise.race([Promise.all(read), died.promise]);
      if (lives === 5) expect([...ends.keys()]).toHaveLength(2);
    }
    expect(textOf(ends.get('innocent')!)).toBe('Done');
    expect(lastData(ends.get('culprit')!, 'data-run')).toMatchObject({ error: { details: { why: 'recovery_limit' } } });
  });

  it('is continued after the storage has refused that it, or another one, is taken over as the one suspect', async () => {
    const storage = memoryStorage();
    const stalled = () => scriptedModel(() => stallingStream([]), () => stallingStream([]));
    const runIds: string[] = [];
    for (let life = 0; life < 2; life++) {
      const dying = mortal(storage);
      const runtime = testRuntime({ ...stalled(), storage: dying.storage });
      for (const id of life === 0 ? ['a', 'b'] : []) {
        const chat = { id, messages: [userMessage('Hello')] };
        runIds.push((await runtime.start(runRequest({ chat }), me, {})).runId);
      }
      const reads = runIds.map(async (runId) => {
        const cursor = await runtime.runs.cursor(me, runId, 0);
        for (let seen = ''; !seen.includes(life === 0 ? 'data-manifest' : 'data-recovery');) {
          seen += (await cursor.next() ?? []).map(({ text }) => text).join('');
        }
      });
      await Promise.all(reads);
      dying.kill();
    }
    let [refused, isFull] = [0, true];
    const full: Storage = {
      ...storage,
      async commit(changes) {
        if (isFull && JSON.stringify(changes).includes('"recovery":{"count":2')) {
          refused++;
          throw new PinnaceError('unavailable', 'The disk is full', { details: { reason: 'storage_full' } });
        }
        return await storage.commit(changes);
      },
    };
    const last = testRuntime({ ...scriptedModel(says('Done'), says('Done')), storage: full });
    const read = Promise.all(runIds.map((runId) => recordedChunks(last, runId)));
    await expect.poll(() => refused).toBeGreaterThan(20);
    isFull = false;
    for (const chunks of await read) expect(textOf(chunks)).toBe('Done');
  });

  it('keeps to the deadline and the steps of its start', async () => {
    let time = Date.now();
    const late = { now: () => time, limits: { totalMs: 10_000 } };
    const storage = memoryStorage();
    const dying = mortal(storage);
    const first = testRuntime({ ...scriptedModel(() => stallingStream([])), storage: dying.storage, ...late });
    const { runId } = await first.start(runRequest(), me, {});
    dying.kill();
    time += 60_000;
    const chunks = await recordedChunks(
      testRuntime({ ...scriptedModel(() => stallingStream([])), storage, ...late }),
      runId,
    );
    expect(lastData(chunks, 'data-run')).toMatchObject({ error: { code: 'deadline_exceeded' } });
    const { chunks: limited } = await killed({
      first: [look, half],
      second: [look, says('Never')],
      until: { type: 'text-delta', count: 1 },
      limits: { steps: 2 },
    });
    expect(lastData(limited, 'data-run')).toMatchObject({ state: 'stopped' });
  });

  it('makes no call that its caller may make no more', async () => {
    const narrowed = createRules([{
      effect: 'deny',
      actions: ['tool.call'],
      subjects: ['local'],
      resources: ['tool:act'],
    }], {
      otherwise: 'allow',
    });
    const { chunks, there } = await killed({
      first: [look, half],
      second: [act, says('Done')],
      until: { type: 'text-delta', count: 1 },
      after: { authorize: narrowed },
    });
    expect(there).toEqual(['look l~2']);
    expect(JSON.stringify(chunks)).toContain('"code":"forbidden"');
    expect(textOf(chunks)).toContain('Done');
  });

  it('has no tool that its agent has lost meanwhile', async () => {
    const { chunks, there } = await killed({
      first: [look, half],
      second: [act, says('Done')],
      until: { type: 'text-delta', count: 1 },
      agent: { entryTools: ['look'] },
    });
    expect(there).toEqual(['look l~2']);
    expect(textOf(chunks)).toContain('Done');
  });

  it('is continued as often as its agent allows', async () => {
    const ends = async (recoveries: number) => {
      const storage = memoryStorage();
      let runId = '';
      for (const text of ['One ', 'Two ']) {
        const dying = mortal(storage);
        const model = scriptedModel(() => stallingStream(says(text, 'more').slice(0, 3)));
        const runtime = testRuntime({ ...model, storage: dying.storage, agent: { limits: { recoveries } } });
        runId ||= (await runtime.start(runRequest(), me, {})).runId;
        const cursor = await runtime.runs.cursor(me, runId, 0);
        for (let seen = ''; !seen.includes(text) && !seen.includes('worker_lost');) {
          seen += (await cursor.next() ?? []).map((event) => event.text).join('');
        }
        dying.kill();
      }
      const last = testRuntime({ ...scriptedModel(says('Done')), storage, agent: { limits: { recoveries } } });
      return await recordedChunks(last, runId);
    };
    const lost = (why: string) => ({ state: 'interrupted', error: { details: { reason: 'worker_lost', why } } });
    expect(lastData(await ends(0), 'data-run')).toMatchObject(lost('recovery_off'));
    expect(lastData(await ends(1), 'data-run')).toMatchObject(lost('recovery_limit'));
    expect((await ends(2)).at(-1)).toMatchObject({ type: 'finish' });
  });

  it('makes a call again that carries its own key', async () => {
    const { there, chunks } = await killed({
      first: [callsTools({ tool: 'again', input: { idempotencyKey: 'k' }, id: 'x' })],
      second: [says('Done')],
      until: { type: 'tool-input-available', count: 1 },
      stuck: ['again'],
    });
    expect(there).toEqual(['again x']);
    expect(textOf(chunks)).toBe('Done');
  });

  it.each<[string, Parameters<typeof killed>[0], object]>([
    ['is canceled when that was asked for while no instance had it', {
      ...torn,
      between: (b, runId) => b.runs.cancel(me, runId),
    }, { state: 'cancelled' }],
    ['ends where its request forbids that it goes on', { ...torn, request: { limits: { recoveries: 0 } } }, {
      state: 'interrupted',
      error: { details: { why: 'recovery_off' } },
    }],
    ['ends where authorize forbids that it goes on', {
      ...torn,
      after: { authorize: (action) => ({ decision: action === 'run.recover' ? 'deny' : 'allow', reason: 'No' }) },
    }, { state: 'interrupted', error: { code: 'forbidden' } }],
    ['ends where its agent was disabled meanwhile', { ...torn, agent: { visibility: 'disabled' } }, {
      state: 'interrupted',
      error: { code: 'forbidden' },
    }],
    ['ends where the call that was cut has used up its budget', {
      ...torn,
      request: { budget: { tokens: 140 } },
    }, { state: 'stopped', error: { code: 'budget_exceeded' } }],
  ])('%s', async (_, terms, end) => {
    const { b, chunks, model } = await killed(terms);
    const run = lastData(chunks, 'data-run');
    expect(run).toMatchObject(end);
    expect(b.metrics.text()).toContain(`pinnace_runs_total{state="${String(run['state'])}"} 1`);
    expect(model.calls).toEqual([]);
  });

  it('ends where no instance has its code for half a minute, and waits until then', async () => {
    const storage = memoryStorage();
    const dying = mortal(storage);
    const agents = [defineAgent({ id: 'coded', name: 'Coded', providerId: 'default', instructions: () => 'Be brief' })];
    const coded = (source: Source, kept: Storage, own: Options = {}) =>
      testRuntime({ ...scriptedModel(source), storage: kept, ...own });
    const first = coded(() => stallingStream(says('One', 'more').slice(0, 3)), dying.storage, { agents });
    const { runId } = await first.start(runRequest({ agentId: 'coded' }), me, {});
    await first.runs.cursor(me, runId, 0).then((cursor) => cursor.next());
    dying.kill();
    const [without, with_] = [coded(says('Never'), storage), coded(says('Done'), storage, { agents })];
    const chunks = await recordedChunks(without, runId);
    expect(lastData(chunks, 'data-run')).toMatchObject({
      state: 'interrupted',
      error: { details: { why: 'no_instance_fits' } },
    });
    expect(await with_.runs.status(me, runId)).toMatchObject({ state: 'interrupted' });
  });

  it('goes on as its agent was when it started, after a deploy that has changed it', async () => {
    const { chunks, model } = await killed({
      ...torn,
      before: { agent: { instructions: 'Speak as a sailor' } },
      agent: { instructions: 'Speak as a lawyer', revision: 2 },
    });
    expect(textOf(chunks)).toContain('All done');
    expect(JSON.stringify(model.calls[0]?.prompt)).toContain('as a sailor');
    expect(JSON.stringify(model.calls[0]?.prompt)).not.toContain('as a lawyer');
  });

  it('makes a call with the secret of today, which nothing has stored', async () => {
    const used: string[] = [];
    const paying = (value: string, work: () => string | Promise<string>): Options => ({
      secrets: memorySecrets({ k: { value, origins: ['code'] } }),
      tools: [defineTool({
        id: 'pay',
        description: 'Looks up a payment',
        annotations: { readOnlyHint: true },
        input: v.object({}),
        secrets: [{ id: 'k' }],
        execute: (_, { secrets }) => (used.push(secrets['k']!.reveal()), work()),
      })],
    });
    const { chunks, storage } = await killed({
      first: [callsTools({ tool: 'pay', input: {} })],
      second: [callsTools({ tool: 'pay', input: {} }), says('Paid')],
      until: { type: 'tool-input-available', count: 1 },
      before: paying('old-canary', () => new Promise<string>(() => undefined)),
      after: paying('new-canary', () => 'paid'),
    });
    expect(textOf(chunks)).toBe('Paid');
    expect(used).toContain('new-canary');
    expect(JSON.stringify(await storage.list({ prefix: [], limit: 1000 }))).not.toMatch(/old-canary|new-canary/);
  });
});

describe('a process that is stopped for 20 s, and goes on', () => {
  it.each(['owner', 'observer', 'storage'] as const)(
    'where it is the %s, ends the run once and acts once',
    async (who) => {
      const storage = memoryStorage();
      const [here, there] = [tools(), tools()];
      const [one, two] = [stoppable(storage), stoppable(storage)];
      const gate = Promise.withResolvers<void>();
      const gated: Source = () =>
        new ReadableStream({
          async start(controller) {
            for (const part of says('Half ').slice(0, 3)) controller.enqueue(part);
            await gate.promise; // the owner's own model answers when the owner goes on
            controller.enqueue({ type: 'text-end', id: 't' });
            for (const part of act.slice(1)) controller.enqueue(part);
            controller.close();
          },
        });
      const a = testRuntime({ ...scriptedModel(look, gated, says('Done')), storage: one.storage, tools: here.tools });
      const model = scriptedModel(act, says('Done'));
      const b = testRuntime({ ...model, storage: two.storage, tools: there.tools });
      const { runId } = await a.start(runRequest(), me, {});
      const cursor = await a.runs.cursor(me, runId, 0);
      for (let seen = ''; !seen.includes('Half');) seen += JSON.stringify(await cursor.next() ?? []);
      cursor.close();
      // Asks for the run, so that its owner is observed. It is cut where the storage is silent for 5 s.
      const reading = recordedChunks(b, runId).catch(() => undefined);
      await pass(3_000);
      const goOn = [...who === 'observer' ? [] : [one.stop()], ...who === 'owner' ? [] : [two.stop()]];
      await pass(20_000);
      goOn.forEach((go) => go());
      gate.resolve();
      const chunks = await reading ?? await recordedChunks(b, runId);
      expect(terminalChunks(chunks)).toHaveLength(1);
      expect(lastData(chunks, 'data-run')).toMatchObject({ state: 'completed' });
      await expect.poll(() => a.runs.open + b.runs.open).toBe(0);
      expect([...here.made, ...there.made].filter((call) => call.startsWith('act '))).toHaveLength(1);
      expect(await recordedChunks(a, runId)).toEqual(chunks);
      if (who === 'observer') expect([model.calls, here.made.length]).toEqual([[], 3]);
    },
  );
});

/** Waits until so much of the hurried time has passed. */
async function pass(ms: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, ms));
}
