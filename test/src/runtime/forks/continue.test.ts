import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import { localPrincipal, PinnaceError, type Storage } from '../../../../src/index.ts';
import type { ToolContext } from '../../../../src/tools/index.ts';
import { forked, forkTools, ran } from '../../../fixtures/forks/forks.ts';
import { callsTools, says, scriptedModel, type Source, stallingStream } from '../../../fixtures/model.ts';
import { lastData, readAll, runRequest, testRuntime, textOf } from '../../../fixtures/runtime.ts';

const principal = localPrincipal();
const look = callsTools({ tool: 'look', input: {}, id: 'l' });
const act = callsTools({ tool: 'act', input: { seats: 2 }, id: 'a' }, { tool: 'look', input: {}, id: 'l' });

/** An instance whose clock shows that the other one is lost, on the same storage, with the tools of both. */
function later(storage: Storage, scripts: readonly Source[], kit = forkTools()) {
  const scripted = scriptedModel(...scripts);
  const runtime = testRuntime({
    ...scripted,
    storage,
    tools: kit.tools,
    keep: 'inputs',
    now: () => Date.now() + 60_000,
  });
  return { runtime, scripted, kit };
}

/** Starts a run that stalls, and returns its id once its stream has shown a chunk of this type so often. */
async function stalled(
  storage: Storage,
  scripts: readonly Source[],
  until: { type: string; count: number },
  kit = forkTools(),
) {
  const runtime = testRuntime({ model: scriptedModel(...scripts).model, storage, tools: kit.tools, keep: 'inputs' });
  const reader = (await runtime.run(runRequest(), principal)).getReader();
  let runId = '';
  for (let count = 0; count < until.count;) {
    const { value } = await reader.read();
    if (value?.type === 'data-run') runId = String(value.id);
    if (value?.type === until.type) count++;
  }
  return { runId, kit, stop: () => runtime.close() };
}

const saysPart = () => stallingStream(says('Half of an ', 'answer').slice(0, 3));

describe('continuing a lost run', () => {
  it('asks the model of the torn step again when no call of it was made', async () => {
    const storage = memoryStorage();
    const { runId, stop } = await stalled(storage, [look, saysPart], { type: 'text-delta', count: 1 });
    const { runtime, scripted } = later(storage, [says('All done')]);
    const { chunks } = await forked(runtime, runId, {});
    expect(textOf(chunks)).toBe('All done');
    expect(chunks.filter(({ type }) => type === 'start-step')).toHaveLength(2);
    expect(lastData(chunks, 'data-fork')).toMatchObject({
      parent: runId,
      atStep: 2,
      effects: 'live',
      chatId: 'chat-1',
      exact: true,
    });
    expect(scripted.calls).toHaveLength(1);
    expect(await runtime.runs.ofChat(principal, 'chat-1', { ended: true })).toMatchObject({ state: 'completed' });
    await stop();
  });

  it('never makes a call again that may have acted: its outcome is unknown to the model', async () => {
    const storage = memoryStorage();
    const kit = forkTools();
    const stuck = {
      ...kit.tools[1]!,
      execute: (input: unknown, context: ToolContext) => {
        void kit.tools[1]!.execute(input, context);
        return new Promise(() => undefined);
      },
    };
    const { runId, stop } = await stalled(storage, [act], { type: 'tool-output-available', count: 1 }, {
      ...kit,
      tools: [kit.tools[0]!, stuck, kit.tools[2]!],
    });
    const { runtime, scripted } = later(storage, [says('I do not know')], kit);
    const { chunks } = await forked(runtime, runId, {});
    expect(kit.effects).toHaveLength(1);
    expect(lastData(chunks, 'data-tool-error')).toMatchObject({ toolCallId: 'a', code: 'outcome_unknown' });
    expect(JSON.stringify(scripted.calls[0]?.prompt.at(-1))).toContain('The outcome of tool \\"act\\" is unknown');
    expect(lastData(chunks, 'data-fork')).toMatchObject({ atStep: 2 });
    expect(textOf(chunks)).toBe('I do not know');
    await stop();
  });

  it('keeps the outcomes that were recorded', async () => {
    const storage = memoryStorage();
    const { runId, kit, stop } = await stalled(storage, [act, saysPart], { type: 'text-delta', count: 1 });
    const { runtime, scripted } = later(storage, [says('Booked')], kit);
    const { chunks } = await forked(runtime, runId, {});
    expect(kit.effects).toHaveLength(1);
    expect(scripted.calls).toHaveLength(1);
    expect(scripted.calls[0]?.prompt.at(-1)).toMatchObject({
      role: 'tool',
      content: [{ toolCallId: 'a' }, { toolCallId: 'l' }],
    });
    expect(textOf(chunks)).toBe('Booked');
    await stop();
  });

  it('happens once: of two at the same time, the second is refused with the id of the first', async () => {
    const storage = memoryStorage();
    const { runId, kit, stop } = await stalled(storage, [act, saysPart], { type: 'text-delta', count: 1 });
    const instances = [later(storage, [says('One')], kit), later(storage, [says('Two')], kit)];
    await instances[0]!.runtime.runs.status(principal, runId); // finds it lost
    const results = await Promise.allSettled(instances.map(({ runtime }) => forked(runtime, runId, {})));
    const [won] = results.flatMap((result) => result.status === 'fulfilled' ? [result.value] : []);
    const refused = results.flatMap((result) => result.status === 'rejected' ? [result.reason as PinnaceError] : []);
    expect(refused).toHaveLength(1);
    expect(refused[0]).toMatchObject({ code: 'conflict', details: { reason: 'already_continued', runId: won?.runId } });
    expect((await instances[0]!.runtime.forks(runId, principal)).items).toHaveLength(1);
    await stop();
  });

  it('returns the same run for the same idempotency key, and when the answer of its claim was lost', async () => {
    const storage = memoryStorage();
    const { runId, kit, stop } = await stalled(storage, [act, saysPart], { type: 'text-delta', count: 1 });
    let losses = 1;
    const losing: Storage = {
      ...storage,
      async commit(changes) {
        const result = await storage.commit(changes);
        if (changes.some(({ key }) => key.includes('continued')) && losses-- > 0) {
          throw new PinnaceError('unavailable', 'No', { details: { reason: 'storage_blocked' } });
        }
        return result;
      },
    };
    const { runtime } = later(losing, [says('One')], kit);
    const call = { idempotencyKey: 'continue-it-once' };
    const first = await readAll(await runtime.fork(runId, {}, principal, call));
    const second = await readAll(await runtime.fork(runId, {}, principal, call));
    expect(losses).toBe(0);
    expect(second).toEqual(first);
    expect(textOf(first)).toBe('One');
    await expect(runtime.fork(runId, {}, principal)).rejects.toMatchObject({
      details: { reason: 'already_continued' },
    });
    await stop();
  });

  it('is for lost runs, and has no changes', async () => {
    const storage = memoryStorage();
    const { runtime } = later(storage, [says('Done')]);
    const { runId } = await ran(runtime);
    await expect(runtime.fork(runId, {}, principal)).rejects.toMatchObject({
      code: 'conflict',
      details: { reason: 'run_not_lost' },
    });
    for (const options of [{ effects: 'dry' as const }, { changes: { instructions: 'x' } }]) {
      await expect(runtime.fork(runId, options, principal)).rejects.toMatchObject({ code: 'invalid_argument' });
    }
  });
});
