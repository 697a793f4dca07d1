import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { staticCatalog } from '../../../adapters/catalog/static.ts';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { createRuntime, localPrincipal, PinnaceError } from '../../../src/index.ts';
import { type ExtensionModule, fetchUrlTool, loadExtension } from '../../../src/tools/index.ts';
import { callsTools, says, scriptedModel } from '../../fixtures/model.ts';
import { readAll, runRequest, testRuntime } from '../../fixtures/runtime.ts';
import { outcomeOf } from '../../fixtures/tools/tool-call.ts';

const me = localPrincipal();

describe('loadExtension', () => {
  it('returns the tools that a module registers, marked as its own', async () => {
    const extension: ExtensionModule = {
      register: ({ defineTool }) => [
        defineTool({
          id: 'shout',
          description: 'Shouts',
          input: v.object({ text: v.string() }),
          execute: ({ text }) => text.toUpperCase(),
        }),
      ],
    };
    const tools = await loadExtension(extension);
    expect(tools.map(({ definition }) => [definition.id, definition.type])).toEqual([['shout', 'extension']]);
    const { model } = scriptedModel(callsTools({ tool: 'shout', input: { text: 'ahoy' } }), says('ok'));
    const chunks = await readAll(await testRuntime({ model, tools }).run(runRequest(), me));
    expect(chunks).toContainEqual({ type: 'tool-output-available', toolCallId: 'call-0', output: 'AHOY' });
  });

  it.each([[{}], [{ register: 1 }], [{ register: () => 'tools' }], [{ register: () => [{ id: 'x' }] }], [undefined]])(
    'refuses %o, which is no extension',
    async (module) => {
      const load = loadExtension(module as unknown as ExtensionModule);
      await expect(load).rejects.toMatchObject({ code: 'invalid_argument', details: { reason: 'not_an_extension' } });
    },
  );
});

describe('a definition with a handler', () => {
  const definition = (handler: string) => ({
    id: 'greet',
    name: 'greet',
    type: 'function' as const,
    description: 'Greets',
    paramsSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
    config: { handler },
  });
  const runtimeWith = (handler: string, input: unknown) => {
    const { model } = scriptedModel(callsTools({ tool: 'greet', input }), says('ok'));
    const agents = [{ id: 'helper', name: 'Helper', providerId: 'default', entryTools: ['greet'] }];
    const catalog = staticCatalog({
      agents,
      providers: [{ id: 'default', kind: 'custom' }],
      tools: [definition(handler)],
    });
    const handlers = { hello: (value: unknown) => `Hello ${(value as { name: string }).name}` };
    return createRuntime({ catalog, models: { model: () => model }, storage: memoryStorage(), handlers });
  };

  it.each(['unknown', 'toString', '__proto__'])(
    'is refused when no code has the name %s',
    (handler) => {
      expect(() => runtimeWith(handler, {})).toThrow(expect.objectContaining({
        details: { reason: 'unknown_handler', field: 'handler', suggestions: [] },
      }));
    },
  );
});

describe('fetchUrlTool', () => {
  it('takes secrets out before it cuts', async () => {
    const before = 'x'.repeat(19_995);
    const egress = { fetch: async () => new Response(`${before}hunter2-hunter2`) };
    const redact = (page: string): string => page.replace('hunter2-hunter2', '[secret a]');
    const page = await outcomeOf(fetchUrlTool({ egress, origins: ['https://example.com'] }), {
      url: 'https://example.com/a',
    }, { redact });
    expect(page).toMatchObject({ text: `${before}[secr`, truncated: true });
  });

  it('reads a page in the encoding that it declares', async () => {
    const page = new Uint8Array([...new TextEncoder().encode('<meta charset="shift_jis">'), 0x83, 0x65]);
    const egress = { fetch: async () => new Response(page, { headers: { 'content-type': 'text/html' } }) };
    const input = { url: 'https://example.com/a' };
    const output = await outcomeOf(fetchUrlTool({ egress, origins: ['https://example.com'] }), input);
    expect(output).toMatchObject({ text: '<meta charset="shift_jis">テ' });
  });

  it("reads a page through the guarded way out, without secrets, and marks it as a stranger's", async () => {
    const terms: unknown[] = [];
    const egress = {
      fetch: async (request: Request, options: object) => {
        terms.push({ url: request.url, method: request.method, ...options });
        return new Response('x'.repeat(30_000));
      },
    };
    const output = await outcomeOf(fetchUrlTool({ egress, origins: ['https://example.com'] }), {
      url: 'https://example.com/a',
    });
    expect(output).toMatchObject({ untrusted: true, status: 200, truncated: true });
    expect(terms).toMatchObject([{ url: 'https://example.com/a', method: 'GET', origins: ['https://example.com'] }]);
    expect(terms[0]).not.toHaveProperty('secretHeaders');
  });

  it('passes on what the way out refuses', async () => {
    const egress = { fetch: () => Promise.reject(new PinnaceError('forbidden', 'No')) };
    expect(
      await outcomeOf(fetchUrlTool({ egress, origins: ['https://example.com'] }), { url: 'http://169.254.169.254/' }),
    ).toMatchObject({
      code: 'forbidden',
    });
    expect(await outcomeOf(fetchUrlTool({ egress, origins: ['https://example.com'] }), { url: 'not an address' }))
      .toMatchObject({
        code: 'invalid_argument',
      });
  });
});
