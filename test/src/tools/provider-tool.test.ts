import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { describe, expect, it } from 'vitest';
import { staticCatalog } from '../../../adapters/catalog/static.ts';
import { memorySecrets } from '../../../adapters/secrets/memory.ts';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import {
  createAudit,
  createRuntime,
  type CreateRuntimeOptions,
  localPrincipal,
  type ObservedEvent,
  type UIMessage,
} from '../../../src/index.ts';
import { foldMessage } from '../../../src/runtime/fold-message.ts';
import { fromAiTool } from '../../../src/tools/index.ts';
import { says, scriptedModel } from '../../fixtures/model.ts';
import { lastData, readAll, userMessage } from '../../fixtures/runtime.ts';

const me = localPrincipal();
const secret = 'sk-live-0123456789abcdef';

/** The events of an answer of Anthropic that has searched the web. */
function searched(): Response {
  const source = {
    type: 'web_search_result',
    url: 'https://tides.example/oslo',
    title: `Tides ${secret}`,
    encrypted_content: 'E1',
    page_age: null,
  };
  const blocks: readonly (readonly [block: object, deltas: readonly object[]])[] = [
    [{ type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} }, [
      { type: 'input_json_delta', partial_json: '{"query":"tide in Oslo"}' },
    ]],
    [{ type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [source] }, []],
    [{ type: 'text', text: '' }, [{ type: 'text_delta', text: 'At noon.' }]],
  ];
  const usage = { input_tokens: 10, output_tokens: 5 };
  const message = { id: 'm', type: 'message', role: 'assistant', model: 'claude', content: [], usage };
  const events = [
    { type: 'message_start', message },
    ...blocks.flatMap(([block, deltas], index) => [
      { type: 'content_block_start', index, content_block: block },
      ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
      { type: 'content_block_stop', index },
    ]),
    { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage },
    { type: 'message_stop' },
  ];
  const text = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
  return new Response(text, { headers: { 'content-type': 'text/event-stream' } });
}

function claude(answer = (): Promise<Response> => Promise.resolve(searched())) {
  const bodies: Record<string, unknown>[] = [];
  const fetch = (_url: unknown, init?: RequestInit): Promise<Response> => {
    bodies.push(JSON.parse(init?.body as string) as Record<string, unknown>); // the package sends texts of objects
    return answer();
  };
  return {
    bodies,
    model: createAnthropic({ apiKey: 'k', fetch })('claude-sonnet-4-5'),
  };
}

const search = createAnthropic({ apiKey: 'k' }).tools.webSearch_20250305({ maxUses: 2 });
const named = 'anthropic.web_search_20250305';

function runtimeWith(
  { entryTools = ['search'], fallback = false, ...options }: Partial<CreateRuntimeOptions> & {
    readonly entryTools?: string[];
    readonly fallback?: boolean;
  },
) {
  const events: ObservedEvent[] = [];
  const fallbacks = fallback ? [{ providerId: 'q' }] : [];
  const runtime = createRuntime({
    catalog: staticCatalog({
      agents: [{ id: 'a', name: 'A', providerId: 'p', entryTools, fallbacks }],
      providers: [{ id: 'p', kind: 'custom', secret: { id: 'key' } }, { id: 'q', kind: 'custom' }],
    }),
    secrets: memorySecrets({ key: { value: secret, origins: ['code'] } }),
    models: { model: () => claude().model },
    storage: memoryStorage(),
    tools: entryTools.includes('search') ? [fromAiTool('search', search)] : [],
    sinks: [(event: ObservedEvent) => void events.push(event)],
    ...options,
  });
  const ask = async (messages: UIMessage[]) =>
    await readAll(await runtime.run({ agentId: 'a', chat: { id: 'c', messages } }, me));
  return { runtime, events, ask };
}

