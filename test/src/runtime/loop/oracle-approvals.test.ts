import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { convertToModelMessages, isStepCount, readUIMessageStream, streamText } from 'ai';
import { describe, expect, it } from 'vitest';
import { localPrincipal, type UIMessage, type UIMessageChunk } from '../../../../src/index.ts';
import { normalize } from '../../../fixtures/loop/normalize.ts';
import { asked, echo, type OracleTool, toOurTool, toSdkTool } from '../../../fixtures/loop/oracle-tools.ts';
import { instructions, recorded, runOracle } from '../../../fixtures/loop/oracle.ts';
import { answer, call, done, reasoning, text } from '../../../fixtures/loop/parts.ts';
import { streamOf } from '../../../fixtures/model.ts';
import { lastData, readAll, testRuntime, userMessage } from '../../../fixtures/runtime.ts';

const me = localPrincipal();
const user = userMessage('Hello');
type Script = readonly LanguageModelV4StreamPart[];

/** The message as an AI SDK client keeps it. */
async function messageOf(chunks: readonly UIMessageChunk[]): Promise<UIMessage> {
  return (await readAll(readUIMessageStream({ stream: streamOf(chunks) }))).at(-1)!;
}

/** The prompt after a person has decided, of `streamText`. */
async function theirPrompt(script: Script, approved: boolean): Promise<unknown> {
  const message = await messageOf((await runOracle({ scripts: [script] })).chunks);
  const parts = message.parts.map((part) =>
    'approval' in part && part.approval && part.state === 'approval-requested'
      ? { ...part, state: 'approval-responded', approval: { ...part.approval, approved } }
      : part
  ) as UIMessage['parts']; // as a client answers
  const { model, prompts } = recorded([done]);
  const tools = { asked: toSdkTool(asked), echo: toSdkTool(echo) };
  const messages = await convertToModelMessages([user, { ...message, parts }], { tools });
  const { stream } = streamText({ model, instructions, messages, tools, stopWhen: isStepCount(1) });
  await readAll(stream);
  return normalize({ chunks: [], prompts }).prompts[0];
}

/** The prompt after a person has decided, of a run. Also how often the tool has run, with the same message sent twice. */
async function ourPrompt(script: Script, approved: boolean): Promise<{ prompt: unknown; made: number }> {
  let made = 0;
  const counted: OracleTool = { ...asked, run: (input) => (made++, asked.run(input)) };
  const { model, prompts } = recorded([script, done]);
  const runtime = testRuntime({ model, agent: { instructions }, tools: [counted, echo].map(toOurTool) });
  const run = async (...messages: readonly UIMessage[]): Promise<UIMessageChunk[]> =>
    await readAll(await runtime.run({ agentId: 'helper', chat: { id: 'c', messages: [...messages] } }, me));
  const chunks = await run(user);
  const runId = String(lastData(chunks, 'data-run')['runId']);
  for (const chunk of chunks) {
    if (chunk.type === 'tool-approval-request') await runtime.decide(runId, chunk.approvalId, { approved }, me);
  }
  const message = await messageOf(chunks);
  await run(user, message);
  await run(user, message).catch(() => undefined); // replayed
  await runtime.close();
  return { prompt: normalize({ chunks: [], prompts }).prompts[1], made };
}

const scripts: readonly (readonly [string, Script, number])[] = [
  ['a call', answer(call('asked', { n: 1 })), 1],
  ['two calls', answer(call('asked', { n: 1 }, 'a'), call('asked', { n: 2 }, 'b')), 2],
  ['a call beside one that needs none', answer(call('echo', { n: 1 }), call('asked', { n: 2 })), 1],
  ['a text and a thought before the call', answer(reasoning('r', 'Hm'), text('t', 'Shall I?'), call('asked', {})), 1],
];

describe('the prompt after a person has decided', () => {
  it.each(scripts)('is that of streamText, and an approval is spent once: %s', async (_, script, calls) => {
    const { prompt, made } = await ourPrompt(script, true);
    expect(prompt).toEqual(await theirPrompt(script, true));
    expect(made).toBe(calls);
  });

  it.each(scripts)('is that of streamText after a denial, which is an error here: %s', async (_, script) => {
    const { prompt, made } = await ourPrompt(script, false);
    const theirs = JSON.stringify(await theirPrompt(script, false));
    const expected = theirs.replaceAll(/{"type":"execution-denied"[^}]*}/g, '{"type":"error-text","value":"error"}');
    expect(prompt).toEqual(JSON.parse(expected));
    expect([made, expected === theirs]).toEqual([0, false]);
  });
});
