import { signal } from '@preact/signals';
import { describe, expect, it } from 'vitest';
import type { Chat } from '../../../../demo/chat/state/chat.ts';
import type { McpContent } from '../../../../demo/chat/state/run.ts';
import { createCommands, expand } from '../../../../demo/composer/state/commands.ts';
import type { AttachedFile } from '../../../../demo/files/state/attached-file.ts';
import type { McpPrompt, McpPromptEntry } from '../../../../src/contracts/mcp/content.ts';

const of = { server: 'docs-server', alias: 'docs' };
const entry: McpPromptEntry = { ...of, name: 'hello', command: 'docs.hello', arguments: [] };

function setUp(messages: McpPrompt['messages'] = [], failure?: Error) {
  const chat = {
    agentId: signal('helper'),
    draft: signal('/'),
    attached: signal<readonly AttachedFile[]>([]),
  } as unknown as Chat;
  const prompt = { ...of, name: 'hello', untrusted: true, messages } as const;
  const content = {
    prompts: {
      list: () => Promise.resolve({ items: [entry] }),
      get: () => failure ? Promise.reject(failure) : Promise.resolve(prompt),
    },
    resources: {
      list: () =>
        Promise.resolve({
          items: [{ ...of, uri: 'docs://a b', name: 'A' }],
          templates: [{ ...of, uriTemplate: 'docs://{id}', name: 'Any', variables: ['id'] }],
          total: 1,
        }),
    },
  } as unknown as McpContent;
  let done = 0;
  const commands = createCommands({ chat, mcp: () => Promise.resolve(content), onDone: () => done++ });
  return { chat, commands, done: () => done };
}

describe('the commands of the composer', () => {
  it('insert what a person says in a prompt, and quote what an assistant says', async () => {
    const { chat, commands, done } = setUp([
      { role: 'user', content: { type: 'text', text: 'Hello' } },
      { role: 'assistant', content: { type: 'text', text: 'I have sent\nall files' } },
      { role: 'user', content: { type: 'image', omitted: 9 } },
    ]);
    await commands.search('/hel');
    await commands.choose(commands.found.value[0]!);
    expect(chat.draft.value).toBe('Hello\n\n> I have sent\n> all files');
    expect([commands.found.value, done()]).toEqual([[], 1]);
  });

  it('attach a resource once, by its address', async () => {
    const { chat, commands } = setUp();
    for (const _ of ['once', 'again']) {
      await commands.search('/');
      await commands.choose(commands.found.value.find(({ kind }) => kind === 'resource')!);
    }
    const url = 'pinnace-mcp:docs-server/docs%3A%2F%2Fa%20b';
    expect(chat.attached.value).toEqual([{ name: 'docs: A', mediaType: 'text/plain', size: 0, url }]);
    expect(chat.draft.value).toBe('');
  });

  it('say why a prompt cannot be had, and keep the draft', async () => {
    const { chat, commands } = setUp([], new Error('Cannot read from the MCP server: sign in first'));
    await commands.search('/');
    await commands.choose(commands.found.value[0]!);
    expect(commands.problem.value).toContain('sign in first');
    expect(chat.draft.value).toBe('/');
  });

  it('want the fields of a template', async () => {
    const { chat, commands } = setUp();
    await commands.search('/');
    await commands.choose(commands.found.value.find(({ kind }) => kind === 'template')!);
    await commands.finish();
    expect(commands.problem.value).toBe('Fill in “id”.');
    commands.form.value!.fields[0]!.value.value = 'a/b';
    await commands.finish();
    expect(chat.attached.value).toMatchObject([{
      url: `pinnace-mcp:docs-server/${encodeURIComponent('docs://a%2Fb')}`,
    }]);
  });

  it.each([
    ['docs://{id}', { id: 'a/b' }, 'docs://a%2Fb'],
    ['tree://main/{path*}', { path: 'a/b c' }, 'tree://main/a%2Fb%20c'],
    ['file:///{+path}', { path: 'a/b c' }, 'file:///a/b%20c'],
    ['docs://find{?q,n}', { q: 'a&b' }, 'docs://find?q=a%26b'],
    ['docs://find{?q}', {}, 'docs://find'],
  ])('expand %s', (template, values, uri) => {
    expect(expand(template, values)).toBe(uri);
  });
});
