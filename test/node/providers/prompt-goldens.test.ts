import { readFile, writeFile } from 'node:fs/promises';
import process from 'node:process';
import { type FixtureFileEntry, LLMock } from '@copilotkit/aimock';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { sha256Sync } from '../../../src/base/hash.ts';
import { defineTool, localPrincipal, type UIMessage } from '../../../src/index.ts';
import { foldMessage } from '../../../src/runtime/fold-message.ts';
import {
  type ProviderName,
  providers,
  rememberingFetch,
  type SentRequest,
} from '../../fixtures/providers/providers.ts';
import { readAll, runRequest, testRuntime, userMessage } from '../../fixtures/runtime.ts';

const file = new URL('../../fixtures/golden/prompts.json', import.meta.url);
const names = ['openai responses', 'anthropic', 'google', 'openai-compatible'] as const satisfies ProviderName[];

const load = { id: 'call_load', name: 'tool_load', arguments: '{"names":["sea_tide"]}' };
const tide = { id: 'call_tide', name: 'tool_call', arguments: '{"name":"sea_tide","arguments":{"port":"Oslo"}}' };
const fixtures: FixtureFileEntry[] = [
  { match: { userMessage: 'the tide', sequenceIndex: 0 }, response: { toolCalls: [load], finishReason: 'stop' } },
  { match: { userMessage: 'the tide', sequenceIndex: 1 }, response: { toolCalls: [tide], finishReason: 'stop' } },
  { match: { userMessage: 'the tide' }, response: { content: 'High at noon', reasoning: 'I have read it' } },
  { match: { userMessage: 'thanks' }, response: { content: 'You are welcome' } },
];

const tools = Array.from({ length: 30 }, (_, at) =>
  defineTool({
    id: at === 0 ? 'sea_tide' : `sea_chart${at}`,
    description: at === 0 ? 'Returns the tide of a port' : `Shows the chart ${at} of the coast`,
    input: v.object({ port: v.string() }),
    annotations: { readOnlyHint: true },
    execute: ({ port }) => ({ port, high: '12:00' }),
  }));

/** The ids and the encrypted thoughts that the mock server makes up anew in each run. */
const issued = /"(?:rs|fc|msg|resp)[-_][\w-]+"|(?<="encrypted_content":)"[^"]*"/g;

/** The blocks of a request in the order in which providers hash them, without the marks of caches. */
function blocksOf({ body }: SentRequest): readonly string[] {
  const { tools: offered, system, systemInstruction, instructions, messages, input, contents } = JSON.parse(
    body,
    (key, value: unknown) => key === 'cache_control' ? undefined : value,
  ) as Record<string, unknown>; // what a package has sent
  const turns = messages ?? input ?? contents;
  return [offered, system ?? systemInstruction ?? instructions, ...Array.isArray(turns) ? turns : []]
    .map((block) => JSON.stringify(block) ?? '');
}

/** Three turns, the last one on another instance. A tool is loaded and called in the second. */
async function chat(name: ProviderName): Promise<readonly SentRequest[]> {
  const mock = new LLMock({ port: 0, logLevel: 'silent' });
  mock.addFixturesFromJSON(fixtures);
  await mock.start();
  const sent: SentRequest[] = [];
  const model = providers[name]({ url: mock.url, fetch: rememberingFetch({ sent, fetch: globalThis.fetch }) });
  const storage = memoryStorage();
  const agent = {
    entryTools: ['tool_*', 'sea_*'],
    instructions: `You know the sea. ${'It is deep and cold. '.repeat(40)}`,
  };
  const messages: UIMessage[] = [];
  for (const text of ['thanks for coming', 'When is the tide?', 'thanks again']) {
    const runtime = testRuntime({ model, tools, storage, agent });
    messages.push(userMessage(text, `m${messages.length}`));
    const request = runRequest({ chat: { id: 'c', messages: [...messages] } });
    const chunks = await readAll(await runtime.run(request, localPrincipal()));
    messages.push(
      JSON.parse(JSON.stringify(foldMessage(chunks, { id: '', role: 'assistant', parts: [] }))) as UIMessage,
    );
    await runtime.close();
  }
  expect(mock.getRequests()).toHaveLength(sent.length);
  await mock.stop();
  return sent;
}

/** What the input of these calls costs in tokens of plain input: 0.1 for what is cached, 1.25 for what is written. */
function priceOf(calls: readonly (readonly string[])[], kept: (at: number) => number): number {
  const sizeOf = (blocks: readonly string[]): number => blocks.join('').length / 4;
  return calls.reduce((sum, blocks, at) => {
    const cached = sizeOf(blocks.slice(0, kept(at)));
    const isLong = cached >= 1_024; // no provider caches less
    return sum + (isLong ? cached * 0.1 : 0) + (sizeOf(blocks) - (isLong ? cached : 0)) * 1.25;
  }, 0);
}

function sharedOf(before: readonly string[], next: readonly string[]): number {
  const changed = before.findIndex((block, at) => block !== next[at]);
  return changed < 0 ? before.length : changed;
}

describe('the prompts that a provider package sends', () => {
  it.each(names)('extend each other over a loaded tool and another instance, as recorded: %s', async (name) => {
    const calls = (await chat(name)).map(blocksOf);
    expect(calls).toHaveLength(5);
    for (const [at, blocks] of calls.entries()) {
      const before = calls[at - 1] ?? [];
      expect(blocks.slice(0, before.length), `call ${at + 1}`).toEqual(before);
    }
    const kept = (at: number): number => sharedOf(calls[at - 1] ?? [], calls[at] ?? []);
    const best = (at: number): number => calls[at - 1]?.length ?? 0;
    expect(priceOf(calls, kept) / priceOf(calls, best)).toBeLessThanOrEqual(1.02);
    const chains = calls.map((blocks) =>
      blocks.map((block) => sha256Sync(block.replaceAll(issued, '""')).slice(0, 8)).join(' ')
    );
    const golden = JSON.parse(await readFile(file, 'utf8').catch(() => '{}')) as Record<string, readonly string[]>;
    if (process.env['UPDATE_GOLDEN']) {
      await writeFile(file, `${JSON.stringify({ ...golden, [name]: chains }, undefined, 2)}\n`);
    } else expect(chains).toEqual(golden[name]);
  });
});
