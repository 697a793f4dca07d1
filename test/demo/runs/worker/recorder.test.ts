import { describe, expect, it, vi } from 'vitest';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import type { RunRecord } from '../../../../demo/control/runs-control.ts';
import { stateOfRun } from '../../../../demo/kit/run-status.tsx';
import { maxEventsOfRun } from '../../../../demo/runs/worker/live-run.ts';
import { createRecorder, type Recorder } from '../../../../demo/runs/worker/recorder.ts';
import { createRunStore } from '../../../../demo/runs/worker/run-store.ts';
import type { ObservedEvent } from '../../../../src/contracts/event-sink.ts';
import type { Storage } from '../../../../src/contracts/storage.ts';
import { emittedRun, emitter, longRun, runTrace } from '../../../fixtures/run-events.ts';

function startRecorder(storage: Storage = memoryStorage()) {
  const store = createRunStore(storage);
  const recorder = createRecorder({ store, toolsOf: async () => ({ digest: 'd', tools: [] }), writeEveryMs: 5 });
  return { store, recorder };
}

const emitAll = (recorder: Recorder, events: readonly ObservedEvent[]): void =>
  events.forEach((event) => recorder.sink(event));

/** What is stored, once it is all of these. */
async function storedOf(storage: Storage, events: readonly ObservedEvent[]): Promise<RunRecord | undefined> {
  const { store } = startRecorder(storage);
  await vi.waitFor(async () => expect((await store.read(runTrace))?.events.length).toBe(events.length));
  return await store.read(runTrace);
}

describe('createRecorder', () => {
  it('goes on with a run that a worker before it has begun, as a plan does after a reload', async () => {
    const storage = memoryStorage();
    const events = emittedRun();
    emitAll(startRecorder(storage).recorder, events.slice(0, 6));
    await storedOf(storage, events.slice(0, 6));
    const { recorder } = startRecorder(storage);
    const news: ObservedEvent[] = [];
    recorder.watch((one) => void news.push(...one.events));
    emitAll(recorder, events.slice(6));
    const stored = await storedOf(storage, events);
    expect(stored?.events).toEqual(events);
    expect(stored?.head).toMatchObject({ status: 'ok', modelCalls: 2, toolCalls: 2, events: events.length });
    await vi.waitFor(() => expect(news).toEqual(events.slice(6)));
  });

  it('names a run by its question, and tells one that waits from one that was interrupted', async () => {
    const storage = memoryStorage();
    const store = createRunStore(storage);
    const recorder = createRecorder({
      store,
      toolsOf: async () => ({ digest: 'd', tools: [] }),
      questionOf: (traceId) => `What is ${traceId}?`,
      writeEveryMs: 5,
    });
    const { events, start } = emitter();
    const run = start('run.start', { id: 'logbook', payload: { runId: 'run_1' } });
    start('model.call', { parent: run }).end();
    emitAll(recorder, events);
    await vi.waitFor(async () => expect((await store.heads())[0]).toMatchObject({ question: `What is ${runTrace}?` }));
    const [running] = (await recorder.list()).runs;
    expect(running && stateOfRun(running)).toBe('running');
    const [cut] = (await startRecorder(storage).recorder.list()).runs;
    expect(cut && stateOfRun(cut)).toBe('interrupted');
    const before = events.length;
    run.end({ payload: { state: 'awaiting_approval' } });
    emitAll(recorder, events.slice(before));
    const [waiting] = (await recorder.list()).runs;
    expect(waiting && stateOfRun(waiting)).toBe('waiting');
    const ends = ['completed', 'awaiting_approval', 'stopped', 'cancelled', 'failed', 'interrupted'];
    const statuses = ['ok', 'ok', 'error', 'cancelled', 'error', 'error'] as const;
    expect(ends.map((end, at) => stateOfRun({ status: statuses[at] ?? 'ok', end })))
      .toEqual(['done', 'waiting', 'stopped', 'stopped', 'failed', 'interrupted']);
  });

  it('keeps what a plan did before its run has started', async () => {
    const { recorder } = startRecorder();
    const all = emittedRun();
    const [start, ...others] = all;
    const earlier = others.slice(0, 3);
    emitAll(recorder, earlier);
    await recorder.list(); // nothing is stored of it
    emitAll(recorder, start ? [start, ...others.slice(3)] : []);
    const { events } = await recorder.run(runTrace);
    expect(new Set(events)).toEqual(new Set(all));
  });

  it('names the run that a fork is of', async () => {
    const { recorder } = startRecorder();
    emitAll(recorder, emittedRun());
    const { events, start } = emitter({ traceId: 'f'.repeat(32) });
    start('run.fork', { id: 'run_0', payload: { atStep: 2 } }).end({ payload: { runId: 'run_1' } });
    emitAll(recorder, events);
    expect((await recorder.list()).runs).toMatchObject([{ runId: 'run_1', forkOf: 'run_0' }]);
  });

  it('keeps a long run in parts, whole', async () => {
    const storage = memoryStorage();
    const events = longRun(2500);
    emitAll(startRecorder(storage).recorder, events);
    expect((await storedOf(storage, events))?.events).toEqual(events);
    expect((await storage.list({ prefix: ['events'], limit: 100 })).length).toBeGreaterThan(1);
  });

  it('counts what there is no room for', async () => {
    const { recorder } = startRecorder();
    const [event] = emittedRun();
    emitAll(recorder, Array.from({ length: maxEventsOfRun + 5 }, () => event!));
    const { head, events } = await recorder.run(runTrace);
    expect(head).toMatchObject({ events: maxEventsOfRun, dropped: 5 });
    expect(events).toHaveLength(maxEventsOfRun);
  });

  it('forgets a run that was erased while it goes on', async () => {
    const storage = memoryStorage();
    const { recorder } = startRecorder(storage);
    const events = emittedRun();
    emitAll(recorder, events.slice(0, 5));
    await recorder.erase();
    emitAll(recorder, events.slice(5));
    await vi.waitFor(async () => expect(await storage.list({ prefix: [], limit: 100 })).toEqual([]));
    expect((await recorder.list()).runs).toEqual([]);
    await expect(recorder.run(runTrace)).rejects.toMatchObject({ code: 'not_found' });
  });
});
