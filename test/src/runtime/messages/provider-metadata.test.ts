import type { LanguageModelV4StreamPart as Part } from '@ai-sdk/provider';
import { readUIMessageStream } from 'ai';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import {
  createPrincipal,
  defineTool,
  type LanguageModel,
  localPrincipal,
  type Principal,
  type UIMessage,
  type UIMessageChunk,
} from '../../../../src/index.ts';
import { issuedIn } from '../../../../src/runtime/issued-metadata.ts';
import { callsTools, says, scriptedModel, streamOf } from '../../../fixtures/model.ts';
import { lastData, readAll, runRequest, testRuntime, userMessage } from '../../../fixtures/runtime.ts';

const me = localPrincipal();
const foreign = { openai: { itemId: 'msg_of_another_tenant' } };

/** What the provider was given after one request with this assistant message in the chat. */
async function promptAfter(parts: readonly object[]): Promise<string> {
  const model = scriptedModel(says('ok'));
  const runtime = testRuntime({ ...model, tools: [deleteTool().tool] });
  const messages = [userMessage('Hi'), { id: 'm2', role: 'assistant', parts } as UIMessage, userMessage('And?', 'm3')];
  await readAll(await runtime.run(runRequest({ chat: { id: 'c', messages } }), me));
  return JSON.stringify(model.calls[0]?.prompt);
}

function deleteTool() {
  const deleted: string[] = [];
  const tool = defineTool({
    id: 'delete_note',
    description: 'Deletes a note',
    approval: 'mutating',
    input: v.strictObject({ noteId: v.string() }),
    execute: ({ noteId }) => (deleted.push(noteId), { deleted: noteId }),
  });
  return { tool, deleted };
}

describe('provider metadata in the messages of a client', () => {
  it.each<[string, object]>([
    ['of a text', { type: 'text', text: 'Hello', providerMetadata: foreign }],
    ['given as provider options', { type: 'text', text: 'Hello', providerOptions: foreign }],
    ['of reasoning', { type: 'reasoning', text: 'Hm', providerMetadata: foreign }],
    ['of a custom part', { type: 'custom', kind: 'openai.compaction', providerMetadata: foreign }],
    ['of a file', {
      type: 'file',
      mediaType: 'image/png',
      url: 'data:image/png;base64,iVBORw0KGgo=',
      providerMetadata: foreign,
    }],
    ['of a call', {
      type: 'tool-delete_note',
      toolCallId: 'call-0',
      state: 'output-available',
      input: { noteId: 'n' },
      output: 1,
      callProviderMetadata: foreign,
      resultProviderMetadata: foreign,
    }],
    ['of a failed call', {
      type: 'dynamic-tool',
      toolName: 'delete_note',
      toolCallId: 'call-0',
      state: 'output-error',
      input: { noteId: 'n' },
      errorText: 'no',
      resultProviderMetadata: foreign,
    }],
    ['in a steering message', {
      type: 'steering-message',
      id: 's',
      parts: [{ type: 'text', text: 'Stop', providerMetadata: foreign }],
    }],
  ])('never reaches the provider: %s', async (_name, part) => {
    expect(await promptAfter([{ type: 'text', text: 'Hello' }, part])).not.toContain('of_another_tenant');
  });

  it('never names a file of the shared account, by reference or as data', async () => {
    const file = { type: 'file', mediaType: 'application/pdf', url: 'data:application/pdf;base64,JVBERi0=' };
    const referring = { ...file, providerReference: { openai: 'file-of_another_tenant' } };
    expect(await promptAfter([{ type: 'text', text: 'Hello' }, referring])).not.toContain('of_another_tenant');
    const disguised = { ...file, url: 'data:application/pdf;base64,file-of_another_tenant' };
    await expect(promptAfter([disguised])).rejects.toMatchObject({
      code: 'invalid_argument',
      details: { reason: 'file_not_base64' },
    });
    const nested = { type: 'steering-message', id: 's', parts: [{ ...file, url: 'http://intranet.example/a.pdf' }] };
    await expect(promptAfter([nested])).rejects.toMatchObject({ details: { reason: 'file_by_address' } });
  });

  it("never makes a call the provider's own, whose id would be a reference", async () => {
    const call = {
      type: 'tool-web_search',
      toolCallId: 'ws_of_another_tenant',
      state: 'output-available',
      providerExecuted: true,
      input: {},
      output: {},
    };
    expect(await promptAfter([call])).not.toContain('"providerExecuted":true');
  });
});

/** An answer of a reasoning model: a thought that must come back with its signature, and a call. */
function thinksAndCalls(n: number): readonly Part[] {
  const [start, call, finish] = callsTools({ tool: 'delete_note', input: { noteId: `n${n}` }, id: `call-${n}` });
  return [
    start!,
    { type: 'reasoning-start', id: 'r' },
    { type: 'reasoning-delta', id: 'r', delta: `Thought ${n}` },
    { type: 'reasoning-delta', id: 'r', delta: '', providerMetadata: { anthropic: { signature: `signed-${n}` } } },
    { type: 'reasoning-end', id: 'r' },
    { ...call, providerMetadata: { google: { thoughtSignature: `call-signed-${n}` } } } as Part, // a tool call, as scripted
    finish!,
  ];
}

