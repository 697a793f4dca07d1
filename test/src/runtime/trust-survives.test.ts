import { describe, expect, it } from 'vitest';
import { textSource } from '../../../adapters/grounding/text.ts';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { createGrounding } from '../../../src/grounding/index.ts';
import {
  type CreateRuntimeOptions,
  defineTool,
  type HostedRuntime,
  localPrincipal,
  type UIMessageChunk,
} from '../../../src/index.ts';
import { labelOfResult } from '../../../src/mcp/mcp-tool.ts';
import type { CallContextFacts } from '../../../src/contracts/authenticator.ts';
import { callsTools, says, scriptedModel, streamOf } from '../../fixtures/model.ts';
import { mortal } from '../../fixtures/processes/lost-instance.ts';
import { hurry } from '../../fixtures/processes/hurry.ts';
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

hurry();

describe('a run that is killed', () => {
  const script = [mail, web, send, says('Done')];

  async function killedAfter(count: number): Promise<CallContextFacts | undefined> {
    const storage = memoryStorage();
    const dying = mortal(storage);
    const first = told();
    /** The model goes on with the chat that it is sent, whichever instance asks. */
    const model = () =>
      scriptedModel(({ prompt }) => streamOf(script[prompt.filter(({ role }) => role === 'tool').length] ?? []));
    const a = testRuntime({ ...model(), storage: dying.storage, tools, authorize: first.authorize });
    const { runId } = await a.start(runRequest(), me, {});
    const cursor = await a.runs.cursor(me, runId, 0);
    for (let seen = 0; seen < count;) seen += (await cursor.next() ?? []).length || Infinity;
    dying.kill();
    const second = told();
    const b = testRuntime({ ...model(), storage, tools, authorize: second.authorize });
    await readToEnd(b, runId);
    return second.sends.at(-1) ?? first.sends.at(-1);
  }

  it('has the same facts on another instance, wherever it was killed', async () => {
    const unbroken = told();
    const runtime = testRuntime({ ...scriptedModel(...script), tools, authorize: unbroken.authorize });
    await readAll(await runtime.run(runRequest(), me));
    expect(unbroken.sends[0]).toMatchObject({ read: ['tool:mail', 'tool:web'], calls: { mail: 1, web: 1 } });
    for (const count of [1, 4, 7, 10, 13]) {
      expect((await killedAfter(count))?.read, `after ${count} events`).toEqual(unbroken.sends[0]?.read);
    }
  });
});

async function readToEnd(runtime: HostedRuntime, runId: string): Promise<UIMessageChunk[]> {
  const cursor = await runtime.runs.cursor(me, runId, 0);
  const chunks: UIMessageChunk[] = [];
  for (let events = await cursor.next(); events; events = await cursor.next()) {
    chunks.push(...events.map(({ text }) => JSON.parse(text) as UIMessageChunk));
  }
  cursor.close();
  return chunks;
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
