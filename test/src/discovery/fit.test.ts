import { describe, expect, it } from 'vitest';
import { createToolIndex, type IndexedTool } from '../../../src/discovery/index.ts';
import { lowFit } from '../../../src/discovery/tool-ranking.ts';

describe('the fit of a query', () => {
  it('is higher where one tool says the words together than where two tools say one each', () => {
    const others = Array.from({ length: 60 }, (_, i) => ({ name: `tool_${i}`, description: `Handles thing ${i}` }));
    const together = [{ name: 'weather_report', description: 'Writes it' }, { name: 'sea', description: 'Reads it' }];
    const scattered = [{ name: 'weather', description: 'Writes it' }, { name: 'sea_report', description: 'Reads it' }];
    const fitIn = (tools: readonly IndexedTool[]): number =>
      createToolIndex([...others, ...tools]).fit('weather report for my boat');
    expect(fitIn(together)).toBeGreaterThan(fitIn(scattered) + 0.1);
  });

  it('does not depend on the size of a catalog alone: a request that the name of a tool says fits among few tools and many', () => {
    const other = (i: number): IndexedTool => ({ name: `handle_thing_${i}`, description: `Handles thing ${i}` });
    for (const count of [2, 20, 500]) {
      const tools = Array.from({ length: count }, (_, i) => other(i));
      const index = createToolIndex([...tools, { name: 'invoice_pay', description: 'Pays an invoice' }]);
      expect(index.fit('pay the invoice of the plumber')).toBeGreaterThan(2 * lowFit);
    }
  });
});
