import { describe, expect, it } from 'vitest';
import * as v from 'valibot';
import { defineTool, localPrincipal, type Tool, type UIMessage, type UIMessageChunk } from '../../../src/index.ts';
import { callsTools, says, type ScriptedModel, scriptedModel } from '../../fixtures/model.ts';
import { lastData, readAll, runRequest, testRuntime, userMessage } from '../../fixtures/runtime.ts';
import { foldMessage } from '../../../src/runtime/fold-message.ts';

const nouns = ['invoice', 'ticket', 'branch', 'photo', 'meeting', 'parcel', 'recipe', 'account', 'sensor', 'poem'];
const verbs = ['create', 'list', 'archive', 'rename', 'share'];

/** Fifty tools, `crm_create_invoice` and so on, each of which says what it did. */
const many: readonly Tool[] = nouns.flatMap((noun) =>
  verbs.map((verb) =>
    defineTool({
      id: `crm_${verb}_${noun}`,
      description: `${verb} one ${noun} of the customer`,
      input: v.strictObject({ id: v.optional(v.string()) }),
      ...(verb === 'archive' && { renamedFrom: [`old_${noun}_bin`] }),
      execute: () => `${verb} ${noun}: done`,
    })
  )
);

const entryTools = ['tool_*', 'crm_*'];
/** What a model is offered, whatever it loads: the four, and the tool by which it calls what it has loaded. */
const offered = ['tool_find', 'tool_describe', 'tool_load', 'tool_active', 'tool_call'];

const seen = ({ calls }: ScriptedModel, step: number) => calls[step]?.tools?.map(({ name }) => name);
const loads = (...names: string[]) => callsTools({ tool: 'tool_load', input: { names } });
const uses = (tool: string) => callsTools({ tool: 'tool_call', input: { name: tool, arguments: {} } });

/** The messages of the next request of a chat. */
function after(chunks: readonly UIMessageChunk[], text = 'Go on'): UIMessage[] {
  const answer = foldMessage(chunks, { id: 'a1', role: 'assistant', parts: [] });
  return [...runRequest().chat.messages, answer, userMessage(text, 'u2')];
}

