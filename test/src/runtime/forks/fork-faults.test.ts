import { describe, expect, it } from 'vitest';
import { declareDead, recovered } from '../../../fixtures/processes/lost-instance.ts';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import { localPrincipal, type Storage } from '../../../../src/index.ts';
import { killedAfter } from '../../../fixtures/chance/killed-storage.ts';
import { forked, forkRuntime, forkTools, ran } from '../../../fixtures/forks/forks.ts';
import { callsTools, says, scriptedModel } from '../../../fixtures/model.ts';
import { lastData, readAll, runRequest, testRuntime } from '../../../fixtures/runtime.ts';

const principal = localPrincipal();

/** Answers by what the prompt holds, as a model does that is asked again. */
function model() {
  const act = callsTools({ tool: 'act', input: { seats: 2 }, id: 'a' });
  const look = callsTools({ tool: 'look', input: {}, id: 'l' });
  const { model: inner } = scriptedModel(says());
  const doStream: typeof inner.doStream = (options) => {
    const results = options.prompt.filter(({ role }) => role === 'tool').length;
    return scriptedModel([look, act, says('All done')][results] ?? says('All done')).model.doStream(options);
  };
  return { ...inner, doStream };
}

const later = (storage: Storage, tools: ReturnType<typeof forkTools>['tools']) =>
  testRuntime({ model: model(), storage, tools, keep: 'inputs' });

describe('a run that is killed and continued', () => {
  it('acts once at most, wherever its instance was killed', async () => {
    let killed = 0;
    for (let commits = 1; commits <= 12; commits++) {
      const inner = memoryStorage();
      const kit = forkTools();
      const { storage, killed: isKilled } = killedAfter(inner, commits);
      const first = testRuntime({ model: model(), storage, tools: kit.tools, keep: 'inputs' });
      const ended = first.run(runRequest(), principal).then(readAll).then(() => false);
      if (!await Promise.race([isKilled, ended])) continue;
      killed++;
      const runtime = later(inner, kit.tools);
      const runId = (await runtime.runs.ofChat(principal, 'chat-1', { ended: true }))?.runId;
      if (runId === undefined) continue;
      const chunks = await recovered(runtime, runId, inner);
      expect(lastData(chunks, 'data-run')['state'], `killed after ${commits}`).toBe('completed');
      const isUnknown = JSON.stringify(chunks).includes('outcome_unknown');
      expect(kit.effects.length, `killed after ${commits}`).toBeLessThanOrEqual(1);
      if (!isUnknown) expect(kit.effects, `killed after ${commits}`).toHaveLength(1);
    }
    expect(killed).toBeGreaterThan(2);
  });

  it('acts once at most when a fork is killed at each of its own steps: it ends as interrupted', async () => {
    let [killed, before] = [0, 0];
    for (let commits = 0; commits <= 12; commits++) {
      const where = `killed after ${commits}`;
      const inner = memoryStorage();
      const kit = forkTools();
      const { runId } = await ran(testRuntime({ model: model(), storage: inner, tools: kit.tools, keep: 'inputs' }));
      expect(kit.effects).toHaveLength(1);
      const lost = killedAfter(inner, commits);
      const own = testRuntime({ model: model(), storage: lost.storage, tools: kit.tools, keep: 'inputs' });
      const options = { atStep: 1, chatId: 'fork', effects: 'live' as const };
      const ended = forked(own, runId, options).then(() => false);
      if (!await Promise.race([lost.killed, ended])) continue;
      killed++;
      await declareDead(inner);
      const runtime = later(inner, kit.tools);
      const fork = await runtime.runs.ofChat(principal, 'fork', { ended: true });
      const { items } = await runtime.forks(runId, principal);
      expect(items.map((item) => item.runId), where).toEqual(fork ? [fork.runId] : []); // listed with its claim
      if (!fork) {
        before++;
        expect(kit.effects, where).toHaveLength(1);
        continue;
      }
      const chunks = await recovered(runtime, fork.runId, inner);
      expect(lastData(chunks, 'data-run'), where).toMatchObject({
        state: 'interrupted',
        error: { details: { reason: 'worker_lost', why: 'fork' } },
      });
      expect(kit.effects.length, where).toBeLessThanOrEqual(2);
      expect(await runtime.runs.status(principal, runId), where).toMatchObject({ state: 'completed' });
    }
    expect(killed - before).toBeGreaterThan(1); // the claim, the side effect, the end
    expect(before).toBeGreaterThan(0);
  });

  it('takes no copy of what it shares: a fork is written with less than 2 KiB', async () => {
    const inner = memoryStorage();
    let bytes = 0;
    const storage: Storage = {
      ...inner,
      commit(changes) {
        if (changes.some(({ key }) => key[0] === 'fork')) {
          bytes = changes.filter(({ key }) => !key.includes('basis') && key[0] !== 'owned' && key[0] !== 'instance')
            .reduce(
              (sum, change) => sum + JSON.stringify(change).length,
              0,
            );
        }
        return inner.commit(changes);
      },
    };
    const words = Array.from({ length: 200 }, (_, i) => `word${i} `);
    const { runtime } = forkRuntime({
      model: scriptedModel(callsTools({ tool: 'look', input: {} }), says(...words), says('Short')).model,
      storage,
    });
    const { runId } = await ran(runtime, runRequest());
    const reader = (await runtime.fork(runId, { atStep: 3 }, principal)).getReader();
    let shared = 0;
    for (let own = false; !own; shared++) {
      const { value } = await reader.read();
      own = value?.type === 'text-delta' && value.delta === 'Short';
    }
    expect(shared).toBeGreaterThan(200);
    expect(bytes).toBeGreaterThan(0);
    expect(bytes).toBeLessThan(2048);
  });
});
