import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import type { McpCallResult } from '../../../src/contracts/index.ts';
import {
  createPrincipal,
  createRegistry,
  localPrincipal,
  PinnaceError,
  Secret,
  type SecretSource,
  type UIMessage,
} from '../../../src/index.ts';
import { shapeResult } from '../../../src/mcp/mcp-tool.ts';
import { compileJsonSchema } from '../../../src/tools/json-schema/json-schema.ts';
import { type FakeMcp, fakeMcp, mcpCatalog, pinnedServer, rawTool } from '../../fixtures/mcp.ts';
import { callsTools, says, scriptedModel } from '../../fixtures/model.ts';
import { lastData, readAll, runRequest, testRuntime, userMessage } from '../../fixtures/runtime.ts';

const me = localPrincipal();
const input = { page: 'p1' };
const save = rawTool({
  name: 'save',
  annotations: {},
  inputSchema: { type: 'object', properties: { page: { type: 'string' } } },
});

/** A runtime whose model wants to save a page, a person who is asked, and the run that follows the decision. */
async function saving(mcp: FakeMcp) {
  const storage = memoryStorage();
  const registry = createRegistry({ storage });
  await registry.put('provider', { id: 'default', kind: 'custom' });
  await registry.put('agent', { id: 'helper', name: 'Helper', providerId: 'default', mcp: { 'docs-server': {} } });
  await registry.put('mcpServer', { id: 'docs-server', alias: 'docs', url: 'https://docs.example.com/mcp' });
  const { model } = scriptedModel(callsTools({ tool: 'docs__save', input }), says('ok'));
  const runtime = testRuntime({ model, catalog: registry, storage, mcp: mcp.connector });
  const approve = async () => {
    const { digest } = await runtime.validateMcpServer('docs-server', {}, me);
    const effects = { save: 'write' } as const;
    return await runtime.validateMcpServer('docs-server', { approve: true, digest, effects }, me);
  };
  await approve();
  const asked = await readAll(await runtime.run(runRequest(), me));
  const request = asked.find((chunk) => chunk.type === 'tool-approval-request');
  const approvalId = request?.type === 'tool-approval-request' ? request.approvalId : expect.fail('nobody was asked');
  const waiting = {
    id: 'm2',
    role: 'assistant',
    parts: [{
      type: 'tool-docs__save',
      toolCallId: 'call-0',
      input,
      state: 'approval-responded',
      approval: { id: approvalId, approved: true },
    }],
  } as UIMessage;
  return {
    approve,
    decide: () => runtime.decide(String(lastData(asked, 'data-run')['runId']), approvalId, { approved: true }, me),
    goOn: async () => {
      const chat = { id: 'chat-1', messages: [userMessage('Save p1'), waiting] };
      return await readAll(await runtime.run(runRequest({ chat }), me));
    },
  };
}

describe('a call of an MCP tool that a person has approved', () => {
  it('is made once', async () => {
    const mcp = fakeMcp({ tools: [save] });
    const { decide, goOn } = await saving(mcp);
    expect(mcp.asked.calls).toEqual([]);
    await decide();
    await goOn();
    await goOn();
    expect(mcp.asked.calls).toMatchObject([{ name: 'save', input }]);
  });

  it.each(['_meta', 'outputSchema'])(
    'is not made when the %s of the definition is approved anew meanwhile',
    async (field) => {
      const mcp = fakeMcp({ tools: [save] });
      const { decide, goOn, approve } = await saving(mcp);
      await decide();
      mcp.offer.tools = [{ ...save, [field]: { type: 'object' } }];
      await approve();
      const chunks = await goOn();
      expect(mcp.asked.calls).toEqual([]);
      expect(lastData(chunks, 'data-tool-error')).toMatchObject({ code: 'approval_required' });
    },
  );

  it('is reported as unknown when its answer is lost', async () => {
    const mcp = fakeMcp({
      tools: [save],
      onCall: () => Promise.reject(new PinnaceError('unavailable', 'Cannot reach the MCP server')),
    });
    const { decide, goOn } = await saving(mcp);
    await decide();
    expect(lastData(await goOn(), 'data-tool-error')).toMatchObject({ code: 'outcome_unknown', retryable: false });
  });
});

describe('runs of two tenants', () => {
  it('share neither a connection nor a secret', async () => {
    const mcp = fakeMcp();
    const { promise: both, resolve } = Promise.withResolvers<void>();
    const connector: FakeMcp['connector'] = {
      async connect(...args) {
        const connection = await mcp.connector.connect(...args);
        if (mcp.asked.connects === 2) resolve();
        await both; // both are open at once
        return connection;
      },
    };
    const secrets: SecretSource = {
      resolve: async ({ id }, { scope: { tenant } }) =>
        new Secret({ id, version: '1', value: `token-of-${tenant}`, origins: 'any' }),
    };
    const catalog = mcpCatalog([await pinnedServer([rawTool()], { secret: { id: 'docs-token' } })]);
    const script = callsTools({ tool: 'docs__search', input: {} });
    const { model } = scriptedModel(script, script, says('ok'));
    const runtime = testRuntime({ model, catalog, secrets, mcp: connector });
    const run = async (tenant: string) =>
      await readAll(await runtime.run(runRequest(), createPrincipal({ ...me, tenant })));
    await Promise.all([run('red'), run('blue')]);
    expect(new Set(mcp.asked.secrets)).toEqual(new Set(['token-of-blue', 'token-of-red']));
    await expect.poll(() => mcp.asked.closes).toBe(2);
  });
});

