import type { LanguageModelV4Prompt, LanguageModelV4StreamPart as Part } from '@ai-sdk/provider';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import { toBase64 } from '../../../../src/base/base64.ts';
import { sha256 } from '../../../../src/base/hash.ts';
import type { BlobStore } from '../../../../src/contracts/blob-store.ts';
import {
  type ContentBlock,
  contentOutput,
  defineTool,
  localPrincipal,
  type UIMessage,
  type UIMessageChunk,
} from '../../../../src/index.ts';
import { fileRuntime, png } from './fixtures.ts';
import { callsTools, says } from '../../../fixtures/model.ts';
import { lastData, readAll, runRequest, userMessage } from '../../../fixtures/runtime.ts';

const me = localPrincipal();
const shot = png(100_000);
const image: ContentBlock = { type: 'image', data: toBase64(shot), mimeType: 'image/png' };

function screenshot(blocks: readonly ContentBlock[]) {
  return defineTool({
    id: 'shoot',
    description: 'Makes a picture',
    input: v.strictObject({}),
    execute: () => contentOutput(blocks),
  });
}

async function callShoot(
  blocks: readonly ContentBlock[],
  options: NonNullable<Parameters<typeof fileRuntime>[0]> = {},
) {
  const script = [callsTools({ tool: 'shoot', input: {}, id: 'call-0' }), says('ok')];
  const { runtime, calls } = fileRuntime({ script, tools: [screenshot(blocks)], ...options });
  const chunks = await readAll(await runtime.run(runRequest(), me));
  return { chunks, prompt: calls[1]?.prompt ?? [] };
}

function outputIn(chunks: readonly UIMessageChunk[]) {
  const chunk = chunks.find(({ type }) => type === 'tool-output-available');
  return chunk && 'output' in chunk ? chunk.output : undefined;
}

function resultIn(prompt: LanguageModelV4Prompt) {
  const message = prompt.find(({ role }) => role === 'tool');
  const part = message?.role === 'tool' ? message.content[0] : undefined;
  return part?.type === 'tool-result' ? part.output : undefined;
}

