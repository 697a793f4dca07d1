import { describe, expect, it } from 'vitest';
import { deskTools } from '../../../demo/tools/desk.ts';
import { createToolIndex, toIndexedTool } from '../../../src/discovery/index.ts';
import { lowFit } from '../../../src/discovery/index/fit.ts';

const index = createToolIndex(deskTools().map(({ definition }) => toIndexedTool(definition)));
const firstFor = (query: string): string | undefined => index.search(query, 1)[0]?.name;

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
    expect(index.fit(query)).toBeGreaterThan(0.5);
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
