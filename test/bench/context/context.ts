/** What long chats cost before their model is called: validation, conversion, and fitting them into a context window. */

import process from 'node:process';
import type { UIMessage } from '../../../src/index.ts';
import { createContextWindow } from '../../../src/runtime/context-window.ts';
import { toModelMessages } from '../../../src/runtime/model-messages.ts';
import { toPrompt } from '../../../src/runtime/model-prompt.ts';
import { defaultLimits } from '../../../src/runtime/limits.ts';
import { parseRunRequest } from '../../../src/runtime/run-request.ts';
import { cpuMs, median, report, type Row } from '../measure.ts';

const rounds = 40;
const warmup = 20;
const words = 'The quick brown fox jumps over the lazy dog. ';

/** A chat of which every second message is an answer, and every fourth answer has called a tool. About 1 KiB a message. */
function chatOf(count: number): UIMessage[] {
  return Array.from({ length: count }, (_, i): UIMessage => {
    const id = `m${i}`;
    if (i % 2 === 0) return { id, role: 'user', parts: [{ type: 'text', text: `${i} ${words.repeat(5)}` }] };
    const text = { type: 'text' as const, text: words.repeat(20) };
    return { id, role: 'assistant', parts: i % 8 === 1 ? [{ type: 'step-start' }, callOf(id), text] : [text] };
  });
}

function callOf(id: string): UIMessage['parts'][number] {
  const rows = Array.from({ length: 20 }, (_, n) => ({ n, name: `row ${n}`, text: words }));
  const facts = { toolCallId: id, state: 'output-available' as const, input: { query: id } };
  return { type: 'tool-lookup', ...facts, output: { rows } };
}

/** CPU milliseconds of the work, each time with input of its own. */
async function measure<Input>(prepare: () => Input, work: (input: Input) => unknown): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < warmup + rounds; i++) {
    const input = prepare();
    const before = cpuMs();
    await work(input);
    if (i >= warmup) times.push(cpuMs() - before);
  }
  return median(times);
}

async function fit(prompt: ReturnType<typeof toPrompt>, contextTokens: number): Promise<void> {
  const { signal } = new AbortController();
  const facts = { agentId: 'a', runId: 'r', strategy: undefined, toolTokens: () => 0, signal };
  const fitting = createContextWindow({ contextTokens, ...facts }).fit(prompt);
  while (fitting && !(await fitting.next()).done);
}

async function rowsOf(count: number): Promise<Row[]> {
  const chat = chatOf(count - 1);
  const messages = [...chat, ...chatOf(1)];
  const request = { agentId: 'a', chat: { id: 'c', messages } };
  const megabytes = (JSON.stringify(request).length / 1e6).toFixed(1);
  const prompt = () => toPrompt('Be brief.', toModelMessages(messages));
  const value = (ms: number): string => `${ms.toFixed(2)} ms`;
  const estimated = await measure(prompt, (given) => fit(given, 1e9));
  const trimmed = await measure(prompt, (given) => fit(given, 128_000));
  const parsed = await measure(() => request, (given) => parseRunRequest(given, defaultLimits));
  const converted = await measure(() => messages, toModelMessages);
  return [
    { figure: `${count} messages (${megabytes} MB), estimated`, value: value(estimated) },
    {
      figure: `${count} messages, estimated and trimmed to 128,000 tokens`,
      value: value(trimmed),
      ...(count === 2_000 && { bar: '<= 5 ms', met: trimmed <= 5 }),
    },
    { figure: `${count} messages, validated`, value: value(parsed) },
    { figure: `${count} messages, converted for the model`, value: value(converted) },
  ];
}

report('Long chats', [...await rowsOf(500), ...await rowsOf(2_000)]);
process.exit(0); // what is measured is reported, never failed
