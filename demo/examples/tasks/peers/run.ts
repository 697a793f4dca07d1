/** Runs the tasks of each peer with scripted models, without keys. */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AIMessage } from '@langchain/core/messages';
import { fakeModel } from '@langchain/core/testing';
import { FakeListChatModel } from '@langchain/core/utils/testing';
import { MemorySaver } from '@langchain/langgraph';
import { Agent as MastraAgent } from '@mastra/core/agent';
import type { MastraModelConfig } from '@mastra/core/llm';
import { Agent as OpenAiAgent, type Model, run, setTracingDisabled, type StreamEvent, Usage } from '@openai/agents';
import { convertArrayToReadableStream, MockLanguageModelV3 } from 'ai/test';
import * as langchain from './langchain.ts';
import * as mastra from './mastra.ts';
import * as openai from './openai-agents.ts';

interface Call {
  readonly tool: string;
  readonly input: Record<string, unknown>;
}
/** What a model answers: a text, one call, or an error. `tokens` are those of the whole answer. */
type Answer = string | Error | (Call & { readonly tokens?: number });

const chat = () => {
  const messages = [{ id: 'm1', role: 'user', parts: [{ type: 'text', text: 'Hi' }] }];
  return new Request('http://127.0.0.1', { method: 'POST', body: JSON.stringify({ messages }) });
};
const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** A model of the AI SDK, which gives its last answer again when it has no more. */
function sdkModel(...answers: readonly Answer[]): MockLanguageModelV3 {
  let at = 0;
  const next = () => {
    const answer = answers[Math.min(at++, answers.length - 1)] ?? '';
    if (answer instanceof Error) throw answer;
    const call = typeof answer === 'string' ? undefined : answer;
    const total = call?.tokens ?? 2;
    const usage = {
      inputTokens: { total: total - 1, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
      outputTokens: { total: 1, text: 1, reasoning: undefined },
    };
    const finishReason = { unified: call ? 'tool-calls' as const : 'stop' as const, raw: undefined };
    const toolCall = call && {
      type: 'tool-call' as const,
      toolCallId: `call-${at}`,
      toolName: call.tool,
      input: JSON.stringify(call.input),
    };
    return { text: String(answer), toolCall, usage, finishReason };
  };
  return new MockLanguageModelV3({
    doGenerate: async () => {
      const { text, toolCall, usage, finishReason } = next();
      return { content: [toolCall ?? { type: 'text', text }], usage, finishReason, warnings: [] };
    },
    doStream: async () => {
      const { text, toolCall, usage, finishReason } = next();
      const words = [
        { type: 'text-start' as const, id: 't' },
        { type: 'text-delta' as const, id: 't', delta: text },
        { type: 'text-end' as const, id: 't' },
      ];
      const start = { type: 'stream-start' as const, warnings: [] };
      const finish = { type: 'finish' as const, usage, finishReason };
      return { stream: convertArrayToReadableStream([start, ...(toolCall ? [toolCall] : words), finish]) };
    },
  });
}

/** Mastra declares that both calls stream, and reads both as they are. */
const toMastra = (model: MockLanguageModelV3) => model as unknown as MastraModelConfig;
const mastraModel = (...answers: readonly Answer[]) => toMastra(sdkModel(...answers));

async function runMastra(): Promise<void> {
  const agent = (...answers: Answer[]) => mastra.helper(mastraModel(...answers), mastraModel('Here'));
  assert.match(await (await mastra.chatRoute(mastraModel('Hello'), chat())).text(), /Hello/);
  const called = await agent({ tool: 'weather', input: { city: 'Oslo' } }, 'Done').generate('Hi');
  assert.equal(called.text, 'Done');
  const waiting = await agent({ tool: 'sendMail', input: { to: 'ada' } }, 'Sent').generate('Hi');
  assert.equal(waiting.finishReason, 'suspended');
  assert.equal((await agent(new Error('down')).generate('Hi')).text, 'Here');
  const task = { tool: 'agent-librarian', input: { prompt: 'Find it' } };
  const model = sdkModel(task, 'In 1911', 'Found');
  assert.equal((await mastra.withLibrarian(toMastra(model)).generate('Hi')).text, 'Found');
  assert.equal(model.doGenerateCalls.length + model.doStreamCalls.length, 3);
  assert.deepEqual(await mastra.cityOf(agent('{"city":"Oslo"}'), 'Where?'), { city: 'Oslo' });
  assert.equal((await mastra.describe(agent('A dot'), pixel)).text, 'A dot');
  const costly = agent({ tool: 'weather', input: { city: 'Oslo' }, tokens: 60_000 }, 'Never');
  assert.notEqual((await mastra.runWithin(costly, 'Hi')).text, 'Never');
  const folder = mkdtempSync(join(tmpdir(), 'mastra-'));
  const threads = await mastra.continueChat(mastraModel('Hello'), `file:${folder}/chats.db`, 'Hi');
  assert.deepEqual(threads.map(({ id }) => id), ['trip']);
  rmSync(folder, { recursive: true });
  const runs = new Map<string, Promise<unknown>>();
  const once = new MastraAgent({ id: 'a', name: 'A', instructions: '', model: mastraModel('First', 'Second') });
  assert.equal(await mastra.runOnce(once, runs, 'Hi', 'k'), await mastra.runOnce(once, runs, 'Hi', 'k'));
}

async function runLangChain(): Promise<void> {
  const call = (name: string, args: Record<string, unknown>) => [{ name, args, id: 'c1' }];
  const speaking = new FakeListChatModel({ responses: ['Hello'] });
  assert.match(await (await langchain.chatRoute(speaking, chat())).text(), /"delta":"H"/);
  const thread = { configurable: { thread_id: '1' } };
  const hi = { messages: [{ role: 'user', content: 'Hi' }] };
  const calling = fakeModel().respondWithTools(call('weather', { city: 'Oslo' })).respond(new AIMessage('Done'));
  const called = await langchain.helper(calling, fakeModel()).invoke(hi, thread);
  assert.equal(called.messages.at(-1)?.text, 'Done');
  const mailing = fakeModel().respondWithTools(call('send_mail', { to: 'ada' }));
  const waiting = await langchain.helper(mailing, fakeModel()).invoke(hi, { configurable: { thread_id: '2' } });
  assert.ok('__interrupt__' in waiting);
  const failing = langchain.helper(
    fakeModel().alwaysThrow(new Error('down')),
    fakeModel().respond(new AIMessage('Here')),
  );
  const replaced = await failing.invoke(hi, { configurable: { thread_id: '3' } });
  assert.equal(replaced.messages.at(-1)?.text, 'Here');
  const librarian = langchain.askLibrarian(fakeModel().respond(new AIMessage('In 1911')));
  assert.equal(await librarian.invoke({ task: 'Find it' }), 'In 1911');
  const city = fakeModel().respondWithTools(call('extract-1', { city: 'Oslo' })).structuredResponse({ city: 'Oslo' });
  assert.deepEqual(await langchain.cityOf(city, 'Where?'), { city: 'Oslo' });
  const seen = await langchain.describe(fakeModel().respond(new AIMessage('A dot')), pixel);
  assert.equal(seen.messages.at(-1)?.text, 'A dot');
  const usage = { input_tokens: 60_000, output_tokens: 1, total_tokens: 60_001 };
  const costly = fakeModel()
    .respond(new AIMessage({ content: '', tool_calls: call('weather', { city: 'Oslo' }), usage_metadata: usage }))
    .respond(new AIMessage('Never'));
  assert.notEqual((await langchain.runWithin(costly, 'Hi')).messages.at(-1)?.text, 'Never');
  const chats = await langchain.continueChat(fakeModel().respond(new AIMessage('Hello')), new MemorySaver(), 'Hi');
  assert.deepEqual(chats, ['trip']);
  const runs = new Map<string, Promise<unknown>>();
  const once = langchain.helper(fakeModel().respond(new AIMessage('First')), fakeModel());
  assert.equal(await langchain.runOnce(once, runs, 'Hi', 'k'), await langchain.runOnce(once, runs, 'Hi', 'k'));
}

/** A model of the OpenAI Agents SDK. */
function openAiModel(...answers: readonly Answer[]): Model {
  let at = 0;
  const getResponse: Model['getResponse'] = async () => {
    const answer = answers[Math.min(at++, answers.length - 1)] ?? '';
    if (answer instanceof Error) throw answer;
    const total = typeof answer === 'string' ? 2 : answer.tokens ?? 2;
    const usage = new Usage({ requests: 1, inputTokens: total - 1, outputTokens: 1, totalTokens: total });
    const status = 'completed' as const;
    if (typeof answer === 'string') {
      const content = [{ type: 'output_text' as const, text: answer }];
      return { usage, output: [{ type: 'message', role: 'assistant', status, content }] };
    }
    const input = JSON.stringify(answer.input);
    return {
      usage,
      output: [{ type: 'function_call', callId: `c${at}`, name: answer.tool, status, arguments: input }],
    };
  };
  return {
    getResponse,
    async *getStreamedResponse(request) {
      const { usage, output } = await getResponse(request);
      yield { type: 'response_done', response: { id: 'r1', usage, output } } as StreamEvent; // safe: of assistants alone
    },
  };
}

async function runOpenAi(): Promise<void> {
  setTracingDisabled(true);
  const tools = [openai.weather, openai.sendMail];
  const agent = (...answers: Answer[]) => new OpenAiAgent({ name: 'Helper', model: openAiModel(...answers), tools });
  assert.match(await (await openai.chatRoute(openAiModel('Hello'), chat())).text(), /Hello/);
  assert.equal((await run(agent({ tool: 'weather', input: { city: 'Oslo' } }, 'Done'), 'Hi')).finalOutput, 'Done');
  assert.equal((await run(agent({ tool: 'send_mail', input: { to: 'ada' } }), 'Hi')).interruptions.length, 1);
  const replaced = await openai.withFallback([openAiModel(new Error('down')), openAiModel('Here')], 'Hi');
  assert.equal(replaced.finalOutput, 'Here');
  const model = openAiModel({ tool: 'ask_librarian', input: { input: 'Find it' } }, 'Found');
  const asking = new OpenAiAgent({ name: 'Helper', model, tools: [openai.askLibrarian(openAiModel('In 1911'))] });
  const found = await run(asking, 'Hi');
  assert.match(JSON.stringify(found.newItems), /In 1911/);
  assert.deepEqual(await openai.cityOf(openAiModel('{"city":"Oslo"}'), 'Where?'), { city: 'Oslo' });
  const seen = await openai.describe(openAiModel('A dot'), `data:image/png;base64,${pixel}`);
  assert.equal(seen.finalOutput, 'A dot');
  const costly = openAiModel({ tool: 'weather', input: { city: 'Oslo' }, tokens: 60_000 }, 'Never');
  const outcome = await openai.runWithin(costly, 'Hi').then(({ finalOutput }) => finalOutput, () => 'stopped');
  assert.notEqual(outcome, 'Never');
  assert.deepEqual(await openai.continueChat(openAiModel('Hello'), new Map(), 'Hi'), ['trip']);
  const runs = new Map<string, Promise<unknown>>();
  const once = agent('First', 'Second');
  assert.equal(await openai.runOnce(once, runs, 'Hi', 'k'), await openai.runOnce(once, runs, 'Hi', 'k'));
}

let failed = 0;
for (const [name, tasks] of Object.entries({ mastra: runMastra, langchain: runLangChain, openai: runOpenAi })) {
  try {
    await tasks();
    console.log(`ok ${name}`);
  } catch (error) {
    failed++;
    console.error(`not ok ${name}:`, error);
  }
}
process.exit(failed === 0 ? 0 : 1);
