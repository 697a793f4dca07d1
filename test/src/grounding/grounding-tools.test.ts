import { describe, expect, it } from 'vitest';
import { textSource } from '../../../adapters/grounding/text.ts';
import { createGrounding, createPrincipal, PinnaceError } from '../../../src/index.ts';
import { groundingTools, type GroundingToolsOptions } from '../../../src/grounding/index.ts';
import { callTool } from '../../fixtures/tools/tool-call.ts';
import { fakeSource, hitOf } from '../../fixtures/grounding-source.ts';

function principalOf(tenant: string) {
  return createPrincipal({ via: 'http', tenant, subject: 'ann', agents: '*', scopes: [] });
}

function setUp(options: GroundingToolsOptions = {}) {
  const grounding = createGrounding({ sources: [textSource({ id: 'notes' }), fakeSource('other', [hitOf('x')])] });
  const tools = groundingTools(grounding, options);
  return async (id: string, input: unknown, tenant = 'acme', approved = id === 'remember') => {
    const tool = tools.find(({ definition }) => definition.id === id)!;
    return await callTool(tool, input, { principal: principalOf(tenant), approved });
  };
}

describe('groundingTools', () => {
  it('remember, retrieve as numbered data, and forget after a person agreed', async () => {
    const call = setUp({ dataSources: ['notes'] });
    const items = [{ id: 'fav', text: 'Ann likes green tea' }];
    expect(await call('remember', { dataSourceId: 'notes', items })).toEqual({ ok: true, output: { ids: ['fav'] } });
    const found = await call('retrieve', { query: 'green tea' });
    expect(found).toMatchObject({
      ok: true,
      output: {
        untrusted: true,
        text: expect.stringContaining('[1] notes/fav'),
        citations: [{ n: 1, id: 'fav' }],
        sources: [{ dataSourceId: 'notes', status: 'ok' }],
      },
    });
    expect(await call('forget', { dataSourceId: 'notes', ids: ['fav'] })).toMatchObject({
      ok: false,
      error: { code: 'approval_required' },
    });
    expect(await call('forget', { dataSourceId: 'notes', ids: ['fav'] }, 'acme', true)).toEqual({
      ok: true,
      output: { forgotten: 1 },
    });
    expect(await call('retrieve', { query: 'green tea' })).toMatchObject({
      output: { text: 'Nothing was found.', citations: [] },
    });
  });

  it('keep tenants apart, whatever the model asks for', async () => {
    const call = setUp({ dataSources: ['notes'] });
    await call('remember', { dataSourceId: 'notes', items: [{ id: 'a', text: 'our secret plan' }] }, 'globex');
    expect(await call('retrieve', { query: 'secret plan' })).toMatchObject({ output: { citations: [] } });
    expect(await call('retrieve', { query: 'secret plan', tenant: 'globex' })).toMatchObject({
      ok: false,
      error: { code: 'invalid_argument' },
    });
  });

  it('reach only the sources that they were given, and name those', async () => {
    const call = setUp({ dataSources: ['notes'] });
    expect(await call('retrieve', { query: 'x', dataSourceIds: ['other'] })).toMatchObject({
      ok: false,
      error: { code: 'not_found', details: { suggestions: ['notes'] } },
    });
    for (const [tool, input] of [['remember', { items: [{ text: 'x' }] }], ['forget', { ids: ['x'] }]] as const) {
      expect(await call(tool, { ...input, dataSourceId: 'other' })).toMatchObject({
        ok: false,
        error: { code: 'invalid_argument', message: expect.stringContaining('notes') },
      });
    }
    expect(await setUp()('retrieve', { query: 'x' })).toMatchObject({
      output: { sources: [{ dataSourceId: 'notes' }, { dataSourceId: 'other' }] },
    });
  });

  it('wait for a person before they write', async () => {
    const call = setUp({ dataSources: ['notes'] });
    const items = [{ text: 'x' }];
    expect(await call('remember', { dataSourceId: 'notes', items }, 'acme', false)).toMatchObject({
      error: { code: 'approval_required' },
    });
  });

  it('answer in part where a source is missing, disabled or failing, and fail where none answers', async () => {
    const down = fakeSource('down', () => Promise.reject(new PinnaceError('unavailable', 'The index is away')));
    const grounding = createGrounding({
      sources: [fakeSource('notes', [hitOf('a')]), fakeSource('closed', [hitOf('b')]), down],
      records: {
        dataSource: (id) => Promise.resolve(id === 'closed' ? { state: 'disabled' as const } : undefined),
      },
    });
    const [retrieve] = groundingTools(grounding, { dataSources: ['notes', 'closed', 'down', 'gone'] });
    const ask = (dataSourceIds: string[]) => callTool(retrieve!, { query: 'x', dataSourceIds });
    expect(await callTool(retrieve!, { query: 'x' })).toMatchObject({
      ok: true,
      output: {
        citations: [{ n: 1, id: 'a' }],
        sources: [
          { dataSourceId: 'closed', status: 'error', error: { code: 'forbidden' } },
          { dataSourceId: 'down', status: 'error', error: { code: 'unavailable', retryable: true } },
          { dataSourceId: 'gone', status: 'error', error: { code: 'not_found' } },
          { dataSourceId: 'notes', status: 'ok' },
        ],
      },
    });
    expect(await ask(['closed'])).toMatchObject({
      ok: false,
      error: { code: 'forbidden', message: 'Cannot use the data source "closed": it is disabled' },
    });
    expect(await ask(['gone'])).toMatchObject({ ok: false, error: { code: 'not_found' } });
    expect(await ask(['down', 'gone'])).toMatchObject({
      ok: false,
      error: { retryable: true, message: expect.stringContaining('The index is away') },
    });
  });

  it('take secrets out before they cut, and number as the run counts', async () => {
    const content = `${'word '.repeat(60)}sesame-street-key ${'word '.repeat(400)}`;
    const grounding = createGrounding({ sources: [fakeSource('notes', [hitOf('a', { content })])] });
    const [retrieve] = groundingTools(grounding, { maxTokens: 200 });
    const cited: unknown[] = [];
    const outcome = await callTool(retrieve!, { query: 'x' }, {
      redact: (text) => text.replace('sesame-street-key', '[secret door]'),
      cite(sources) {
        cited.push(...sources);
        return sources.map((_, at) => at + 7);
      },
    });
    expect(outcome).toMatchObject({
      output: { text: expect.stringMatching(/^\[7\] test\/a /m), citations: [{ n: 7 }] },
    });
    expect(JSON.stringify(outcome)).not.toContain('sesame');
    expect(cited).toEqual([expect.objectContaining({ id: 'a', contentHash: expect.stringMatching(/^[0-9a-f]{64}$/) })]);
  });
});
