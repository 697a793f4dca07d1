import fc from 'fast-check';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { hurry } from '../../fixtures/processes/hurry.ts';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { createPrincipal, defineTool, type HostedRuntime, localPrincipal, type Storage } from '../../../src/index.ts';
import { memorySink } from '../../../adapters/sinks/memory.ts';
import { callsTools, says, type ScriptedModel, scriptedModel, stallingStream, streamOf } from '../../fixtures/model.ts';
import { lastData, readAll, runRequest, terminalChunks, testRuntime, textOf } from '../../fixtures/runtime.ts';
import { runs } from '../../fixtures/budget.ts';

const me = localPrincipal();
const idempotency = { key: 'a-key-of-16-chars', fingerprint: 'f' };
const hello = () => scriptedModel(says('Hel', 'lo'));
/** A model whose answer takes longer than one commit, so that a second one follows. */
const slow = () =>
  scriptedModel(() =>
    streamOf(says('a', 'b')).pipeThrough(
      new TransformStream({
        async transform(part, controller) {
          await new Promise((resolve) => setTimeout(resolve, 8));
          controller.enqueue(part);
        },
      }),
    )
  );
const stalled = () => scriptedModel(() => stallingStream(says('Hel').slice(0, 3)));

/** Two runtimes on one storage, as two instances behind a load balancer. */
function twoInstances(first: ScriptedModel, second: ScriptedModel = hello(), now: () => number = Date.now) {
  const storage = memoryStorage({ now });
  return { storage, a: testRuntime({ ...first, storage, now }), b: testRuntime({ ...second, storage, now }) };
}

/** The texts of a run's events from one on, to the end. */
async function eventsOf(runtime: HostedRuntime, runId: string, after = 0): Promise<string[]> {
  const cursor = await runtime.runs.cursor(me, runId, after);
  const texts: string[] = [];
  for (let events = await cursor.next(); events; events = await cursor.next()) {
    texts.push(...events.map(({ text }) => text));
  }
  cursor.close();
  return texts;
}

/** Gives each part in a turn of the event loop of its own. */
function inTurns<T>(parts: ReadableStream<T>): ReadableStream<T> {
  return parts.pipeThrough(
    new TransformStream({
      async transform(part, controller) {
        await new Promise((resolve) => setTimeout(resolve, 0));
        controller.enqueue(part);
      },
    }),
  );
}

/** A storage that fails after this many commits. */
function failingStorage(commits: number): Storage {
  const storage = memoryStorage();
  let left = commits;
  return {
    ...storage,
    commit: (changes) => left-- > 0 ? storage.commit(changes) : Promise.reject(new Error('disk sk-SECRET on fire')),
  };
}

hurry();

