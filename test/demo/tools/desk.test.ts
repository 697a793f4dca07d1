import { describe, expect, it } from 'vitest';
import { deskTools } from '../../../demo/tools/desk.ts';
import type { Tool } from '../../../src/index.ts';
import { createToolIndex, toIndexedTool } from '../../../src/discovery/index.ts';
import { ToolDefinition } from '../../../src/base/schema.ts';
import { parse } from '../../../src/base/parse.ts';
import { callTool } from '../../fixtures/tools/tool-call.ts';
import { lowFit } from '../../../src/discovery/tool-ranking.ts';

const index = createToolIndex(deskTools().map(({ definition }) => toIndexedTool(definition)));
const firstFor = (query: string): string | undefined => index.search(query, 1)[0]?.name;

async function run(tools: readonly Tool[], name: string, input: unknown = {}): Promise<unknown> {
  return await callTool(tools.find(({ definition }) => definition.name === name)!, input);
}

describe('the tools of the sample office', () => {
  it.each([
    ['open a support ticket', 'ticket_create'],
    ['create an invoice', 'invoice_create'],
    ['list invoices', 'invoice_list'],
    ['close ticket 12', 'ticket_archive'],
    ['schedule a meeting', 'meeting_schedule'],
    ['assign task to Ann', 'task_assign'],
    ['archive the project', 'project_archive'],
  ])('are found by what they do: %s', (query, name) => {
    expect(firstFor(query)).toBe(name);
    expect(index.fit(query)).toBeGreaterThan(0.4); // far above `lowFit`, below which it says that nothing fits
  });

  it('are five hundred valid definitions, each with a name of its own and an example of its own ids', () => {
    const definitions = deskTools().map(({ definition }) => definition);
    expect(new Set(definitions.map(({ name }) => name)).size).toBe(500);
    for (const definition of definitions) expect(parse(ToolDefinition, definition, { what: 'it' })).toEqual(definition);
    expect(definitions.find(({ name }) => name === 'invoice_schedule')).toMatchObject({
      id: 'desk_invoice_schedule',
      title: 'Schedule invoice',
      description: 'Sets the date by which an invoice is due.',
      category: 'invoice',
      annotations: { readOnlyHint: false },
      paramsSchema: { properties: { id: { description: 'Its id, such as "invoice-1"' } }, required: ['id', 'due'] },
    });
  });

  it('keep the records of each kind, and of each set of tools, apart', async () => {
    const [office, other] = [deskTools(), deskTools()];
    await run(office, 'invoice_create', { title: 'Sails' });
    expect(await run(office, 'invoice_list')).toMatchObject({
      ok: true,
      output: [{ id: 'invoice-1', title: 'Sails' }],
    });
    expect(await run(office, 'ticket_list')).toMatchObject({ ok: true, output: [] });
    expect(await run(other, 'invoice_list')).toMatchObject({ ok: true, output: [] });
  });

  it('check their input', async () => {
    const tool = deskTools().find(({ definition }) => definition.name === 'invoice_schedule')!;
    expect((await tool.check({ id: 'invoice-1', due: '2026-12-24' })).ok).toBe(true);
    expect((await tool.check({ id: 'invoice-1', due: 'soon' })).ok).toBe(false);
    expect((await tool.check({ due: '2026-12-24' })).ok).toBe(false);
  });

  it('of deployments answer "deploy to production", not those of products', () => {
    expect(firstFor('deploy to production')).toMatch(/^deployment_/);
    expect(index.fit('deploy to production')).toBeGreaterThan(lowFit);
    expect(index.explain('deploy to production', 'deployment_get')?.notFound).toEqual(['production']);
  });

  it.each(['email Bob', 'play some jazz', 'resize an image', 'water the plants', 'what is the weather in Paris'])(
    'fit no request for something else: %s',
    (query) => expect(index.fit(query)).toBeLessThan(lowFit),
  );
});