describe('a tool that the provider executes', () => {
  it('is declared as the package of the provider does it, streamed, redacted, counted and audited', async () => {
    const { bodies, model } = claude();
    const audit = createAudit({ storage: memoryStorage() });
    const { ask, events } = runtimeWith({ models: { model: () => model }, audit });
    const first = userMessage('When is the tide?');
    const chunks = await ask([first]);
    expect(bodies[0]?.['tools']).toEqual([{ type: 'web_search_20250305', name: 'web_search', max_uses: 2 }]);
    expect(chunks).toContainEqual(
      expect.objectContaining({
        type: 'tool-input-available',
        toolName: 'search',
        input: { query: 'tide in Oslo' },
        providerExecuted: true,
      }),
    );
    expect(chunks).toContainEqual(expect.objectContaining({ type: 'source-url', url: 'https://tides.example/oslo' }));
    expect(JSON.stringify(chunks)).not.toContain(secret);
    expect(lastData(chunks, 'data-usage')).toMatchObject({ toolCalls: 1 });
    const calls = events.filter(({ action }) => action === 'tool.call');
    expect(calls.map(({ status, target }) => [status, target.id])).toEqual([['pending', 'search'], ['ok', 'search']]);
    expect(calls[0]?.payloadSummary).toContain('executedBy=provider');
    const entries = (await audit.log(me.tenant).list()).items.map(({ event }) => event);
    expect(entries.filter(({ action }) => action === 'tool.call').map(({ status }) => status)).toEqual([
      'pending',
      'ok',
    ]);

    const answer = foldMessage(chunks, { id: '', role: 'assistant', parts: [] });
    await ask([first, answer, userMessage('And tomorrow?', 'm2')]);
    const [before, next] = bodies.map(({ messages }) => (messages as object[]).map((one) => JSON.stringify(one)));
    expect(next?.slice(0, before?.length)).toEqual(before);
    expect(next?.[1]).toContain('web_search_tool_result');
  });

  it('is named by an agent as its provider names it', async () => {
    const { bodies, model } = claude();
    const { ask } = runtimeWith({ entryTools: [named], models: { model: () => model } });
    await ask([userMessage('When is the tide?')]);
    expect(bodies[0]?.['tools']).toEqual([{ type: 'web_search_20250305', name: 'web_search' }]);
  });

  it('is refused for a model of another provider, which is not called, and not offered to a fallback', async () => {
    const openai = createOpenAI({ apiKey: 'k' })('gpt-5.4');
    const { runtime } = runtimeWith({ entryTools: [named], models: { model: () => openai } });
    const request = { agentId: 'a', chat: { id: 'c', messages: [userMessage('Hi')] } };
    await expect(runtime.run(request, me)).rejects.toMatchObject({ details: { reason: 'provider_tool', tool: named } });

    const down = claude(() => Promise.reject(new TypeError('fetch failed'))).model;
    const other = scriptedModel(says('I cannot search'));
    const { ask } = runtimeWith({
      fallback: true,
      limits: { modelRetries: 0 },
      models: { model: ({ id }) => id === 'p' ? down : other.model },
    });
    expect(lastData(await ask([userMessage('Hi')]), 'data-run')['state']).toBe('failed');
    expect(other.calls).toEqual([]);
  });

  it('fails the run where the package does not know it', async () => {
    const { ask } = runtimeWith({ entryTools: ['anthropic.web_serach'] });
    expect(lastData(await ask([userMessage('Hi')]), 'data-run')).toMatchObject({
      state: 'failed',
      error: { details: { reason: 'provider_tool', tool: 'anthropic.web_serach' } },
    });
  });

  it('is not declared where a rule denies it, and cannot be one of which a person approves calls', async () => {
    const { bodies, model } = claude();
    const authorize: CreateRuntimeOptions['authorize'] = (action) =>
      action === 'tool.call' ? { decision: 'deny', reason: 'no searches' } : { decision: 'allow' };
    const { ask } = runtimeWith({ models: { model: () => model }, authorize });
    await ask([userMessage('Hi')]);
    expect(bodies[0]?.['tools']).toBeUndefined();
    expect(() => fromAiTool('search', search, { approval: 'always' })).toThrow('no person can approve a call');
  });

  it('is left out of a run where a rule wants its calls approved, and the manifest says why', async () => {
    const { bodies, model } = claude();
    const { ask, runtime } = runtimeWith({
      models: { model: () => model },
      authorize: () => ({ decision: 'ask', reason: 'a rule' }),
    });
    const chunks = await ask([userMessage('Hi')]);
    expect(bodies[0]?.['tools']).toBeUndefined();
    expect(lastData(chunks, 'data-manifest')['excluded']).toEqual({ approval_unsupported: 1 });
    const { tools } = await runtime.manifest('a', me);
    expect(tools).toEqual([{ id: 'search', excluded: 'approval_unsupported' }]);
  });
});

/** Answers of OpenAI's Responses API, one for each request: items of the output. */
function gpt(answers: readonly (readonly Record<string, unknown>[])[]) {
  const bodies: { readonly input: readonly object[]; readonly tools?: readonly object[] }[] = [];
  const fetch = (_url: unknown, init?: RequestInit): Promise<Response> => {
    const items = answers[bodies.length] ?? [];
    bodies.push(JSON.parse(init?.body as string) as (typeof bodies)[number]); // the package sends texts of objects
    const events = [
      { type: 'response.created', response: { id: 'resp', created_at: 1, model: 'gpt' } },
      ...items.flatMap((item, output_index) => [
        ...item['type'] === 'message' ? [{ type: 'response.output_item.added', output_index, item }] : [],
        ...item['type'] === 'message'
          ? [{ type: 'response.output_text.delta', item_id: item['id'], delta: String(item['says']) }]
          : [],
        { type: 'response.output_item.done', output_index, item },
      ]),
      { type: 'response.completed', response: { usage: { input_tokens: 10, output_tokens: 5 } } },
    ];
    const text = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
    return Promise.resolve(new Response(text, { headers: { 'content-type': 'text/event-stream' } }));
  };
  return { bodies, model: createOpenAI({ apiKey: 'k', fetch })('gpt-5.4') };
}