const frame = { source: 'docs' };
const shape = (result: Partial<McpCallResult>, options: Partial<Parameters<typeof shapeResult>[1]> = {}) =>
  shapeResult({ content: [], isError: false, ...result }, {
    source: 'docs',
    maxLength: 20,
    media: false,
    redact,
    ...options,
  });
const redact = (text: string): string => text.replaceAll('hunter2-hunter2', '[secret a]');

describe('shapeResult', () => {
  it('has deep data as text from a level on, so that the message can be sent again', () => {
    const deep = `${'['.repeat(60)}${']'.repeat(60)}`;
    const { data } = shape({ structuredContent: JSON.parse(deep) as unknown }, { maxLength: 1000 });
    expect(JSON.stringify(data)).toBe(`${'['.repeat(40)}"${'['.repeat(20)}${']'.repeat(20)}"${']'.repeat(40)}`);
  });

  it('cuts text after so many characters of all blocks, and says so', () => {
    const content = [{ type: 'text', text: 'a'.repeat(15) }, { type: 'text', text: 'b'.repeat(15) }, {
      type: 'text',
      text: 'c',
    }];
    expect(shape({ content })).toEqual({
      ...frame,
      content: [{ type: 'text', text: 'a'.repeat(15) }, { type: 'text', text: 'b'.repeat(5) }],
      truncated: true,
    });
  });

  it('takes secrets out before it cuts', () => {
    const text = 'a'.repeat(15) + 'hunter2-hunter2';
    expect(shape({ content: [{ type: 'text', text }] }).content).toEqual([{
      type: 'text',
      text: 'aaaaaaaaaaaaaaa[secr',
    }]);
    expect(shape({ structuredContent: { text } }).data).toBe('{"text":"aaaaaaaaaaa');
    const link = { type: 'resource_link', uri: 'a'.repeat(2040) + text, name: 'a'.repeat(190) + text.slice(10) };
    expect(JSON.stringify(shape({ content: [link] }))).not.toContain('hun');
  });

  it('leaves images, sounds and files out unless they are wanted', () => {
    const content = [
      { type: 'image', data: 'aGVsbG8=', mimeType: 'image/png' },
      { type: 'audio', data: 'aGVsbG8=', mimeType: 'audio/wav' },
      { type: 'resource', resource: { uri: 'file:///a', blob: 'aGVsbG8=', mimeType: 'application/pdf' } },
    ];
    expect(shape({ content }).content).toEqual([
      { type: 'image', mimeType: 'image/png', omitted: 8 },
      { type: 'audio', mimeType: 'audio/wav', omitted: 8 },
      { type: 'resource', mimeType: 'application/pdf', omitted: 8 },
    ]);
    expect(shape({ content }, { media: true }).content?.[0]).toEqual({
      type: 'image',
      mimeType: 'image/png',
      base64: 'aGVsbG8=',
    });
  });

  it.each([
    ['a data URL', { data: 'data:image/png;base64,aGk/', mimeType: null }],
    ['letters for URLs', { data: 'aGk_', mimeType: 'image/png' }],
  ])('keeps an image in %s as base64', (_, image) => {
    const { content } = shape({ content: [{ type: 'image', ...image }] }, { media: true });
    expect(content).toEqual([{ type: 'image', mimeType: 'image/png', base64: 'aGk/' }]);
  });

  it('keeps texts of resources and links, and nothing of blocks that it does not know', () => {
    const content = [
      { type: 'resource', resource: { uri: 'file:///a', text: 'inside' } },
      { type: 'resource_link', uri: 'https://docs.example.com/a', name: 'A', mallory: 1 },
      { text: 'untyped' },
      { type: 'text', text: { a: 1 } },
      { type: 'script', code: 'mallory' },
      'mallory',
      null,
    ];
    expect(shape({ content }).content).toEqual([
      { type: 'text', text: 'inside' },
      { type: 'link', uri: 'https://docs.example.com/a', name: 'A' },
      { type: 'text', text: 'untyped' },
      { type: 'text', text: '{"a":1}' },
      ...[1, 2, 3].map(() => ({ type: 'other', omitted: 0 })),
    ]);
  });

  it('returns a structured result once, not again as text', () => {
    const content = [{ type: 'text', text: '{ "b": 2, "a": 1 }' }, { type: 'text', text: 'two' }];
    expect(shape({ content, structuredContent: { a: 1, b: 2 } })).toEqual({
      ...frame,
      data: { a: 1, b: 2 },
      content: [{ type: 'text', text: 'two' }],
    });
  });

  it('cuts a structured result that is too long', () => {
    expect(shape({ structuredContent: { a: 'x'.repeat(50) } })).toEqual({
      ...frame,
      data: '{"a":"xxxxxxxxxxxxxx',
      truncated: true,
    });
  });

  it.each([
    ['breaks it', { a: 'one' }],
    ['is missing', undefined],
  ])('refuses a structured result that %s the pinned output schema', (_, structuredContent) => {
    const listIssues = compileJsonSchema({ type: 'object', properties: { a: { type: 'number' } } });
    const content = [{ type: 'text', text: 'mallory' }];
    expect(() => shape({ content, structuredContent }, { listIssues })).toThrow(
      expect.objectContaining({ code: 'unavailable', details: { reason: 'mcp_output_invalid' } }),
    );
    expect(shape({ content: [], structuredContent: { a: 1 } }, { listIssues })).toEqual({ ...frame, data: { a: 1 } });
  });
});
