import { describe, expect, it } from 'vitest';
import { recovered } from '../../../fixtures/processes/lost-instance.ts';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import { localPrincipal, type Storage, type UIMessage, type UIMessageChunk } from '../../../../src/index.ts';
import { killedAfter } from '../../../fixtures/chance/killed-storage.ts';
import { forked } from '../../../fixtures/forks/forks.ts';
import { callsTools, says, scriptedModel } from '../../../fixtures/model.ts';
import { programSandbox } from '../../../fixtures/program-cells.ts';
import { decideAll, double, outputOf, sender, take, turnOf } from '../../../fixtures/programs.ts';
import { lastData, testRuntime, userMessage } from '../../../fixtures/runtime.ts';

const principal = localPrincipal();
const sendBoth = `const x = await tools.double({ x: 4 });
  const all = await Promise.allSettled(['ada', 'bob'].map((to) => tools.send({ to })));
  return [x, ...all.map((one) => one.value?.sent ?? one.reason.code)];`;

type Sender = ReturnType<typeof sender>['tool'];

/** An instance whose model writes the program until it has its result. */
function instance(storage: Storage, tool: Sender, { revision = 1, code = sendBoth } = {}) {
  const { model: inner } = scriptedModel(says());
  const prompts: string[] = [];
  const doStream: typeof inner.doStream = (options) => {
    prompts.push(JSON.stringify(options.prompt));
    const isDone = options.prompt.some(({ role }) => role === 'tool');
    const script = isDone ? says('Done') : callsTools({ tool: 'code_run', input: { code }, id: 'p' });
    return scriptedModel(script).model.doStream(options);
  };
  const runtime = testRuntime({
    model: { ...inner, doStream },
    storage,
    tools: [double, tool],
    sandbox: programSandbox(),
    programs: true,
    keep: 'inputs',
    agent: { entryTools: ['*', 'code_run'], revision },
  });
  return { runtime, prompts };
}

/** Starts a run whose instance is killed after so many commits; its id, if it was. */
async function killed(storage: Storage, tool: Sender, commits: number): Promise<string | undefined> {
  const lost = killedAfter(storage, commits);
  const ended = take(instance(lost.storage, tool).runtime).then(() => false);
  if (!await Promise.race([lost.killed, ended])) return undefined;
  const { runtime } = instance(storage, tool);
  return (await runtime.runs.ofChat(principal, 'chat-1', { ended: true }))?.runId;
}

/** A run whose instance is killed after the first commit behind which its program has sent, in a storage of its own. */
async function killedAfterSending() {
  for (let commits = 4;; commits++) {
    const [storage, { tool, sent }] = [memoryStorage(), sender()];
    const runId = await killed(storage, tool, commits);
    if (sent.length > 0) return { storage, tool, sent, runId };
  }
}

function failuresIn(chunks: readonly UIMessageChunk[]): readonly string[] {
  return chunks.flatMap((chunk) => chunk.type === 'tool-output-error' ? [chunk.errorText] : []);
}

describe('a program whose run is continued', () => {
  it('asks for its approvals wherever its run was killed, and goes on with them', async () => {
    let continued = 0;
    for (let commits = 1; commits <= 12; commits++) {
      const storage = memoryStorage();
      const { tool, sent } = sender('always');
      const runId = await killed(storage, tool, commits);
      if (runId === undefined) continue;
      const { runtime } = instance(storage, tool);
      const asking = await turnOf(await recovered(runtime, runId, storage));
      expect(lastData(asking.chunks, 'data-run')['state'], `killed after ${commits}`).toBe('awaiting_approval');
      const answered: UIMessage = await decideAll(runtime, asking);
      const { message, chunks } = await take(runtime, [userMessage('Go'), answered]);
      expect(lastData(chunks, 'data-run')['state'], `killed after ${commits}`).toBe('completed');
      const call = message.parts.find((part) => 'state' in part && part.state === 'output-available');
      expect(call, `killed after ${commits}`).toMatchObject({ type: 'tool-code_run', output: [8, 'ada', 'bob'] });
      expect(sent.toSorted()).toEqual(['ada', 'bob']);
      continued++;
    }
    expect(continued).toBeGreaterThan(2);
  });

  it('shows the model the result once, in the step of the lost run', async () => {
    const { storage, tool, runId } = await killedAfterSending();
    const { runtime, prompts } = instance(storage, tool);
    const chunks = await recovered(runtime, runId ?? '', storage);
    const steps = chunks.flatMap(({ type }) => type === 'start-step' || type === 'finish-step' ? [type] : []);
    expect(steps).toEqual(['start-step', 'finish-step', 'start-step', 'finish-step']);
    expect(failuresIn(chunks)).toEqual([]);
    expect(prompts).toHaveLength(1);
    expect(prompts[0]?.split('"tool-result"')).toHaveLength(2);
    expect(lastData(chunks, 'data-program')).toMatchObject({ state: 'completed', replayed: expect.any(Number) });
  });

  it('is not run again by an agent that has changed: its outcome is unknown to the model', async () => {
    const { storage, tool, sent, runId } = await killedAfterSending();
    const before = [...sent];
    const { runtime, prompts } = instance(storage, tool, { revision: 2 });
    const chunks = await recovered(runtime, runId ?? '', storage);
    expect(sent).toEqual(before);
    expect(failuresIn(chunks)).toEqual([expect.stringContaining('The outcome of tool "code_run" is unknown')]);
    expect(prompts[0]).toContain('is unknown');
  });
});

describe('a fork of a run with a program', () => {
  it('repeats nothing before its step, and shows the model the result alone', async () => {
    const { tool, sent } = sender();
    const { runtime, prompts } = instance(memoryStorage(), tool);
    const { runId } = await take(runtime);
    const { chunks } = await forked(runtime, runId, { atStep: 2 });
    expect(sent).toEqual(['ada', 'bob']);
    expect(lastData(chunks, 'data-fork')).toMatchObject({ exact: true });
    expect(prompts[2]).toBe(prompts[1]);
  });

  it('answers side effects inside of the program from the record, and refuses others', async () => {
    const { tool, sent } = sender();
    const storage = memoryStorage();
    const { runtime } = instance(storage, tool);
    const { runId } = await take(runtime);
    const dry = await turnOf((await forked(runtime, runId, { atStep: 1 })).chunks);
    expect(outputOf(dry.message)).toEqual([8, 'ada', 'bob']);
    expect(sent).toEqual(['ada', 'bob']);
    const other = instance(storage, tool, { code: sendBoth.replace('bob', 'cy') }).runtime;
    const changed = await turnOf((await forked(other, runId, { atStep: 1 })).chunks);
    expect(outputOf(changed.message)).toEqual([8, 'ada', 'forbidden']);
    const live = await turnOf((await forked(runtime, runId, { atStep: 1, effects: 'live' })).chunks);
    expect(outputOf(live.message)).toEqual([8, 'ada', 'bob']);
    expect(sent).toEqual(['ada', 'bob', 'ada', 'bob']);
  });

  it('is refused behind a program that waits for people, and starts the program anew at its step', async () => {
    const { tool, sent } = sender('always');
    const { runtime } = instance(memoryStorage(), tool);
    const { runId } = await take(runtime);
    await expect(runtime.fork(runId, { atStep: 2 }, principal)).rejects.toMatchObject({
      code: 'conflict',
      details: { reason: 'approval_open' },
    });
    const { chunks } = await forked(runtime, runId, { atStep: 1 });
    expect(lastData(chunks, 'data-run')).toMatchObject({ state: 'completed' }); // a dry run asks nobody
    expect(sent).toEqual([]);
  });
});
