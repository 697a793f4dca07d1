import { describe, expect, it } from 'vitest';
import { share } from '../../fixtures/budget.ts';
import { clientScenarios, requiredOfClients, runClientScenario } from '../../tools/conformance.ts';

const sizes = { '2025-11-25': 18, '2026-07-28': 32 } as const;

describe('a runtime as a client of servers of 2025-03-26', () => {
  it.each(['auth/2025-03-26-oauth-metadata-backcompat', 'auth/2025-03-26-oauth-endpoint-fallback'])(
    'passes the scenario %s',
    async (scenario) => {
      const { passed, report } = await runClientScenario({ driver: 'runtime', scenario, revision: '2025-03-26' });
      expect(passed, report).toBe(true);
    },
  );
});

describe.each(['2025-11-25', '2026-07-28'] as const)(
  'a runtime as a client, in the frozen set of %s',
  async (revision) => {
    const required = await requiredOfClients(revision);
    const people = required.filter((scenario) => /^(?:auth\/|sep-2322|elicitation)/.test(scenario));

    it('covers every scenario of the set', () => {
      expect(required).toHaveLength(sizes[revision]);
      const covered = [...people, ...clientScenarios(revision)];
      expect(required.filter((scenario) => !covered.includes(scenario))).toEqual([]);
    });

    it.each(share(people, 3))('passes the scenario %s, without a warning', async (scenario) => {
      const { passed, report } = await runClientScenario({ driver: 'runtime', scenario, revision });
      expect(passed, report).toBe(true);
      const [, done = '0', all = ''] = /Passed: (\d+)\/(\d+), 0 failed, 0 warnings/.exec(report) ?? [];
      expect(done, report).toBe(all);
      expect(Number(done)).toBeGreaterThan(0);
      expect(report).toContain('OVERALL: PASSED');
    });
  },
);
