import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import {
  type Authorize,
  defineTool,
  localPrincipal,
  type PlanningRuntime,
  type Storage,
} from '../../../../src/index.ts';
import { killedAfter } from '../../../fixtures/chance/killed-storage.ts';
import { callsTools, says, scriptedModel } from '../../../fixtures/model.ts';
import { recovered } from '../../../fixtures/processes/lost-instance.ts';
import { programSandbox } from '../../../fixtures/program-cells.ts';
import { decideAll, take, type Turn, turnOf } from '../../../fixtures/programs.ts';
import { testRuntime } from '../../../fixtures/runtime.ts';

const program = `const mails = await tools.list_mail({});
  await tools.send({ to: 'me', text: mails[0].subject });
  const bill = await tools.$read({ from: [mails[0]], ask: 'the IBAN', schema: { type: 'object', properties: { iban: { type: 'string' } } } });
  await Promise.all([tools.send({ to: bill.iban, text: 'paid' }), tools.send({ to: 'me', text: 'seen' })]);
  const kind = await tools.$choose(mails[0].kind, ['bill', 'spam']);
  await tools.send({ to: 'me', text: kind });
  return { mails, bill, kind };`;

/** An instance; `seen` gets each call that the hook rules on, with where its values are from. */
function instance(storage: Storage, { sent, seen }: { readonly sent: unknown[]; readonly seen: Map<string, unknown> }) {
  const authorize: Authorize = (action, _principal, { id }, { input, facts }) => {
    if (action === 'tool.call' && id === 'send') seen.set(JSON.stringify(input), [facts?.args, facts?.destinations]);
    return { decision: 'allow' };
  };
  const tools = [
    defineTool({
      id: 'list_mail',
      description: 'Lists',
      annotations: { readOnlyHint: true },
      reads: 'untrusted',
      input: v.strictObject({}),
      execute: () => [{ subject: 'Bill', kind: 'bill' }],
    }),
    defineTool({
      id: 'send',
      description: 'Sends',
      annotations: { idempotentHint: true }, // so that a call which may have acted is made again
      destinations: ['/to'],
      reads: 'trusted',
      input: v.strictObject({ to: v.string(), text: v.string() }),
      execute: (input) => (sent.push(input), { done: true }),
    }),
  ];
  const { model: inner } = scriptedModel(says());
  const doStream: typeof inner.doStream = (options) => {
    const text = JSON.stringify(options.prompt);
    const script = text.includes('You read data for a program')
      ? says('{"iban":"DE12"}')
      : options.prompt.some(({ role }) => role === 'tool')
      ? says('Done')
      : callsTools({ tool: 'code_run', input: { code: program, acts: [{ tool: 'send', times: 4 }] }, id: 'p' });
    return scriptedModel(script).model.doStream(options);
  };
  const agent = { entryTools: ['*', 'code_run'], trust: 'guarded' as const };
  const model = { ...inner, doStream };
  return testRuntime({ model, storage, tools, sandbox: programSandbox(), programs: true, agent, authorize });
}

/** The last program's; a step that is repeated has another id of its call. */
function resultOf({ message: { parts } }: Turn): unknown {
  const part = parts.findLast(({ type }) => type === 'tool-code_run');
  return part && 'output' in part ? part.output : undefined;
}

/** Approves all that is asked, each time at another instance, to the end of the program. */
async function approved(turn: Turn, next: () => PlanningRuntime): Promise<unknown> {
  let last = turn;
  while (last.chunks.some(({ type }) => type === 'tool-approval-request')) {
    last = await take(next(), [await decideAll(next(), last)]);
  }
  return resultOf(last);
}

const messages = [{ id: 'm1', role: 'user' as const, parts: [{ type: 'text' as const, text: 'Go' }] }];

describe('a guarded program whose instance is killed after any commit', () => {
  it('goes on at another instance with the same values, labels, acts and questions', async () => {
    const plain = { sent: [] as unknown[], seen: new Map<string, unknown>() };
    const storage = memoryStorage();
    const output = await approved(await take(instance(storage, plain), messages), () => instance(storage, plain));
    expect(output).toMatchObject({ kind: 'bill' });
    expect(plain.sent).toHaveLength(4);
    expect([...plain.seen.values()].filter((facts) => JSON.stringify(facts).includes('list_mail'))).toHaveLength(3);
    let killed = 0;
    for (let commits = 1; commits < 20; commits++) {
      const inner = memoryStorage();
      const own = { sent: [] as unknown[], seen: new Map<string, unknown>() };
      const one = killedAfter(inner, commits);
      if (!await Promise.race([one.killed, take(instance(one.storage, own), messages).then(() => false)])) break;
      killed += 1;
      const runId = (await instance(inner, own).runs.ofChat(localPrincipal(), 'chat-1', { ended: true }))?.runId;
      if (runId === undefined) continue; // it was killed before its claim
      const again = await turnOf(await recovered(instance(inner, own), runId, inner));
      const where = `killed after ${commits}`;
      expect(await approved(again, () => instance(inner, own)), where).toEqual(output);
      expect(own.sent, where).toEqual(expect.arrayContaining(plain.sent));
      expect(Object.fromEntries(own.seen), where).toEqual(Object.fromEntries(plain.seen));
    }
    expect(killed).toBeGreaterThan(5);
  });
});
