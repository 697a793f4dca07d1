import { describe, expect, it } from 'vitest';
import { staticCatalog } from '../../../adapters/catalog/static.ts';
import { textSource } from '../../../adapters/grounding/text.ts';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { createGrounding } from '../../../src/grounding/index.ts';
import {
  type CreateRuntimeOptions,
  defineTool,
  localPrincipal,
  type Storage,
  type UIMessageChunk,
} from '../../../src/index.ts';
import { labelOfResult } from '../../../src/mcp/mcp-tool.ts';
import type { CallContextFacts } from '../../../src/contracts/authenticator.ts';
import { callsTools, says, scriptedModel, streamOf } from '../../fixtures/model.ts';
import { killedAfter } from '../../fixtures/chance/killed-storage.ts';
import { recovered } from '../../fixtures/processes/lost-instance.ts';
import { lastData, readAll, runRequest, testRuntime, userMessage } from '../../fixtures/runtime.ts';

const me = localPrincipal();
const object = { type: 'object', properties: { to: { type: 'string' } } } as const;
const reads = { readOnlyHint: true };

const tools = [
  defineTool({
    id: 'mail',
    description: 'Reads',
    reads: 'untrusted',
    annotations: reads,
    input: object,
    execute: () => 'Hi',
  }),
  defineTool({
    id: 'web',
    description: 'Reads',
    reads: 'untrusted',
    annotations: reads,
    input: object,
    execute: () => 'Ho',
  }),
  defineTool({ id: 'send', description: 'Sends', input: object, execute: () => 'sent' }),
];
const mail = callsTools({ tool: 'mail', input: {}, id: 'm' });
const web = callsTools({ tool: 'web', input: {}, id: 'w' });
const send = callsTools({ tool: 'send', input: { to: 'x@y.example' }, id: 's' });

/** What the hook is told of each call of `send`. */
function told() {
  const sends: CallContextFacts[] = [];
  const authorize: CreateRuntimeOptions['authorize'] = (action, _, { id }, { facts }) => {
    if (action === 'tool.call' && id === 'send' && facts) sends.push(facts);
    return { decision: 'allow' };
  };
  return { sends, authorize };
}

describe('a run that is killed', () => {
  const script = [mail, send, web, send, says('Done')];
  const level = { agent: { trust: 'watched' as const } };

  /** The model goes on with the chat that it is sent, whichever instance asks. */
  function instance(storage: Storage, { authorize }: ReturnType<typeof told>) {
    const { model } = scriptedModel(({ prompt }) =>
      streamOf(script[prompt.filter(({ role }) => role === 'tool').length] ?? says('Done'))
    );
    return testRuntime({ model, storage, tools, authorize, ...level });
  }

  /** Approves what is asked, each time at another instance; returns all that people and hooks were told. */
  async function playOut(chunks: UIMessageChunk[], next: () => ReturnType<typeof instance>) {
    const asks: unknown[] = [];
    for (let open = asksIn(chunks); open.length > 0; open = asksIn(chunks)) {
      asks.push(...open.map(({ reason }) => reason));
      const runId = String(lastData(chunks, 'data-run')['runId']);
      await next().decide(runId, open[0]?.approvalId ?? '', { approved: true }, me);
      const answer = (await next().chats.get('c', me)).messages.slice(-1);
      chunks = await readAll(await next().run(runRequest({ chat: { id: 'c', messages: answer, store: true } }), me));
    }
    return asks;
  }

  it('has the same facts, rulings and questions at another instance, whichever of its commits was its last', async () => {
    const first = runRequest({ chat: { id: 'c', messages: [userMessage('Go')], store: true } });
    const [storage, unbroken] = [memoryStorage(), told()];
    const start = await readAll(await instance(storage, unbroken).run(first, me));
    const asks = await playOut(start, () => instance(storage, unbroken));
    expect(asks).toHaveLength(2);
    expect(unbroken.sends.at(-1)).toMatchObject({
      read: ['tool:mail', 'tool:web'],
      calls: { mail: 1, send: 1, web: 1 },
    });
    let killed = 0;
    for (let commits = 1; commits < 20; commits++) {
      const [inner, own] = [memoryStorage(), told()];
      const dying = killedAfter(inner, commits);
      const ran = instance(dying.storage, own).run(first, me).then(readAll).then(() => false);
      if (!await Promise.race([dying.killed, ran])) break;
      killed += 1;
      const next = () => instance(inner, own);
      const runId = (await next().runs.ofChat(me, 'c', { ended: true }))?.runId;
      if (runId === undefined) continue; // before its claim
      expect(await playOut(await recovered(next(), runId, inner), next), `after ${commits}`).toEqual(asks);
      expect(new Set(own.sends.map((facts) => JSON.stringify(facts))), `after ${commits}`)
        .toEqual(new Set(unbroken.sends.map((facts) => JSON.stringify(facts))));
    }
    expect(killed).toBeGreaterThan(2);
  });
});

function asksIn(chunks: readonly UIMessageChunk[]) {
  return chunks.flatMap((chunk) => chunk.type === 'tool-approval-request' ? [chunk] : []);
}

