import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import { createTrials, type TrialOptions } from '../../../../demo/agents/worker/trials.ts';
import { fakeVault } from '../../../fixtures/page/fake-vault.ts';

const secret = 'sk-canary-0123456789';
const note = {
  type: 'http',
  paramsSchema: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
  config: {
    origin: 'https://api.example.com',
    path: '/items/{id}',
    query: { full: 'yes' },
    headers: { authorization: 'Bearer {{secret:lab}}' },
    response: { fields: ['name'] },
  },
  secrets: [{ id: 'lab' }],
};

interface Asked {
  readonly request: Request;
  readonly headers: Readonly<Record<string, unknown>>;
}

async function trials(options: Partial<TrialOptions> & { readonly answer?: () => Response } = {}) {
  const vault = fakeVault();
  await vault.unlock('correct horse');
  await vault.set('lab', secret, { origins: ['https://api.example.com'] });
  const asked: Asked[] = [];
  const { answer = () => Response.json({ name: 'Ada', echo: secret }), ...given } = options;
  const control = createTrials({
    egress: {
      async fetch(request, { secretHeaders = {} }) {
        asked.push({ request, headers: secretHeaders });
        return answer();
      },
    },
    sandbox: { run: async (_code, { input }) => input },
    secrets: vault,
    storage: memoryStorage(),
    ...given,
  });
  return { ...control, asked };
}

describe('a trial of an HTTP tool', () => {
  it('shows the request with its secrets by name, and sends nothing', async () => {
    const host = await trials();
    expect(await host.previewTool(note, { id: 'a b' })).toMatchObject({
      ok: true,
      value: {
        method: 'GET',
        url: 'https://api.example.com/items/a%20b?full=yes',
        headers: expect.arrayContaining([['authorization', 'Bearer [secret lab]']]),
        needsApproval: false,
      },
    });
    expect(host.asked).toEqual([]);
  });

  it.each([
    ['json', '{\n  "count": 2,\n  "key": "[secret lab]"\n}'],
    ['form', 'count=2&key=[secret lab]'],
  ])('shows a body as %s', async (as, body) => {
    const host = await trials();
    const config = { ...note.config, method: 'POST', body: { as, fields: { count: '{id}', key: '{{secret:lab}}' } } };
    const paramsSchema = { type: 'object', properties: { id: { type: 'number' } } };
    expect(await host.previewTool({ ...note, paramsSchema, config }, { id: 2 })).toMatchObject({
      value: { method: 'POST', body, needsApproval: true },
    });
  });

  it('says what is wrong with an input, a template and a secret that is not listed', async () => {
    const host = await trials();
    const wrong = async (tool: object, input: unknown): Promise<string> => {
      const answer = await host.previewTool(tool, input);
      return answer.ok ? '' : answer.error.message;
    };
    expect(await wrong(note, {})).toContain('"id"');
    expect(await wrong({ ...note, config: { origin: 'http://127.0.0.1' } }, { id: '1' })).toContain('public host');
    expect(await wrong({ ...note, secrets: [] }, { id: '1' })).toContain('"lab"');
    expect(await wrong({ ...note, type: 'mcp' }, { id: '1' })).not.toBe('');
  });

  it('sends it, and gives what the server said and what a model gets, without the secret', async () => {
    const host = await trials();
    const answer = await host.callTool(note, { id: '1' });
    expect(answer).toMatchObject({
      ok: true,
      value: {
        outcome: { ok: true, output: { status: 200, data: { name: 'Ada' } } },
        answer: { status: 200, text: '{"name":"Ada","echo":"[secret lab]"}', isCut: false },
      },
    });
    expect(host.asked.length).toBe(1);
    expect(JSON.stringify(answer)).not.toContain(secret);
  });

  it('gives the answer of a server that refuses, and why a model gets nothing', async () => {
    const host = await trials({ answer: () => new Response('no such item', { status: 404 }) });
    expect(await host.callTool(note, { id: '1' })).toMatchObject({
      value: { outcome: { ok: false, error: { code: 'not_found' } }, answer: { status: 404 } },
    });
  });

  it('does not start without the secret, or with a locked vault', async () => {
    const host = await trials({ secrets: fakeVault() });
    expect(await host.callTool(note, { id: '1' })).toMatchObject({ ok: false, error: { code: 'unavailable' } });
    expect(host.asked).toEqual([]);
  });
});

describe('a trial of a code tool', () => {
  const code = {
    type: 'code',
    paramsSchema: { type: 'object', properties: { a: { type: 'number' } } },
    config: { code: 'return input' },
  };

  it('runs it in the sandbox', async () => {
    const host = await trials();
    expect(await host.callTool(code, { a: 1 })).toMatchObject({ value: { outcome: { ok: true, output: { a: 1 } } } });
  });
});