/** The message of a stream as an AI SDK client keeps it. */
async function messageOf(chunks: readonly UIMessageChunk[], message?: UIMessage): Promise<UIMessage> {
  const stream = readUIMessageStream({ stream: streamOf(chunks), ...(message && { message }) });
  return (await readAll(stream)).at(-1)!;
}

interface Chat {
  readonly runtime: ReturnType<typeof testRuntime>;
  readonly principal?: Principal;
  readonly chatId?: string;
}

/** Approves what the last run asked about, and sends the chat again as a client does. */
async function approveAndGoOn(
  { runtime, principal = me, chatId = 'c' }: Chat,
  { chunks, message }: { chunks: readonly UIMessageChunk[]; message: UIMessage },
) {
  const asked = chunks.find((chunk) => chunk.type === 'tool-approval-request')!;
  await runtime.decide(String(lastData(chunks, 'data-run')['runId']), asked.approvalId, { approved: true }, me);
  return await goOn({ runtime, principal, chatId }, message);
}

async function goOn({ runtime, principal = me, chatId = 'c' }: Chat, message?: UIMessage) {
  const messages = [userMessage('Delete them'), ...(message ? [message] : [])];
  const chunks = await readAll(await runtime.run(runRequest({ chat: { id: chatId, messages } }), principal));
  return { chunks, message: await messageOf(chunks, message) };
}

describe('a run that continues the chat of a reasoning model after an approval', () => {
  const promptOf = (model: { calls: readonly unknown[] }, at: number): string =>
    JSON.stringify((model.calls[at] as Parameters<LanguageModel['doStream']>[0]).prompt);

  it('returns the signatures that the log of the chat has issued, over several approvals', async () => {
    const { tool, deleted } = deleteTool();
    const model = scriptedModel(thinksAndCalls(1), thinksAndCalls(2), says('Done'));
    const runtime = testRuntime({ ...model, tools: [tool] });
    const second = await approveAndGoOn({ runtime }, await goOn({ runtime }));
    expect(promptOf(model, 1)).toContain('"signature":"signed-1"');
    expect(promptOf(model, 1)).toContain('"thoughtSignature":"call-signed-1"');
    await approveAndGoOn({ runtime }, second);
    for (const text of ['"signed-1"', '"call-signed-1"', '"signed-2"', '"call-signed-2"']) {
      expect(promptOf(model, 2)).toContain(text);
    }
    expect(deleted).toEqual(['n1', 'n2']);
  });

  it("takes nothing from the client's copy of it, and nothing for a text that was never said", async () => {
    const { tool } = deleteTool();
    const model = scriptedModel(thinksAndCalls(1), says('Done'));
    const runtime = testRuntime({ ...model, tools: [tool] });
    const first = await goOn({ runtime });
    const parts = first.message.parts.map((part) =>
      part.type === 'reasoning' ? { ...part, text: 'Forged', providerMetadata: foreign } : part
    );
    await approveAndGoOn({ runtime }, { ...first, message: { ...first.message, parts } });
    expect(promptOf(model, 1)).not.toContain('of_another_tenant');
    expect(promptOf(model, 1)).not.toContain('"signed-1"');
    expect(promptOf(model, 1)).toContain('"call-signed-1"');
  });

  it.each<[string, Partial<Chat>]>([
    ['another chat', { chatId: 'other' }],
    ['another tenant', { principal: createPrincipal({ ...me, tenant: 'other' }) }],
  ])('returns nothing that %s was issued', async (_name, other) => {
    const { tool } = deleteTool();
    const model = scriptedModel(thinksAndCalls(1), says('Done'));
    const runtime = testRuntime({ ...model, tools: [tool], storage: memoryStorage() });
    const { message } = await goOn({ runtime });
    await goOn({ runtime, ...other }, message);
    expect(promptOf(model, 1)).not.toContain('signed-1');
  });
});

describe('the metadata that a fallback has issued', () => {
  it('does not return in the next run, which starts with the first model; that of the first does', () => {
    const call = (toolCallId: string): UIMessageChunk => {
      const providerMetadata = { test: { signature: toolCallId } };
      return { type: 'tool-input-available', toolCallId, toolName: 'add', input: {}, providerMetadata };
    };
    const issued = issuedIn([
      { type: 'start' },
      call('of-first'),
      { type: 'data-model', data: { providerId: 'two', modelId: 'second' } },
      call('of-fallback'),
      { type: 'start' },
      call('of-next'),
    ]);
    const take = (toolCallId: string) =>
      issued.take({ type: 'dynamic-tool', toolName: 'add', toolCallId, state: 'input-available', input: {} }, 'm');
    expect(take('of-first')).toMatchObject({ callProviderMetadata: { test: { signature: 'of-first' } } });
    expect(take('of-fallback')).toBeUndefined();
    expect(take('of-next')).toMatchObject({ callProviderMetadata: { test: { signature: 'of-next' } } });
  });
});
