import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import { encodeSse } from '../../../../adapters/transport/http/sse.ts';
import { localPrincipal, type Storage } from '../../../../src/index.ts';
import { killedAfter } from '../../../fixtures/chance/killed-storage.ts';
import { decideAll, double, outputOf, programRuntime, sender, take } from '../../../fixtures/programs.ts';

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
  return programRuntime(program, { storage, tools: [double, tool], now: () => Date.now() + ms }).runtime;
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
      turn = await take(instance(inner, tool, 60_000), [answer]);
      expect(eachOnce(sent), `killed after ${commits}: ${sent.join()}`).toBe(true);
      const output = outputOf(turn.message);
      if (output !== refusal) expect(sent, `killed after ${commits}`).toEqual(names);
      outputs.push(output);
    }
    expect(killed).toBeGreaterThan(4);
    expect(outputs[0]).toEqual(names); // killed before it had the decisions: the next run goes on
    for (const output of outputs) expect([names, refusal]).toContainEqual(output);
  });
});