describe('the run log', () => {
  it('replays a finished run on another instance byte for byte, without its model', async () => {
    const other = hello();
    const { a, b } = twoInstances(hello(), other);
    const { runId, ended } = await a.start(runRequest(), me, { idempotency });
    const live = await eventsOf(a, runId);
    await ended;
    const again = await b.start(runRequest(), me, { idempotency });
    expect(again).toMatchObject({ runId, known: { state: 'completed' } });
    expect(await eventsOf(b, runId)).toEqual(live);
    expect(other.calls).toHaveLength(0);
  });

  it('lets another instance follow a live run, and returns every event', async () => {
    const gate = Promise.withResolvers<void>();
    const work = defineTool({ id: 'work', description: 'Works', input: v.object({}), execute: () => gate.promise });
    const storage = memoryStorage();
    const a = testRuntime({
      ...scriptedModel(callsTools({ tool: 'work', input: {} }), says('done')),
      storage,
      tools: [work],
    });
    const b = testRuntime({ ...hello(), storage });
    const { runId } = await a.start(runRequest(), me, {});
    const followed = eventsOf(b, runId);
    gate.resolve();
    expect(await followed).toEqual(await eventsOf(a, runId));
  });

  it('returns the same run for the same key to any number of concurrent requests', async () => {
    const model = hello();
    const { a, b } = twoInstances(model, model);
    const started = await Promise.all(
      Array.from({ length: 20 }, (_, i) => (i % 2 ? a : b).start(runRequest(), me, { idempotency })),
    );
    expect(new Set(started.map(({ runId }) => runId)).size).toBe(1);
    expect(started.filter(({ known }) => !known)).toHaveLength(1);
    for (const { ended } of started) await ended;
    expect(model.calls).toHaveLength(1);
  });

  it('refuses the same key for another request', async () => {
    const { a } = twoInstances(hello());
    await a.start(runRequest(), me, { idempotency });
    const other = a.start(runRequest(), me, { idempotency: { ...idempotency, fingerprint: 'g' } });
    await expect(other).rejects.toMatchObject({ code: 'idempotency_key_reused', status: 422 });
  });

  it('does not claim the key of a rejected request', async () => {
    const { a } = twoInstances(hello());
    await expect(a.start({ agentId: 'nobody' }, me, { idempotency })).rejects.toMatchObject({
      code: 'invalid_argument',
    });
    const { known, ended } = await a.start(runRequest(), me, { idempotency });
    expect(known).toBeUndefined();
    await ended;
  });

  it('frees the key when the retention is over, and reports the run as expired', async () => {
    let time = 1_800_000_000_000;
    const { a } = twoInstances(hello(), hello(), () => time);
    const { runId, ended } = await a.start(runRequest(), me, { idempotency });
    await ended;
    time += 86_400_001;
    await expect(a.runs.status(me, runId)).rejects.toMatchObject({ code: 'run_expired', status: 410 });
    const next = await a.start(runRequest(), me, { idempotency });
    expect(next.runId).not.toBe(runId);
    await next.ended;
  });

  it("hides runs of other tenants and of agents that are not the caller's", async () => {
    const { a } = twoInstances(hello());
    const { runId, ended } = await a.start(runRequest(), me, {});
    await ended;
    const stranger = createPrincipal({ ...me, tenant: 'other' });
    const limited = createPrincipal({ ...me, agents: ['another'] });
    for (const principal of [stranger, limited]) {
      await expect(a.runs.status(principal, runId)).rejects.toMatchObject({ code: 'not_found' });
      await expect(a.runs.cursor(principal, runId, 0)).rejects.toMatchObject({ code: 'not_found' });
      await expect(a.runs.cancel(principal, runId)).rejects.toMatchObject({ code: 'not_found' });
    }
  });

  it('stops a run that another instance executes', async () => {
    const { a, b } = twoInstances(stalled());
    const { runId } = await a.start(runRequest(), me, {});
    const events = eventsOf(a, runId);
    await b.runs.cancel(me, runId);
    expect((await events).at(-1)).toBe('{"type":"abort","reason":"cancelled"}');
    await b.runs.cancel(me, runId);
    expect(await b.runs.status(me, runId)).toMatchObject({ state: 'cancelled' });
  });

  it('finds the running run of a chat, and none when it has ended', async () => {
    const { a, b } = twoInstances(stalled());
    const { runId, ended } = await a.start(runRequest(), me, {});
    expect(await b.runs.ofChat(me, 'chat-1')).toMatchObject({ runId });
    await a.runs.cancel(me, runId);
    await ended;
    expect(await b.runs.ofChat(me, 'chat-1')).toBeUndefined();
  });

  it('refuses a cursor that the run does not have', async () => {
    const { a } = twoInstances(hello());
    const { runId, ended } = await a.start(runRequest(), me, {});
    await ended;
    for (const after of [-1, 0.5, 1_000, NaN]) {
      await expect(a.runs.cursor(me, runId, after)).rejects.toMatchObject({ code: 'last_event_id_invalid' });
    }
  });

  it('goes on for a while when the last reader leaves, and lets one come back', async () => {
    const storage = memoryStorage();
    const runtime = testRuntime({ ...stalled(), storage, limits: { detachGraceMs: 10 } });
    const { runId, ended } = await runtime.start(runRequest(), me, {});
    const first = await runtime.runs.cursor(me, runId, 0);
    await first.next();
    first.close();
    const second = await runtime.runs.cursor(me, runId, 0);
    expect(await second.next()).toBeDefined();
    second.close();
    await ended;
    expect((await eventsOf(runtime, runId)).at(-1)).toBe('{"type":"abort","reason":"client_gone"}');
  });

  it('ends a run whose instance was lost as interrupted, and reports its tool calls with unknown outcomes', async () => {
    let time = 1_800_000_000_000;
    const work = defineTool({
      id: 'work',
      description: 'Works',
      input: v.object({}),
      execute: () => new Promise(() => undefined),
    });
    const storage = memoryStorage({ now: () => time });
    const gone = frozen(storage);
    const a = testRuntime({
      ...scriptedModel(callsTools({ tool: 'work', input: {} })),
      storage: gone.storage,
      tools: [work],
      now: () => time,
    });
    const b = testRuntime({ ...hello(), storage, now: () => time, recovery: false });
    const { runId } = await a.start(runRequest(), me, { idempotency });
    await gone.whenWritten(['run', runId, 'call', 'call-0']);
    gone.freeze(); // the process is killed: nothing it does reaches the storage any more
    time += 26_000;
    const texts = await eventsOf(b, runId);
    const chunks = texts.map((text) => JSON.parse(text) as Parameters<typeof terminalChunks>[0][number]);
    expect(chunks.filter(({ type }) => type === 'tool-input-available')).toHaveLength(1);
    expect(chunks.find(({ type }) => type === 'data-tool-error')).toMatchObject({
      data: { code: 'outcome_unknown', tool: 'work' },
    });
    expect(terminalChunks(chunks)).toMatchObject([{ type: 'error' }]);
    expect(await b.runs.status(me, runId)).toMatchObject({
      state: 'interrupted',
      error: { details: { reason: 'worker_lost' } },
    });
    const [head] = await storage.list({ prefix: ['run', runId, 'head'], limit: 1 });
    const { state, ...rest } = head!.value as { state: object };
    await storage.commit([{ key: head!.key, value: { ...rest, state: { ...state, state: 'failed' } } }]); // as in 0.2
    expect(await b.runs.status(me, runId)).toMatchObject({ state: 'interrupted' });
    expect((await b.start(runRequest(), me, { idempotency })).runId).toBe(runId);
  });

  it('commits together what comes within the spacing, and loses nothing of it', async () => {
    const words = Array.from({ length: 40 }, (_, at) => `${at} `);
    const countCommits = async (commitSpacingMs: number): Promise<number> => {
      const storage = memoryStorage();
      let commits = 0;
      const counted: Storage = {
        ...storage,
        commit(changes) {
          if (changes.some(({ key }) => key[0] === 'run')) commits += 1; // and no sign of life
          return storage.commit(changes);
        },
      };
      const speaker = scriptedModel(() => inTurns(streamOf(says(...words))));
      const runtime = testRuntime({ ...speaker, storage: counted, limits: { commitSpacingMs } });
      expect(textOf(await readAll(await runtime.run(runRequest(), me)))).toBe(words.join(''));
      return commits;
    };
    expect(await countCommits(60_000)).toBeLessThan(10); // the claim, the first words, the end
    expect(await countCommits(0)).toBeGreaterThan(20);
  });

  it('is taken over once, however many find it lost, and its former owner can write no more', async () => {
    let time = 1_800_000_000_000;
    const storage = memoryStorage({ now: () => time });
    const gone = frozen(storage);
    const a = testRuntime({ ...stalled(), storage: gone.storage, now: () => time });
    const { runId } = await a.start(runRequest(), me, {});
    const mine = eventsOf(a, runId);
    const others = [1, 2, 3].map(() => testRuntime({ ...hello(), storage, now: () => time, recovery: false }));
    gone.freeze('instance');
    const ends = await Promise.all(others.map((runtime) => eventsOf(runtime, runId)));
    await a.runs.cancel(me, runId);
    for (const end of ends) expect(end).toEqual(ends[0]);
    expect(ends[0]?.filter((text) => text.includes('"type":"error"'))).toHaveLength(1);
    await a.close();
    expect((await mine).at(-1)).toBe(ends[0]?.at(-1));
  });

  it.each([
    ['goes on and is cancelled', (a: HostedRuntime, runId: string) => a.runs.cancel(me, runId)],
    ['ends by itself', async (_: HostedRuntime, __: string, finish: () => void) => finish()],
  ])('emits its end once, when it is taken over while its former owner %s', async (_, how) => {
    let time = 1_800_000_000_000;
    const storage = memoryStorage({ now: () => time });
    const { sink, events } = memorySink();
    const { promise: finished, resolve: finish } = Promise.withResolvers<void>();
    const model = scriptedModel(() =>
      streamOf(says('Hel', 'lo')).pipeThrough(
        new TransformStream({
          async transform(part, controller) {
            if (part.type === 'text-delta') await finished;
            controller.enqueue(part);
          },
        }),
      )
    );
    const gone = frozen(storage);
    const a = testRuntime({ ...model, storage: gone.storage, sinks: [sink], now: () => time });
    const b = testRuntime({ ...hello(), storage, sinks: [sink], now: () => time, recovery: false });
    const { runId, ended } = await a.start(runRequest(), me, {});
    gone.freeze('instance'); // a false alarm: only its signs of life do not arrive
    await eventsOf(b, runId);
    await how(a, runId, finish);
    await ended;
    await a.close();
    const ends = events.filter(({ action }) => action === 'run.end');
    expect(ends).toMatchObject([{ status: 'error', error: { details: { reason: 'worker_lost' } } }]);
  });

  it('sends its readers the end of a run whose storage fails, without the cause', async () => {
    for (const [commits, { model }] of [[1, stalled()], [2, slow()]] as const) {
      const runtime = testRuntime({ model, storage: failingStorage(commits), limits: { storageGraceMs: 5 } });
      const chunks = await readAll(await runtime.run(runRequest(), me));
      expect(terminalChunks(chunks)).toMatchObject([{
        type: 'error',
        errorText: expect.stringMatching(/^outcome_unknown: /),
      }]);
      expect(JSON.stringify(chunks)).not.toContain('SECRET');
    }
  });

  it('refuses a run that cannot be recorded, before the model is called', async () => {
    const { model, calls } = hello();
    const runtime = testRuntime({ model, storage: failingStorage(0), limits: { storageGraceMs: 5 } });
    const run = runtime.run(runRequest(), me);
    await expect(run).rejects.toMatchObject({
      name: 'PinnaceError',
      code: 'internal',
      message: expect.not.stringContaining('on fire'),
    });
    expect(calls).toHaveLength(0);
  });

  it('does not run a tool whose call cannot be recorded', async () => {
    let ran = false;
    const work = defineTool({ id: 'work', description: 'Works', input: v.object({}), execute: () => (ran = true) });
    const { model } = scriptedModel(callsTools({ tool: 'work', input: {} }), says('x'));
    const options = { model, tools: [work], storage: failingStorage(1), limits: { storageGraceMs: 5 } };
    await readAll(await testRuntime(options).run(runRequest(), me));
    expect(ran).toBe(false);
  });

  it('ends a run that says too much', async () => {
    const { model } = scriptedModel(says(...Array.from({ length: 90 }, () => 'x'.repeat(100_000))));
    const chunks = await readAll(await testRuntime({ model }).run(runRequest(), me));
    expect(lastData(chunks, 'data-run')).toMatchObject({ state: 'stopped', error: { code: 'budget_exceeded' } });
    expect(textOf(chunks).length).toBeLessThan(8_400_000);
  });

  it('returns every event once and in order over any cuts and resumes, with one execution', async () => {
    const model = scriptedModel(says(...Array.from({ length: 30 }, (_, i) => `w${i} `)));
    const { a, b } = twoInstances(model, model);
    const { runId, ended } = await a.start(runRequest(), me, { idempotency });
    await ended;
    const all = await eventsOf(a, runId);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(fc.boolean(), fc.nat(12)), { maxLength: 12 }), async (cuts) => {
        const seen: string[] = [];
        for (const [onA, reads] of [...cuts, [true, Infinity] as const]) {
          const cursor = await (onA ? a : b).runs.cursor(me, runId, seen.length);
          for (let i = 0; i < reads; i++) {
            const events = await cursor.next();
            if (!events) break;
            // The connection is cut in the middle of what was read.
            const kept = reads === Infinity ? events : events.slice(0, reads - i);
            for (const { seq, text } of kept) {
              expect(seq).toBe(seen.length + 1);
              seen.push(text);
            }
            i += kept.length - 1;
          }
          cursor.close();
        }
        expect(seen).toEqual(all);
      }),
      { numRuns: runs(10_000) },
    );
    expect(model.calls).toHaveLength(1);
    expect(textOf(all.map((text) => JSON.parse(text) as Parameters<typeof textOf>[0][number]))).toContain('w29');
  });
});

/** A storage that can be cut off, as from a process that was killed. */
function frozen(storage: Storage) {
  let cut: unknown = false;
  const never = new Promise<never>(() => undefined);
  const waiting: { key: string; resolve: () => void }[] = [];
  return {
    /** Lets nothing through, or no change of this kind of key. */
    freeze: (of: unknown = true) => void (cut = of),
    whenWritten: (key: readonly string[]) =>
      new Promise<void>((resolve) => waiting.push({ key: JSON.stringify(key), resolve })),
    storage: {
      checks: true,
      get: (key) => (cut === true ? never : storage.get(key)),
      list: (options) => (cut === true ? never : storage.list(options)),
      async commit(changes) {
        if (cut === true || (cut !== false && changes.some(({ key }) => key[0] === cut))) return await never;
        const result = await storage.commit(changes);
        for (const { key } of changes) waiting.find((waiter) => waiter.key === JSON.stringify(key))?.resolve();
        return result;
      },
    } satisfies Storage,
  };
}
