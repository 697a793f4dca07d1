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
