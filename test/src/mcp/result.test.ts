import { describe, expect, it } from 'vitest';
import { shapeResult } from '../../../src/mcp/mcp-tool.ts';
import type { McpCallResult } from '../../../src/contracts/index.ts';
import { compileJsonSchema } from '../../../src/tools/json-schema/json-schema.ts';

const frame = { source: 'docs', untrusted: true };
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
  it('marks everything as the words of a stranger', () => {
    expect(shape({ content: [{ type: 'text', text: 'found' }] })).toEqual({
      ...frame,
      content: [{ type: 'text', text: 'found' }],
    });
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

  it('keeps texts of resources and links, and nothing of blocks that it does not know', () => {
    const content = [
      { type: 'resource', resource: { uri: 'file:///a', text: 'inside' } },
      { type: 'resource_link', uri: 'https://docs.example.com/a', name: 'A', mallory: 1 },
      { type: 'script', code: 'mallory' },
      'mallory',
      null,
    ];
    expect(shape({ content }).content).toEqual([
      { type: 'text', text: 'inside' },
      { type: 'link', uri: 'https://docs.example.com/a', name: 'A' },
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