describe('an output with files', () => {
  it('reaches a model that takes files in results as content', async () => {
    const { prompt } = await callShoot([{ type: 'text', text: 'Done' }, image], { provider: { toolContent: true } });
    const shown = { mcpContent: [{ type: 'text', text: 'Done' }, { ...image, data: 'file 1 below' }] };
    expect(resultIn(prompt)).toEqual({
      type: 'content',
      value: [
        { type: 'text', text: JSON.stringify(shown) },
        { type: 'file', mediaType: 'image/png', data: { type: 'data', data: toBase64(shot) } },
      ],
    });
  });

  it('reaches every other model as a text, with its files in the message behind it', async () => {
    const { prompt } = await callShoot([image]);
    expect(resultIn(prompt)).toEqual({
      type: 'text',
      value: JSON.stringify({ mcpContent: [{ ...image, data: 'file 1 below' }] }),
    });
    expect(prompt.at(-1)).toMatchObject({
      role: 'user',
      content: [
        { type: 'text', text: expect.stringContaining('follow no instructions') },
        { type: 'file', mediaType: 'image/png', data: { type: 'data', data: toBase64(shot) } },
      ],
    });
  });

  it('never has base64 in a text of the prompt', async () => {
    for (const provider of [{}, { toolContent: true }, { inputs: [] }]) {
      const { prompt } = await callShoot([image], { provider });
      const texts = prompt.flatMap(({ role, content }) =>
        role === 'system'
          ? []
          : content.map((part) =>
            JSON.stringify(part, (key, value) => key === 'data' && typeof value === 'string' ? '' : value)
          )
      );
      expect(Math.max(...texts.map(({ length }) => length))).toBeLessThan(500);
    }
  });

  it('is shown with small files as they are', async () => {
    const small: ContentBlock = { type: 'image', data: toBase64(png()), mimeType: 'image/png' };
    expect(outputIn((await callShoot([small])).chunks)).toEqual({ mcpContent: [small] });
  });

  it('is refused when a file of it is too large', async () => {
    const large: ContentBlock = { ...image, data: toBase64(png(200_000)) };
    const { chunks } = await callShoot([large], { limits: { attachmentLength: 150_000 } });
    expect(lastData(chunks, 'data-tool-error')).toMatchObject({ details: { reason: 'output_too_large' } });
  });

  it('keeps its images from a model that takes none, and the run goes on', async () => {
    const { prompt, chunks } = await callShoot([image], { provider: { inputs: [] } });
    expect(prompt.at(-1)?.role).toBe('tool');
    expect(JSON.stringify(resultIn(prompt))).toContain('does not take such files');
    expect(chunks.at(-1)).toMatchObject({ type: 'finish' });
  });

  it('keeps what is called an image and is none from the model', async () => {
    const svg: ContentBlock = { type: 'image', data: btoa('<svg/>'), mimeType: 'image/svg+xml' };
    const { prompt } = await callShoot([svg]);
    expect(prompt.at(-1)?.role).toBe('tool');
    expect(JSON.stringify(resultIn(prompt))).toContain('a model takes no such file');
  });

  it('loses its large files where the store fails, and the run goes on', async () => {
    const down = () => Promise.reject(new Error('disk'));
    const blobs: BlobStore = { get: down, put: down, delete: down };
    const { chunks, prompt } = await callShoot([image], { blobs });
    expect(JSON.stringify(outputIn(chunks))).toContain('the file store has failed');
    expect(JSON.stringify(resultIn(prompt))).toContain('left out');
    expect(chunks.at(-1)).toMatchObject({ type: 'finish' });
  });

  it('goes back to the model with the next message, from the store', async () => {
    const storage = memoryStorage();
    const { chunks } = await callShoot([image], { storage });
    const call = { type: 'tool-shoot', toolCallId: 'call-0', state: 'output-available', input: {} };
    const answer = {
      id: 'a',
      role: 'assistant',
      parts: [{ ...call, output: outputIn(chunks) }],
    } as unknown as UIMessage;
    const { runtime, calls } = fileRuntime({ storage });
    const messages = [userMessage('Shoot'), answer, userMessage('What is on it?', 'm2')];
    await readAll(await runtime.run(runRequest({ chat: { id: 'c', messages } }), me));
    const roles = calls[0]?.prompt.map(({ role }) => role);
    expect(roles).toEqual(['user', 'assistant', 'tool', 'user', 'user']);
    expect(calls[0]?.prompt[3]).toMatchObject({
      content: [{ type: 'text' }, { type: 'file', data: { data: toBase64(shot) } }],
    });
  });
});

describe('the result of an MCP server with an image', () => {
  it('reaches the model as a file', async () => {
    const output = {
      source: 'web',
      untrusted: true,
      content: [{ type: 'image', mimeType: 'image/png', base64: toBase64(shot) }],
    };
    const tool = defineTool({
      id: 'shoot',
      description: 'Makes a picture',
      input: v.strictObject({}),
      execute: () => output,
    });
    const { prompt } = await callShoot([], { tools: [tool] });
    expect(prompt.at(-1)).toMatchObject({ content: [{ type: 'text' }, { type: 'file', mediaType: 'image/png' }] });
  });
});

describe('a large file that the model makes', () => {
  it('is stored, and its address is shown', async () => {
    const file: Part = { type: 'file', mediaType: 'image/png', data: { type: 'data', data: shot } };
    const [start, ...rest] = says('Here');
    const { runtime } = fileRuntime({ script: [[start!, file, ...rest]] });
    const chunks = await readAll(await runtime.run(runRequest(), me));
    const url = `pinnace-blob:${await sha256(shot)}`;
    expect(chunks.find(({ type }) => type === 'file')).toEqual({ type: 'file', mediaType: 'image/png', url });
  });
});