describe('discovery in a run', () => {
  it('is on without being named when the definitions take more than half of the context window', async () => {
    const script = [
      callsTools({ tool: 'tool_find', input: { query: 'archive a ticket' } }),
      loads('crm_archive_ticket'),
      uses('crm_archive_ticket'),
      says('Done'),
    ];
    const scripted = scriptedModel(...script);
    const agent = { entryTools: ['crm_*', 'crm_list_poem'], contextTokens: 3_000 };
    const runtime = testRuntime({ model: scripted.model, tools: many, agent });
    const chunks = await readAll(await runtime.run(runRequest(), localPrincipal()));
    expect([0, 1, 2, 3].map((step) => seen(scripted, step))).toEqual(
      [0, 1, 2, 3].map(() => [...offered, 'crm_list_poem']),
    );
    expect(lastData(chunks, 'data-run')['state']).toBe('completed');
    const roomy = scriptedModel(says('Done'));
    const other = testRuntime({ model: roomy.model, tools: many, agent: { entryTools: ['crm_*'] } });
    await readAll(await other.run(runRequest(), localPrincipal()));
    expect(seen(roomy, 0)).toHaveLength(50);
  });

  it('starts with four tools, finds among fifty, and calls what it loaded in the next step', async () => {
    const scripted = scriptedModel(
      callsTools({ tool: 'tool_find', input: { query: 'archive a ticket' } }),
      loads('crm_archive_ticket'),
      uses('crm_archive_ticket'),
      says('Done'),
    );
    const runtime = testRuntime({ model: scripted.model, tools: many, agent: { entryTools } });
    const chunks = await readAll(await runtime.run(runRequest(), localPrincipal()));
    expect([0, 1, 2, 3].map((step) => seen(scripted, step))).toEqual([0, 1, 2, 3].map(() => offered));
    const sent = scripted.calls[3]?.prompt.findLast(({ role }) => role === 'assistant');
    expect(sent?.content).toMatchObject([{
      toolName: 'tool_call',
      input: { name: 'crm_archive_ticket', arguments: {} },
    }]);
    const shown = chunks.flatMap((chunk) =>
      chunk.type === 'tool-input-available' ? [[chunk.toolName, chunk.input]] : []
    );
    expect(shown.at(-1)).toEqual(['crm_archive_ticket', {}]);
    const outputs = chunks.flatMap((chunk) => chunk.type === 'tool-output-available' ? [chunk.output] : []);
    expect(outputs[0]).toMatchObject({ tools: expect.arrayContaining([expect.objectContaining({ active: false })]) });
    expect(outputs[1]).toMatchObject({ active: 1, loaded: [{ name: 'crm_archive_ticket' }] });
    expect(outputs[2]).toBe('archive ticket: done');
  });

  it('shows from the start what the allowlist names one by one', async () => {
    const scripted = scriptedModel(says('Hi'));
    const agent = { entryTools: [...entryTools, 'crm_list_poem'] };
    const runtime = testRuntime({ model: scripted.model, tools: many, agent });
    await readAll(await runtime.run(runRequest(), localPrincipal()));
    expect(seen(scripted, 0)).toEqual([...offered, 'crm_list_poem']);
  });

  it('is off for an agent that only says "*", which sees every tool at once', async () => {
    const scripted = scriptedModel(says('Hi'));
    const runtime = testRuntime({ model: scripted.model, tools: many, agent: { entryTools: ['*'] } });
    await readAll(await runtime.run(runRequest(), localPrincipal()));
    expect(seen(scripted, 0)).toEqual(many.map(({ definition }) => definition.name).toSorted());
  });

  it('keeps loaded tools for the next request of the same chat, also on another instance, and for no other chat', async () => {
    const first = scriptedModel(loads('crm_share_photo'), says('Loaded'));
    const one = testRuntime({ model: first.model, tools: many, agent: { entryTools } });
    const chunks = await readAll(await one.run(runRequest(), localPrincipal()));

    const next = scriptedModel(uses('crm_share_photo'), says('Shared'));
    const two = testRuntime({ model: next.model, tools: many, agent: { entryTools } });
    const chat = { id: 'chat-1', messages: after(chunks) };
    expect(await readAll(await two.run(runRequest({ chat }), localPrincipal()))).toContainEqual(
      expect.objectContaining({ output: 'share photo: done' }),
    );
    const other = scriptedModel(uses('crm_share_photo'), says('Shared'));
    const three = testRuntime({ model: other.model, tools: many, agent: { entryTools } });
    expect(lastData(await readAll(await three.run(runRequest(), localPrincipal())), 'data-tool-error')).toMatchObject({
      tool: 'crm_share_photo',
      code: 'not_found',
    });
  });

  it("filters what was loaded by today's allowlist, and what a forged result names", async () => {
    const first = scriptedModel(loads('crm_share_photo', 'crm_list_poem'), says('Loaded'));
    const one = testRuntime({ model: first.model, tools: many, agent: { entryTools } });
    const chat = { id: 'chat-1', messages: after(await readAll(await one.run(runRequest(), localPrincipal()))) };

    const next = scriptedModel(uses('crm_share_photo'), says('No'));
    const agent = { entryTools: ['tool_*', 'crm_list_*'] };
    const two = testRuntime({ model: next.model, tools: many, agent });
    const chunks = await readAll(await two.run(runRequest({ chat }), localPrincipal()));
    expect(lastData(chunks, 'data-tool-error')).toMatchObject({ tool: 'crm_share_photo', code: 'not_found' });
    expect(JSON.stringify(next.calls[1]?.prompt)).not.toContain('share photo: done');
  });

  it('does not repeat a definition that the chat has, and counts what is active', async () => {
    const scripted = scriptedModel(loads('crm_list_poem'), loads('crm_list_poem', 'crm_share_poem'), says('Twice'));
    const runtime = testRuntime({ model: scripted.model, tools: many, agent: { entryTools } });
    const chunks = await readAll(await runtime.run(runRequest(), localPrincipal()));
    const outputs = chunks.flatMap((chunk) => chunk.type === 'tool-output-available' ? [chunk.output] : []);
    expect(outputs).toEqual([
      { loaded: [expect.objectContaining({ name: 'crm_list_poem', inputSchema: expect.anything() })], active: 1 },
      {
        loaded: [{ name: 'crm_list_poem' }, expect.objectContaining({ description: 'share one poem of the customer' })],
        active: 2,
      },
    ]);
  });

  it('returns the definition with the error about a call without a load, after which the call may be made', async () => {
    const scripted = scriptedModel(uses('crm_list_poem'), uses('crm_list_poem'), says('Listed'));
    const runtime = testRuntime({ model: scripted.model, tools: many, agent: { entryTools } });
    const chunks = await readAll(await runtime.run(runRequest(), localPrincipal()));
    expect(lastData(chunks, 'data-tool-error')['message']).toContain('"inputSchema"');
    expect(chunks).toContainEqual(expect.objectContaining({ output: 'list poem: done' }));
  });

  it('makes no call of the answer that loads its tool, and takes one under its own name', async () => {
    const scripted = scriptedModel(
      callsTools({ tool: 'tool_load', input: { names: ['crm_list_poem'] } }, {
        tool: 'tool_call',
        input: { name: 'crm_list_poem', arguments: {} },
      }),
      callsTools({ tool: 'crm_list_poem', input: {} }),
      says('Listed'),
    );
    const runtime = testRuntime({ model: scripted.model, tools: many, agent: { entryTools } });
    const chunks = await readAll(await runtime.run(runRequest(), localPrincipal()));
    expect(chunks.filter(({ type }) => type === 'data-tool-error')).toHaveLength(1);
    expect(chunks).toContainEqual(expect.objectContaining({ output: 'list poem: done' }));
    expect(JSON.stringify(scripted.calls[2]?.prompt)).not.toContain('"toolName":"crm_list_poem"');
  });

  it('says once that a tool has changed since it was loaded', async () => {
    const first = scriptedModel(loads('crm_list_poem'), says('Loaded'));
    const one = testRuntime({ model: first.model, tools: many, agent: { entryTools } });
    const chat = { id: 'chat-1', messages: after(await readAll(await one.run(runRequest(), localPrincipal()))) };
    const changed = many.map((tool) =>
      tool.definition.id === 'crm_list_poem'
        ? { ...tool, definition: { ...tool.definition, description: 'Now in verse' } }
        : tool
    );
    const next = scriptedModel(uses('crm_list_poem'), uses('crm_list_poem'), says('Listed'));
    const two = testRuntime({ model: next.model, tools: changed, agent: { entryTools } });
    const chunks = await readAll(await two.run(runRequest({ chat }), localPrincipal()));
    expect(chunks.filter(({ type }) => type === 'data-tool-error')).toHaveLength(1);
    expect(lastData(chunks, 'data-tool-error')).toMatchObject({ details: { reason: 'tool_changed' } });
    expect(chunks).toContainEqual(expect.objectContaining({ output: 'list poem: done' }));
  });

  it('streams the input of the tool that is meant, from when its name is read', async () => {
    const input = '{"name":"crm_list_poem","arguments":{"id":"a}\\"{b"}}';
    const [start, , finish] = callsTools({ tool: 'x', input: {} });
    const pieces = input.split('').map((delta) => ({ type: 'tool-input-delta' as const, id: 'c1', delta }));
    const scripted = scriptedModel(loads('crm_list_poem'), [
      start!,
      { type: 'tool-input-start', id: 'c1', toolName: 'tool_call' },
      ...pieces,
      { type: 'tool-input-end', id: 'c1' },
      { type: 'tool-call', toolCallId: 'c1', toolName: 'tool_call', input },
      finish!,
    ], says('Listed'));
    const runtime = testRuntime({ model: scripted.model, tools: many, agent: { entryTools } });
    const chunks = await readAll(await runtime.run(runRequest(), localPrincipal()));
    const own = chunks.filter((chunk) => 'toolCallId' in chunk && chunk.toolCallId === 'c1');
    expect(own[0]).toMatchObject({ type: 'tool-input-start', toolName: 'crm_list_poem' });
    expect(own.map((chunk) => chunk.type === 'tool-input-delta' ? chunk.inputTextDelta : '').join('')).toBe(
      '{"id":"a}\\"{b"}',
    );
    expect(own).toContainEqual(expect.objectContaining({ type: 'tool-input-available', input: { id: 'a}"{b' } }));
  });

  it('names what a call of "tool_call" lacks', async () => {
    const scripted = scriptedModel(callsTools({ tool: 'tool_call', input: { arguments: {} } }), says('I see'));
    const runtime = testRuntime({ model: scripted.model, tools: many, agent: { entryTools } });
    const chunks = await readAll(await runtime.run(runRequest(), localPrincipal()));
    expect(lastData(chunks, 'data-tool-error')).toMatchObject({ tool: 'tool_call', code: 'invalid_argument' });
  });

  it.each([
    ['a tool that is not loaded', 'crm_list_poem', 'it was not loaded with tool_load'],
    ['a former name', 'old_poem_bin', 'it is now named "crm_archive_poem"'],
    ['a name that never was', 'compose_poem', 'look for one with tool_find'],
  ])('advises model and client about a call of %s', async (_, tool, advice) => {
    const scripted = scriptedModel(uses(tool), says('I see'));
    const runtime = testRuntime({ model: scripted.model, tools: many, agent: { entryTools } });
    const chunks = await readAll(await runtime.run(runRequest(), localPrincipal()));
    expect(lastData(chunks, 'data-tool-error')).toMatchObject({ tool, code: 'not_found' });
    const told = JSON.stringify(scripted.calls[1]?.prompt);
    expect(told.replaceAll('\\"', '"')).toContain(advice);
    expect(lastData(chunks, 'data-tool-error')['message']).toContain(advice);
  });

  it('asks before a loaded tool acts', async () => {
    const risky = defineTool({
      id: 'crm_erase',
      description: 'erase the customer',
      input: v.strictObject({}),
      approval: 'always',
      execute: () => 'erased',
    });
    const scripted = scriptedModel(loads('crm_erase'), uses('crm_erase'), says('Gone'));
    const runtime = testRuntime({ model: scripted.model, tools: [...many, risky], agent: { entryTools } });
    const chunks = await readAll(await runtime.run(runRequest(), localPrincipal()));
    expect(lastData(chunks, 'data-run')).toMatchObject({ state: 'awaiting_approval' });
    expect(chunks.filter(({ type }) => type === 'tool-approval-request')).toHaveLength(1);
  });

  it('reports what definitions cost, and what discovery saved', async () => {
    const script = [loads('crm_share_photo'), says('Hi')] as const;
    const usageWith = async (patterns: string[]) => {
      const runtime = testRuntime({
        model: scriptedModel(...script).model,
        tools: many,
        agent: { entryTools: patterns },
      });
      return lastData(await readAll(await runtime.run(runRequest(), localPrincipal())), 'data-usage');
    };
    const found = await usageWith(entryTools);
    const whole = await usageWith(['*']);
    expect(whole['toolTokensSaved']).toBe(0);
    expect(Number(found['toolTokens'])).toBeGreaterThan(0);
    expect(Number(found['toolTokens'])).toBeLessThan(Number(whole['toolTokens']) / 2);
    // Two steps; the four are not part of the whole set without discovery.
    expect(Number(found['toolTokens']) + Number(found['toolTokensSaved'])).toBeGreaterThan(Number(whole['toolTokens']));
  });

  it('takes a re-ranker', async () => {
    const scripted = scriptedModel(callsTools({ tool: 'tool_find', input: { query: 'poem', limit: 1 } }), says('Hi'));
    const runtime = testRuntime({
      model: scripted.model,
      tools: many,
      agent: { entryTools },
      rerank: async (_, hits) => hits.toReversed(),
    });
    const plain = testRuntime({
      model: scriptedModel(callsTools({ tool: 'tool_find', input: { query: 'poem', limit: 1 } }), says('Hi')).model,
      tools: many,
      agent: { entryTools },
    });
    const first = async (of: typeof plain) => {
      const chunks = await readAll(await of.run(runRequest(), localPrincipal()));
      return chunks.flatMap((chunk) => chunk.type === 'tool-output-available' ? [chunk.output] : [])[0];
    };
    const [reranked, ranked] = [await first(runtime), await first(plain)];
    expect(reranked).toMatchObject({ tools: [{ name: expect.stringContaining('poem') }] });
    expect(reranked).not.toEqual(ranked);
  });
});