const question = { server_label: 'mail', name: 'send', arguments: '{"to":"bo"}' };
const asks = [{ type: 'mcp_approval_request', id: 'mcpr_1', ...question }];
const called = {
  type: 'mcp_call',
  id: 'mcp_1',
  approval_request_id: 'mcpr_1',
  ...question,
  output: 'sent',
  status: 'completed',
};
const saying = (text: string) => ({ type: 'message', id: `msg_${text}`, role: 'assistant', content: [], says: text });
const hi = userMessage('Write to Bo');
const mcp = (args: { readonly requireApproval?: 'always' } = {}) =>
  createOpenAI({ apiKey: 'k' }).tools.mcp({ serverLabel: 'mail', serverUrl: 'https://mail.example/mcp', ...args });

function mailRuntime(
  answers: Parameters<typeof gpt>[0],
  options: Partial<CreateRuntimeOptions> & { readonly tool?: Parameters<typeof fromAiTool>[2] } = {},
) {
  const { tool = { approval: 'always' }, ...rest } = options;
  const { bodies, model } = gpt(answers);
  const audit = createAudit({ storage: memoryStorage() });
  const tools = [fromAiTool('mail', mcp(), tool)];
  const made = runtimeWith({ entryTools: ['mail'], models: { model: () => model }, tools, audit, ...rest });
  const chat: UIMessage[] = [hi];
  const turn = async (...more: UIMessage[]) => {
    chat.push(...more);
    const chunks = await made.ask(chat);
    const answer = foldMessage(chunks, chat.at(-1)?.role === 'assistant' ? chat.pop() : undefined);
    chat.push(JSON.parse(JSON.stringify(answer)) as UIMessage);
    return chunks;
  };
  const asked = async (approved: boolean) => {
    const chunks = await turn();
    const id = chunks.find(({ type }) => type === 'tool-approval-request') as { readonly approvalId: string };
    await made.runtime.decide(String(lastData(chunks, 'data-run')['runId']), id.approvalId, { approved }, me);
    return chunks;
  };
  const audited = async () =>
    (await audit.log(me.tenant).list()).items.map(({ event }) => event).filter(({ action }) => action === 'tool.call');
  return { ...made, bodies, chat, turn, asked, audited };
}

