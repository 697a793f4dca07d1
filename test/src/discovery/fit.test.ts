import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { deskTools } from '../../../demo/tools/desk.ts';
import { createToolIndex, type IndexedTool, toIndexedTool } from '../../../src/discovery/index.ts';
import { lowFit } from '../../../src/discovery/tool-ranking.ts';
import { runs } from '../../fixtures/budget.ts';

const office = deskTools().map(({ definition }) => toIndexedTool(definition));

/** Words that neither the sample office nor the queries below say. */
const otherWords = ['xylophone', 'quasar', 'zucchini', 'gazelle', 'tundra', 'obelisk'];
const unrelatedTool: fc.Arbitrary<IndexedTool> = fc.record({
  name: fc.tuple(fc.constantFrom(...otherWords), fc.nat({ max: 999 })).map(([word, i]) => `zz_${word}_${i}`),
  description: fc.array(fc.constantFrom(...otherWords), { maxLength: 8 }).map((chosen) => chosen.join(' ')),
});

const requests = [
  'open a support ticket',
  'create an invoice',
  'email Bob',
  'deploy to production',
  'play some jazz',
  'what is the weather in Paris',
];

describe('the fit of a query', () => {
  it.each([
    ['open a support ticket', 'ticket_create', true],
    ['create an invoice', 'invoice_create', true],
    ['deploy to production', 'deployment_', true],
    ['email Bob', '', false],
  ])('is right for the request "%s" to the sample office', (request, name, fits) => {
    const index = createToolIndex(office);
    expect(index.fit(request) >= lowFit).toBe(fits);
    if (fits) expect(index.search(request, 1)[0]?.name).toMatch(name);
  });

  it('changes by less than 0.02 with a tool that says none of its words', () => {
    fc.assert(
      fc.property(fc.uniqueArray(unrelatedTool, { maxLength: 5, selector: ({ name }) => name }), (tools) => {
        const index = createToolIndex(office);
        const before = requests.map((request) => index.fit(request));
        for (const tool of tools) index.add(tool);
        for (const [i, request] of requests.entries()) {
          expect(Math.abs(index.fit(request) - before[i]!)).toBeLessThan(0.02);
        }
      }),
      { numRuns: runs(30) },
    );
  });

  it('is lower where many tools say the same of the query', () => {
    const tools = Array.from({ length: 60 }, (_, i) => ({ name: `tool_${i}`, description: `Handles thing ${i}` }));
    const alone = createToolIndex([...tools, { name: 'report', description: 'Writes a report' }]);
    const crowd = createToolIndex(tools.map(({ name }) => ({ name, description: 'Writes a report' })));
    expect(crowd.fit('report about penguins')).toBeLessThan(alone.fit('report about penguins'));
  });

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

  it('is the documented logistic of what the hits say', () => {
    const index = createToolIndex([{ name: 'weather', description: 'Tells the temperature' }, { name: 'add' }]);
    const { score, terms } = index.explain('weather penguins', 'weather')!;
    const [known, unknown] = [Math.log(1 + 1.5 / 1.5), Math.log(1 + 2.5 / 0.5)]; // idf among two tools
    const alone = score / 1.4; // a tool without a server lifts itself by 0.8 of a half of its score
    const all = known + unknown;
    const missed = all - Math.min(terms.reduce((sum, term) => sum + term.score, 0), known);
    const rarity = Math.log(2 / 2); // one tool says it, and one a synonym
    const surprise = rarity - Math.log(2); // one of two words
    const evidence = -0.6 + 0.89 * (alone / all) * Math.log(3) - 0.63 * (unknown / all) * Math.log(3) - 0.003 * missed +
      0.81 * Math.log(alone / (unknown / 2)) + 0.115 * surprise - 0.25 * Math.log(2);
    expect(index.fit('weather penguins')).toBeCloseTo(1 / (1 + Math.exp(-evidence)), 9);
  });
});
