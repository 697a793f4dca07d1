import { describe, expect, it } from 'vitest';
import { declareDead, recovered } from '../../../fixtures/processes/lost-instance.ts';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import { encodeSse } from '../../../../adapters/transport/http/sse.ts';
import { localPrincipal, type Storage, type UIMessageChunk } from '../../../../src/index.ts';
import { killedAfter } from '../../../fixtures/chance/killed-storage.ts';
import { callsTools, says, scriptedModel } from '../../../fixtures/model.ts';
import { programSandbox } from '../../../fixtures/program-cells.ts';
import { decideAll, double, outputOf, programRuntime, sender, take } from '../../../fixtures/programs.ts';
import { lastData, readAll, testRuntime } from '../../../fixtures/runtime.ts';

const principal = localPrincipal();
const refusal = 'Cannot go on with the program: another run goes on with it';
const names = ['ada', 'bob', 'cy'];

/** Twenty calls, three of which send. */
const program = `for (let i = 0; i < 17; i++) await tools.double({ x: i });
  const sent = await Promise.allSettled(${JSON.stringify(names)}.map((to) => tools.send({ to })));
  return sent.map((one) => one.value?.sent ?? one.reason.code);`;

/** Commits after which an instance is killed: more than a run of the program makes. */
const moments = Array.from({ length: 16 }, (_, at) => at + 1);

function instance(storage: Storage, tool: ReturnType<typeof sender>['tool'], ms = 0) {
  return programRuntime(program, { storage, tools: [double, tool], now: () => Date.now() + ms, recovery: false })
    .runtime;
}

/** An instance whose model writes the program until it has its result. */
function continuing(storage: Storage, tool: ReturnType<typeof sender>['tool']) {
  const { model: inner } = scriptedModel(says());
  const doStream: typeof inner.doStream = (options) => {
    const isDone = options.prompt.some(({ role }) => role === 'tool');
    const script = isDone ? says('Done') : callsTools({ tool: 'code_run', input: { code: program }, id: 'p' });
    return scriptedModel(script).model.doStream(options);
  };
  return testRuntime({
    model: { ...inner, doStream },
    storage,
    tools: [double, tool],
    sandbox: programSandbox(),
    programs: true,
    agent: { entryTools: ['*', 'code_run'] },
  });
}

/** The result of the program in the last of these chunks. */
function resultIn(chunks: readonly UIMessageChunk[]): unknown {
  const calls = chunks.flatMap((chunk) =>
    chunk.type === 'tool-input-available' && chunk.toolName === 'code_run' ? [chunk.toolCallId] : []
  );
  const ends = chunks.flatMap((chunk) =>
    chunk.type === 'tool-output-available' && calls.includes(chunk.toolCallId) ? [chunk.output] : []
  );
  return ends.at(-1);
}

/** Each has arrived once, or the program knows that this is unknown. */
function expectOnce(sent: readonly string[], result: unknown, where: string): void {
  expect(eachOnce(sent), `${where}: ${sent.join()}`).toBe(true);
  expect(result, where).toHaveLength(names.length);
  for (const [i, outcome] of (result as readonly unknown[]).entries()) {
    expect([names[i], 'outcome_unknown'], where).toContain(outcome);
    if (outcome === names[i]) expect(sent, where).toContain(names[i]);
  }
}

function eachOnce(sent: readonly string[]): boolean {
  return new Set(sent).size === sent.length;
}

describe('a program whose instance is killed', () => {
  it('has sent each message once at most, and the run says that it was lost', async () => {
    let killed = 0;
    for (const commits of moments) {
      const inner = memoryStorage();
      const { tool, sent } = sender();
      const { storage, killed: isKilled } = killedAfter(inner, commits);
      const ended = take(instance(storage, tool)).then(() => false);
      if (!await Promise.race([isKilled, ended])) break;
      killed++;
      await declareDead(inner);
      const second = instance(inner, tool, 60_000);
      const found = await second.runs.ofChat(principal, 'chat-1', { ended: true });
      if (found) {
        const { runId } = found;
        const cursor = await second.runs.cursor(principal, runId, 0);
        const text = await new Response(encodeSse(cursor, { runId, keepAliveMs: 60_000, metrics: second.metrics }))
          .text();
        expect(text, `killed after ${commits}`).toContain('"reason":"worker_lost"');
      }
      expect(eachOnce(sent), `killed after ${commits}: ${sent.join()}`).toBe(true);
    }
    expect(killed).toBeGreaterThan(4);
  });

  it('goes on when its run is continued, wherever both were killed: each message is sent once, or known as unknown', async () => {
    let [killed, replayed, unknown, limited] = [0, 0, 0, 0];
    for (const first of moments) {
      for (const second of [1, 2, 3, 5, 8, 99]) {
        const where = `killed after ${first}, then after ${second}`;
        const inner = memoryStorage();
        const { tool, sent } = sender();
        const one = killedAfter(inner, first);
        if (!await Promise.race([one.killed, take(continuing(one.storage, tool)).then(() => false)])) break;
        killed++;
        const runId = (await continuing(inner, tool).runs.ofChat(principal, 'chat-1', { ended: true }))?.runId;
        if (runId === undefined) break; // it was killed before its claim
        const two = killedAfter(inner, second);
        const again = recovered(continuing(two.storage, tool), runId, inner);
        let chunks = await Promise.race([two.killed, again]);
        if (chunks === true) chunks = await recovered(continuing(inner, tool), runId, inner);
        const end = lastData(chunks, 'data-run');
        expect(eachOnce(sent), where).toBe(true);
        // Killed twice without a new step, it may be what kills its process.
        if (end['state'] !== 'completed') {
          expect(end, where).toMatchObject({ error: { details: { why: 'recovery_limit' } } });
          limited++;
          continue;
        }
        const result = resultIn(chunks);
        expectOnce(sent, result, where);
        if (Number(lastData(chunks, 'data-program')['replayed']) > 0) replayed++;
        if (JSON.stringify(result).includes('outcome_unknown')) unknown++;
      }
    }
    expect(killed).toBeGreaterThan(20);
    expect(replayed).toBeGreaterThan(5);
    expect(unknown).toBeGreaterThan(0);
    expect(limited).toBeGreaterThan(0);
  });

  it('sends each approved message once at most, wherever the run that goes on was killed', async () => {
    const outputs: unknown[] = [];
    let killed = 0;
    for (const commits of moments) {
      const inner = memoryStorage();
      const { tool, sent } = sender('always');
      let turn = await take(instance(inner, tool));
      const answer = await decideAll(instance(inner, tool), turn);
      const { storage, killed: isKilled } = killedAfter(inner, commits);
      const ended = take(instance(storage, tool), [answer]).then(() => false);
      if (await Promise.race([isKilled, ended])) killed++;
      await declareDead(inner);
      const later = instance(inner, tool, 60_000);
      const lost = await later.runs.ofChat(principal, 'chat-1', { ended: true });
      if (lost) await readAll(await later.resume(lost.runId, 0, { principal })); // finds it lost
      turn = await take(later, [answer]);
      expect(eachOnce(sent), `killed after ${commits}: ${sent.join()}`).toBe(true);
      const output = outputOf(turn.message);
      if (output !== refusal) expectOnce(sent, output, `killed after ${commits}`);
      outputs.push(output);
    }
    expect(killed).toBeGreaterThan(4);
    expect(outputs[0]).toEqual(names); // killed before it went on: the next run does
    expect(outputs.filter((output) => output !== refusal).length).toBeGreaterThan(4);
    expect(outputs.at(-1)).toBe(refusal); // the program has ended
  });
});