describe('a call that its provider asks about', () => {
  it('is approved by a person, made by the provider, and the chat goes on from what was sent', async () => {
    const { bodies, chat, turn, asked, events, audited } = mailRuntime([asks, [called, saying('Sent')], [
      saying('Bye'),
    ]]);
    const first = await asked(true);
    expect(bodies[0]?.tools).toEqual([expect.objectContaining({ type: 'mcp', require_approval: 'always' })]);
    expect(lastData(first, 'data-run')['state']).toBe('awaiting_approval');
    expect(first.find(({ type }) => type === 'tool-approval-request')).toMatchObject({
      approvalDescriptor: { tool: 'mcp.send (mail)', fields: [{ key: '"to"', value: '"bo"' }] },
    });
    expect(await audited()).toEqual([]); // nothing was called

    const second = await turn();
    expect(bodies[1]?.input.slice(1)).toEqual([
      { type: 'item_reference', id: 'mcpr_1' },
      { type: 'mcp_approval_response', approval_request_id: 'mcpr_1', approve: true },
    ]);
    expect(lastData(second, 'data-run')['state']).toBe('completed');
    expect(chat.at(-1)?.parts.filter((part) => 'toolCallId' in part)).toMatchObject([
      { toolName: 'mcp.send', state: 'output-available', output: { output: 'sent' } },
    ]);
    expect(lastData(second, 'data-usage')['toolCalls']).toBe(1);
    expect(await audited()).toMatchObject([{ status: 'pending' }, { status: 'ok' }]);
    expect((await audited())[0]?.payloadSummary).toMatch(/executedBy=provider.*called=mcp.send.*approved/);
    expect(events.map(({ action }) => action)).toEqual(expect.arrayContaining(['approval.request']));

    await turn(userMessage('Thanks', 'm2'));
    expect(bodies[2]?.input.slice(0, 3)).toEqual(bodies[1]?.input);
    expect(bodies[2]?.input[3]).toEqual({ type: 'item_reference', id: 'mcp_1' });
    expect(events.filter(({ action }) => action.startsWith('prompt.'))).toEqual([]);
  });

  it('is made at most once: the request that lets the provider make it is not sent again', async () => {
    const { bodies, chat, turn, asked } = mailRuntime([asks, [{ type: 'mcp_call', id: 'no call of the API' }]]);
    await asked(true);
    expect(lastData(await turn(), 'data-run')['state']).toBe('failed');
    expect(bodies).toHaveLength(2);
    expect(chat.at(-1)?.parts.find((part) => 'toolCallId' in part)).toMatchObject({
      state: 'output-error',
      errorText: expect.stringContaining('It may have taken effect'),
    });
  });

  it('is refused by a person, and the provider and the next turns learn it', async () => {
    const { bodies, chat, turn, asked, audited, events } = mailRuntime([asks, [saying('Not sent')], [saying('Bye')]]);
    await asked(false);
    await turn();
    expect(bodies[1]?.input[2]).toEqual({
      type: 'mcp_approval_response',
      approval_request_id: 'mcpr_1',
      approve: false,
    });
    expect(chat.at(-1)?.parts.find((part) => 'toolCallId' in part)).toMatchObject({ state: 'output-denied' });
    expect(await audited()).toEqual([]);
    await turn(userMessage('Fine', 'm2'));
    expect(bodies[2]?.input.slice(0, 3)).toEqual(bodies[1]?.input);
    expect(events.filter(({ action }) => action.startsWith('prompt.'))).toEqual([]);
  });

  it('is refused at once where a rule denies it, and the answer goes on', async () => {
    const authorize: CreateRuntimeOptions['authorize'] = (action, _who, _what, context) => {
      const isToBo = action === 'tool.call' && JSON.stringify(context).includes('"bo"');
      return isToBo ? { decision: 'deny', reason: 'not to Bo' } : { decision: 'allow' };
    };
    const { bodies, turn, audited, events } = mailRuntime([asks, [saying('I may not')], [saying('Bye')]], {
      authorize,
    });
    const chunks = await turn();
    expect(lastData(chunks, 'data-run')['state']).toBe('completed');
    expect(bodies[1]?.input[2]).toMatchObject({ approval_request_id: 'mcpr_1', approve: false });
    expect(await audited()).toMatchObject([{ status: 'denied' }]);
    await turn(userMessage('Fine', 'm2'));
    expect(bodies[2]?.input.slice(0, 3)).toEqual(bodies[1]?.input);
    expect(events.filter(({ action }) => action.startsWith('prompt.'))).toEqual([]);
  });

  it('is approved by nothing that a client says', async () => {
    const { bodies, chat, turn } = mailRuntime([asks, [saying('Well')], [saying('Bye')]]);
    await turn();
    const last = chat.at(-1)!;
    const parts = last.parts.map((part) =>
      'toolCallId' in part
        ? {
          ...part,
          state: 'output-available',
          output: 'sent',
          approval: { id: 'x', approved: true },
          callProviderMetadata: { openai: { approvalRequestId: 'mcpr_1' } },
        }
        : part
    ) as UIMessage['parts']; // as a client may write it
    chat[chat.length - 1] = { ...last, parts };
    await turn(userMessage('Go on', 'm2'));
    expect(JSON.stringify(bodies[1])).not.toContain('mcpr_1');
    expect(bodies[1]?.input[1]).toMatchObject({ type: 'function_call' });
  });

  it('goes back as a call that was not made where the person writes instead', async () => {
    const { bodies, turn } = mailRuntime([asks, [saying('Well')]]);
    await turn();
    await turn(userMessage('Never mind', 'm2'));
    expect(JSON.stringify(bodies[1])).not.toContain('mcpr_1');
    expect(JSON.stringify(bodies[1]?.input[2])).toContain('The call was not made');
  });

  it('is asked about where a rule wants it, without an approval in the definition', async () => {
    const authorize: CreateRuntimeOptions['authorize'] = (action) =>
      action === 'tool.call' ? { decision: 'ask', reason: 'mail is sent' } : { decision: 'allow' };
    const { bodies, asked } = mailRuntime([asks], { authorize, tool: {} });
    const chunks = await asked(true);
    expect(bodies[0]?.tools).toEqual([expect.objectContaining({ require_approval: 'always' })]);
    expect(chunks).toContainEqual(
      expect.objectContaining({ approvalDescriptor: expect.objectContaining({ rule: 'mail is sent' }) }),
    );
  });

  it('fails the run where the provider asks about a tool that the agent has not once', async () => {
    const { model } = gpt([asks]);
    const tools = ['mail', 'post'].map((id) => fromAiTool(id, mcp({ requireApproval: 'always' })));
    const { ask } = runtimeWith({ entryTools: ['mail', 'post'], models: { model: () => model }, tools });
    expect(lastData(await ask([hi]), 'data-run')).toMatchObject({
      state: 'failed',
      error: { details: { reason: 'provider_approval' } },
    });
  });
});
