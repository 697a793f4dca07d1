import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { Chat, useChat, type UseChatHelpers } from '@ai-sdk/react';
import {
  type ChatTransport,
  DefaultChatTransport,
  lastAssistantMessageIsCompleteWithApprovalResponses as answered,
  type UIMessage,
} from 'ai';
import { createElement, StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { afterEach, assertType, describe, expect, it, onTestFinished, vi } from 'vitest';
import { z } from 'zod';
import { createClient } from '../../../adapters/transport/client.ts';
import { connectRuntime, exposeRuntime } from '../../../adapters/transport/comlink.ts';
import { developmentAuthenticator } from '../../../adapters/transport/development-authenticator.ts';
import { createHandler } from '../../../adapters/transport/http.ts';
import { defineTool, type PinnaceUIMessage, type PlanningRuntime, type ToolsOf } from '../../../src/index.ts';
import { callsTools, says, type ScriptedModel, scriptedModel, stallingStream } from '../../fixtures/model.ts';
import { localSandbox } from '../../fixtures/program-cells.ts';
import { testRuntime } from '../../fixtures/runtime.ts';

const token = 'a-token-for-tests-only';
const url = 'http://127.0.0.1';

/** How a page reaches a runtime: over HTTP, and as its worker. */
const ways: Record<string, (runtime: PlanningRuntime) => ChatTransport<UIMessage>> = {
  'createClient': (runtime) => {
    const handler = createHandler(runtime, { authenticator: developmentAuthenticator({ token }) });
    return createClient({ url, agentId: 'helper', credentials: { bearer: token }, fetch: handler });
  },
  'connectRuntime': (runtime) => {
    const { port1, port2 } = new MessageChannel();
    exposeRuntime(runtime, port1);
    onTestFinished(() => {
      port1.close();
      port2.close();
    });
    return connectRuntime(port2, { agentId: 'helper' });
  },
};

function defaultTransport(runtime: PlanningRuntime): ChatTransport<UIMessage> {
  const handler = createHandler(runtime, { authenticator: developmentAuthenticator({ token }) });
  return new DefaultChatTransport({
    api: `${url}/v1/agents/helper/chat`,
    headers: { authorization: `Bearer ${token}` },
    fetch: (input, init) => handler(new Request(input, init)),
  });
}

const add = defineTool({
  id: 'add',
  description: 'Adds',
  input: z.object({ a: z.number(), b: z.number() }),
  annotations: { readOnlyHint: true },
  execute: ({ a, b }) => a + b,
});
const sent: string[] = [];
const send = defineTool({
  id: 'send',
  description: 'Sends',
  input: z.object({ to: z.string() }),
  approval: 'always',
  execute: ({ to }) => {
    sent.push(to);
    return `sent to ${to}`;
  },
});

function runtimeOf(model: ScriptedModel): PlanningRuntime {
  return testRuntime({ model: model.model, tools: [add, send] });
}

type Hook = Parameters<typeof useChat<UIMessage>>[0];

/** Renders `useChat` in a page, and returns what it returned last. */
async function render(
  options: Hook,
  { strict = false } = {},
): Promise<{ chat: UseChatHelpers<UIMessage>; unmount: () => Promise<void> }> {
  const page = { chat: undefined as unknown as UseChatHelpers<UIMessage> };
  const Page = (): null => {
    page.chat = useChat(options);
    return null;
  };
  const root = createRoot(document.createElement('div'));
  const element = createElement(Page);
  root.render(strict ? createElement(StrictMode, null, element) : element);
  await vi.waitFor(() => expect(page.chat).toBeDefined());
  const unmount = async (): Promise<void> => root.unmount();
  onTestFinished(unmount);
  return Object.assign(page, { unmount });
}

/** Waits until it holds; the page renders meanwhile. */
async function until(holds: () => void): Promise<void> {
  await vi.waitFor(holds, { timeout: 30_000 });
}

const textOf = (message: UIMessage | undefined): string =>
  message?.parts.map((part) => part.type === 'text' ? part.text : '').join('') ?? '';
const toolOf = (message: UIMessage | undefined) =>
  message?.parts.find(({ type }) => type.startsWith('tool-')) as unknown as Record<string, unknown>;
const statesOf = (message: UIMessage | undefined): unknown[] =>
  message?.parts.flatMap((part) =>
    part.type === 'data-run' && 'data' in part ? [(part.data as { state: string }).state] : []
  ) ?? [];
/** The calls inside of programs that are in this state. */
const innerCallsOf = (message: UIMessage | undefined, state: string) =>
  message?.parts.flatMap((part) =>
    part.type === 'dynamic-tool' && part.state === state
      ? [{ id: part.approval?.id ?? '', to: (part.input as { to: string }).to }]
      : []
  ) ?? [];
const approvalOf = (message: UIMessage | undefined): string => (toolOf(message)['approval'] as { id: string }).id;

/** Says `start`, and then nothing until it is stopped. */
const stalled = (start: string) => () => stallingStream(says(start, 'more').slice(0, 3));
const asksToSend = callsTools({ tool: 'send', input: { to: 'Ada' } });
/** An answer and then a call, in one step. */
const asksAloud = [...says('I ask. ').slice(0, -1), ...asksToSend.slice(1)];

/** A model that says "Hel", and then whatever the test tells it to, once. */
function talkingModel(
  ...before: readonly LanguageModelV4StreamPart[][]
): ScriptedModel & { readonly tell: (text: string) => void } {
  const told = Promise.withResolvers<string>();
  const model = scriptedModel(...before, () => {
    const [start, open, delta] = says('Hel');
    return new ReadableStream({
      async start(controller) {
        for (const part of [start, open, delta]) if (part) controller.enqueue(part);
        for (const part of says(await told.promise).slice(2)) controller.enqueue(part);
        controller.close();
      },
    });
  });
  return { ...model, tell: told.resolve };
}

afterEach(() => void sent.splice(0));

describe.each(Object.entries(ways))('useChat with %s', (way, connect) => {
  it.each([true, false])('decides and continues when approved: %s', async (approved) => {
    const model = scriptedModel(asksToSend, says('Done'));
    const page = await render({ transport: connect(runtimeOf(model)), sendAutomaticallyWhen: answered });
    await page.chat.sendMessage({ text: 'Send' });
    await until(() => expect(toolOf(page.chat.messages.at(-1))['state']).toBe('approval-requested'));
    await until(() => expect(page.chat.status).toBe('ready'));
    const id = approvalOf(page.chat.messages.at(-1));
    await page.chat.addToolApprovalResponse({ id, approved, reason: 'as I say' });
    await until(() => expect(textOf(page.chat.messages.at(-1))).toBe('Done'));
    await until(() => expect(page.chat.status).toBe('ready'));
    expect(page.chat.messages).toHaveLength(2);
    expect(toolOf(page.chat.messages.at(-1))).toMatchObject(
      approved
        ? { state: 'output-available', output: 'sent to Ada' }
        : { state: 'output-denied', approval: { approved: false } },
    );
    expect(sent).toEqual(approved ? ['Ada'] : []);
    expect(statesOf(page.chat.messages.at(-1))).toEqual(['awaiting_approval', 'completed']);
    if (!approved) expect(JSON.stringify(model.calls.at(-1)?.prompt)).toContain('as I say');
  });

  it('decides on the calls inside of a program, each by itself, and goes on with it', async () => {
    const code = `const all = await Promise.allSettled(['Ada', 'Bob', 'Cy'].map((to) => tools.send({ to })));
      return all.map((one) => one.value ?? one.reason.code);`;
    const model = scriptedModel(callsTools({ tool: 'code_run', input: { code }, id: 'p' }), says('Done'));
    const agent = { entryTools: ['*', 'code_run'] };
    const runtime = testRuntime({
      model: model.model,
      tools: [add, send],
      sandbox: localSandbox(),
      programs: true,
      agent,
    });
    const page = await render({ transport: connect(runtime), sendAutomaticallyWhen: answered });
    await page.chat.sendMessage({ text: 'Send all' });
    const waiting = () => innerCallsOf(page.chat.messages.at(-1), 'approval-requested');
    await until(() => expect(waiting()).toHaveLength(3));
    expect(sent).toEqual([]);
    for (const { id, to } of waiting()) await page.chat.addToolApprovalResponse({ id, approved: to !== 'Bob' });
    await until(() => expect(textOf(page.chat.messages.at(-1))).toBe('Done'));
    expect(sent.toSorted()).toEqual(['Ada', 'Cy']);
    const program = page.chat.messages.at(-1)?.parts.find(({ type }) => type === 'tool-code_run');
    expect(program).toMatchObject({ state: 'output-available', output: ['sent to Ada', 'forbidden', 'sent to Cy'] });
    expect(page.chat.messages).toHaveLength(2);
    expect(model.calls).toHaveLength(2);
  });

  it('remembers a denial in the next turn', async () => {
    const model = scriptedModel(asksToSend, says('Done'), says('Right'));
    const page = await render({ transport: connect(runtimeOf(model)), sendAutomaticallyWhen: answered });
    await page.chat.sendMessage({ text: 'Send' });
    await until(() => expect(page.chat.status).toBe('ready'));
    const id = approvalOf(page.chat.messages.at(-1));
    await page.chat.addToolApprovalResponse({ id, approved: false, reason: 'not today' });
    await until(() => expect(textOf(page.chat.messages.at(-1))).toBe('Done'));
    await page.chat.sendMessage({ text: 'And now?' });
    await until(() => expect(textOf(page.chat.messages.at(-1))).toBe('Right'));
    expect(JSON.stringify(model.calls.at(-1)?.prompt)).toContain('not today');
  });

  it('cancels the run on stop, and keeps no message that says it is running', async () => {
    const model = scriptedModel(stalled('Hel'));
    const page = await render({ transport: connect(runtimeOf(model)) });
    void page.chat.sendMessage({ text: 'Talk' });
    await until(() => expect(textOf(page.chat.messages.at(-1))).toContain('Hel'));
    await page.chat.stop();
    await until(() => expect(model.calls[0]?.abortSignal?.aborted).toBe(true));
    expect(page.chat.status).toBe('ready');
    expect(statesOf(page.chat.messages.at(-1))).not.toContain('running');
  });

  it.each([false, true])('joins a run after a reload, also in strict mode: %s', async (strict) => {
    const model = talkingModel();
    const runtime = runtimeOf(model);
    const transport = connect(runtime);
    const before = new Chat<UIMessage>({ id: 'c1', transport });
    void before.sendMessage({ text: 'Talk' });
    await vi.waitFor(() => expect(textOf(before.messages.at(-1))).toBe('Hel'), { timeout: 30_000 });
    // The page is gone: nothing reads, and nothing was aborted.
    const stored = structuredClone(before.messages);
    const page = await render({
      id: 'c1',
      messages: stored,
      transport: way === 'createClient' ? connect(runtime) : transport,
      resume: true,
    }, { strict });
    await until(() => expect(page.chat.status).toBe('streaming'));
    model.tell('lo');
    await until(() => expect(page.chat.status).toBe('ready'));
    expect(textOf(page.chat.messages.at(-1))).toBe('Hello');
    expect(page.chat.messages).toHaveLength(2);
    expect(model.calls).toHaveLength(1);
    expect(statesOf(page.chat.messages.at(-1))).toEqual(['completed']);
  });

  it('joins the whole message after an approval, once', async () => {
    const model = talkingModel(asksAloud);
    const runtime = runtimeOf(model);
    const transport = connect(runtime);
    const before = new Chat<UIMessage>({ id: 'c1', transport, sendAutomaticallyWhen: answered });
    await before.sendMessage({ text: 'Send' });
    await before.addToolApprovalResponse({ id: approvalOf(before.messages.at(-1)), approved: true });
    await vi.waitFor(() => expect(textOf(before.messages.at(-1))).toContain('Hel'), { timeout: 30_000 });
    const stored = structuredClone(before.messages);
    const page = await render({ id: 'c1', messages: stored, transport, resume: true });
    await until(() => expect(page.chat.status).toBe('streaming'));
    model.tell('lo');
    await until(() => expect(page.chat.status).toBe('ready'));
    expect(textOf(page.chat.messages.at(-1))).toBe('I ask. Hello');
    expect(page.chat.messages.at(-1)?.parts.filter(({ type }) => type === 'tool-send')).toHaveLength(1);
    expect(toolOf(page.chat.messages.at(-1))).toMatchObject({ state: 'output-available', output: 'sent to Ada' });
    expect(sent).toEqual(['Ada']);
  });

  it('goes on with an answer while another chat is shown, where the chats are made outside of components', async () => {
    const model = talkingModel();
    const transport = connect(runtimeOf(model));
    const first = new Chat<UIMessage>({ id: 'a', transport });
    const second = new Chat<UIMessage>({ id: 'b', transport });
    const { unmount } = await render({ chat: first });
    const sending = first.sendMessage({ text: 'Hi' });
    await until(() => expect(textOf(first.messages[1])).toBe('Hel'));
    await unmount();
    await render({ chat: second });
    model.tell('lo');
    await sending;
    expect(textOf(first.messages[1])).toBe('Hello');
    expect(statesOf(first.messages[1])).toEqual(['completed']);
  });

  it('has nothing to join when no run is under way', async () => {
    const page = await render({ transport: connect(runtimeOf(scriptedModel())), resume: true });
    await until(() => expect(page.chat.status).toBe('ready'));
    expect(page.chat.messages).toEqual([]);
  });
});

describe('PinnaceUIMessage', () => {
  it('types the data parts and the tools of messages', async () => {
    type Message = PinnaceUIMessage<ToolsOf<[typeof add, typeof send]>>;
    const transport = createClient({
      url,
      credentials: { bearer: token },
      fetch: async () => new Response(null, { status: 204 }),
    });
    const chat = new Chat<Message>({ transport });
    const [part] = chat.messages.at(-1)?.parts ?? [];
    if (part?.type === 'data-run') assertType<string>(part.data.state);
    // @ts-expect-error -- a run has no such state
    if (part?.type === 'data-run') assertType<'away'>(part.data.state);
    if (part?.type === 'tool-add' && part.state === 'output-available') assertType<number>(part.output);
    // @ts-expect-error -- the output is a number
    if (part?.type === 'tool-add' && part.state === 'output-available') assertType<string>(part.output);
    if (part?.type === 'data-sources') assertType<number | undefined>(part.data.sources[0]?.n);
    if (part?.type === 'data-compaction') assertType<string | undefined>(part.data.summary);
    if (part?.type === 'data-plan') assertType<string | undefined>(part.data.planId);
    expect(part).toBeUndefined();
  });
});

describe('useChat with DefaultChatTransport', () => {
  it('chats, decides by its messages and continues', async () => {
    const page = await render({
      transport: defaultTransport(runtimeOf(scriptedModel(asksToSend, says('Done')))),
      sendAutomaticallyWhen: answered,
    });
    await page.chat.sendMessage({ text: 'Send' });
    await until(() => expect(page.chat.status).toBe('ready'));
    await page.chat.addToolApprovalResponse({ id: approvalOf(page.chat.messages.at(-1)), approved: true });
    await until(() => expect(textOf(page.chat.messages.at(-1))).toBe('Done'));
    expect(sent).toEqual(['Ada']);
  });

  it('resumes after a reload', async () => {
    const model = talkingModel();
    const runtime = runtimeOf(model);
    const before = new Chat<UIMessage>({ id: 'c1', transport: defaultTransport(runtime) });
    void before.sendMessage({ text: 'Talk' });
    await vi.waitFor(() => expect(textOf(before.messages.at(-1))).toBe('Hel'), { timeout: 30_000 });
    const page = await render({
      id: 'c1',
      messages: structuredClone(before.messages),
      transport: defaultTransport(runtime),
      resume: true,
    });
    await until(() => expect(page.chat.status).toBe('streaming'));
    model.tell('lo');
    await until(() => expect(textOf(page.chat.messages.at(-1))).toBe('Hello'));
    expect(page.chat.messages).toHaveLength(2);
  });
});