describe('what a run has read', () => {
  it('is known in its forks, and what was replaced there may be from anybody', async () => {
    const { sends, authorize } = told();
    const model = scriptedModel(mail, send, says('Done'), send, says('Done'), send, says('Done'));
    const runtime = testRuntime({ ...model, tools, authorize, keep: 'inputs' });
    const chunks = await readAll(await runtime.run(runRequest(), me));
    const runId = String(lastData(chunks, 'data-run')['runId']);
    const forks = [{}, { changes: { toolOutputs: { m: 'other' } } }];
    for (const fork of forks) {
      await readAll(await runtime.fork(runId, { atStep: 2, effects: 'live', ...fork }, me));
    }
    expect(sends.map(({ read }) => read)).toEqual([['tool:mail'], ['tool:mail'], ['*']]);
  });

  it('is named in the answer of an agent that another one asks', async () => {
    const { sends, authorize } = told();
    const ask = callsTools({ tool: 'ask_expert', input: { task: 'Read' }, id: 'a' });
    const { model } = scriptedModel(({ prompt }) => {
      const steps = prompt.filter(({ role }) => role === 'tool').length;
      const isExpert = JSON.stringify(prompt).includes('You are the expert');
      return streamOf((isExpert ? [mail, says('Read')] : [ask, send, says('Done')])[steps] ?? says('Done'));
    });
    const base = { providerId: 'default', entryTools: ['*'] };
    const catalog = staticCatalog({
      agents: [
        { ...base, id: 'helper', name: 'Helper' },
        { ...base, id: 'expert', name: 'Expert', instructions: 'You are the expert', entryTools: ['mail'] },
      ],
      providers: [{ id: 'default', kind: 'custom' }],
      tools: [{
        id: 'ask_expert',
        name: 'ask_expert',
        type: 'agent',
        description: 'Asks',
        paramsSchema: { type: 'object' },
        config: { agentId: 'expert' },
      }],
    });
    await readAll(await testRuntime({ model, tools, catalog, authorize }).run(runRequest(), me));
    expect(sends.at(-1)).toMatchObject({ read: ['agent:ask_expert', 'tool:mail'], readers: 'principal' });
  });

  it('stays with what it remembers, and comes back with that in another chat', async () => {
    const { sends, authorize } = told();
    const storage = memoryStorage();
    const grounding = createGrounding({ sources: [textSource({ id: 'memory', storage })] });
    const remember = callsTools({
      tool: 'remember',
      input: { dataSourceId: 'memory', items: [{ text: 'Ada likes cake' }] },
      id: 'r',
    });
    const retrieve = callsTools({ tool: 'retrieve', input: { query: 'cake' }, id: 'q' });
    const model = scriptedModel(mail, remember, says('Kept'), retrieve, send, says('Done'));
    const list = [...tools];
    const agent = { dataSources: ['memory'], entryTools: ['*', 'remember'] };
    const runtime = testRuntime({ ...model, storage, tools: list, grounding, agent, authorize });
    const asked = await readAll(
      await runtime.run(runRequest({ chat: { id: 'one', messages: [userMessage('Go')], store: true } }), me),
    );
    const ask = asked.find(({ type }) => type === 'tool-approval-request');
    const approvalId = ask && 'approvalId' in ask ? ask.approvalId : '';
    await runtime.decide(String(lastData(asked, 'data-run')['runId']), approvalId, { approved: true }, me);
    const [, answer] = (await runtime.chats.get('one', me)).messages;
    await readAll(await runtime.run(runRequest({ chat: { id: 'one', messages: [answer!], store: true } }), me));
    await readAll(await runtime.run(runRequest({ chat: { id: 'two', messages: [userMessage('Cake?')] } }), me));
    expect(sends.at(-1)?.read).toEqual(['data-source:memory', 'tool:mail']);
  });
});

describe('the label of an MCP result', () => {
  const usual = { from: ['mcp:mail'], readers: 'tenant' };
  const labelOf = (ifc: unknown, server: object = {}, content: unknown[] = []) =>
    labelOfResult({ alias: 'mail', ...server }, { content, isError: false, ifc });

  it.each([
    undefined,
    null,
    'trusted',
    [],
    {},
    { integrity: 'trusted' },
    { confidentiality: 'public' },
    { integrity: 'trusted', confidentiality: 'secret' },
    { integrity: true, confidentiality: 'public' },
    { integrity: ['trusted'], confidentiality: 'public' },
    { Integrity: 'trusted', Confidentiality: 'public' },
    { integrity: 'trusted', confidentiality: null },
  ])('is the usual one where the server says %j', (ifc) => {
    expect(labelOf(ifc)).toEqual(usual);
    expect(labelOf(ifc, { ifc: 'believe' })).toEqual(usual);
  });

  it('is believed where it is stricter, and otherwise only with "believe"', () => {
    expect(labelOf({ integrity: 'trusted', confidentiality: 'public' })).toEqual(usual);
    expect(labelOf({ integrity: 'untrusted', confidentiality: 'private' })).toEqual({ ...usual, readers: 'principal' });
    expect(labelOf({ integrity: 'untrusted', confidentiality: 'public' }, { trust: 'trusted' })).toMatchObject({
      from: ['mcp:mail'],
    });
    expect(labelOf({ integrity: 'trusted', confidentiality: 'public' }, { ifc: 'believe' })).toEqual({
      from: [],
      readers: 'public',
    });
    const block = (integrity: string) => ({
      type: 'text',
      text: 'x',
      _meta: { ifc: { integrity, confidentiality: 'public' } },
    });
    expect(labelOf(undefined, { ifc: 'believe' }, [block('trusted'), block('untrusted')])).toMatchObject({
      from: ['mcp:mail'],
    });
    expect(labelOf(undefined, { ifc: 'believe' }, [block('trusted'), { type: 'text', text: 'x' }])).toEqual(usual);
  });
});
