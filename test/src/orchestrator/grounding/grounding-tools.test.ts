import { describe, expect, it } from 'vitest';
import { textSource } from '../../../../adapters/grounding/text.ts';
import {
  createGrounding,
  createPrincipal,
  groundingTools,
  type GroundingToolsOptions,
  invokeTool,
} from '../../../../src/index.ts';
import { toolCall } from '../../../fixtures/tool-call.ts';
import { fakeSource, hitOf } from '../../../fixtures/grounding-source.ts';

function principalOf(tenant: string) {
  return createPrincipal({ via: 'http', tenant, subject: 'ann', agents: '*', scopes: [] });
}

function setUp(options: GroundingToolsOptions = {}) {
  const grounding = createGrounding({ sources: [textSource({ id: 'notes' }), fakeSource('other', [hitOf('x')])] });
  const tools = groundingTools(grounding, options);
  return async (id: string, input: unknown, tenant = 'acme', approved = false) => {
    const tool = tools.find(({ definition }) => definition.id === id)!;
    return await invokeTool(tool, input, toolCall({ principal: principalOf(tenant), approved }));
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
        sources: [{ status: 'ok' }],
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
    for (
      const [tool, input] of [
        ['retrieve', { query: 'x', dataSourceIds: ['other'] }],
        ['remember', { dataSourceId: 'other', items: [{ text: 'x' }] }],
      ] as const
    ) {
      expect(await call(tool, input)).toMatchObject({
        ok: false,
        error: { code: 'not_found', details: { suggestions: ['notes'] } },
      });
    }
    expect(await setUp()('retrieve', { query: 'x' })).toMatchObject({
      output: { sources: [{ dataSourceId: 'notes' }, { dataSourceId: 'other' }] },
    });
  });
});
