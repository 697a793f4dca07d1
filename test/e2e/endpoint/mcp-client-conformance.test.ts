import { describe, expect, it } from 'vitest';
import { clientScenarios, requiredOfClients, runClientScenario } from '../../tools/conformance.ts';

/** What is asked inside an open call: questions of 2025-11-25 are not supported. */
const missing: readonly string[] = ['elicitation-sep1034-client-defaults'];

const sizes = { '2025-11-25': 18, '2026-07-28': 32 } as const;

describe.each(['2025-11-25', '2026-07-28'] as const)(
  'a runtime as a client, in the frozen set of %s',
  async (revision) => {
    const required = await requiredOfClients(revision);
    const people = required.filter((scenario) => scenario.startsWith('auth/') || scenario.startsWith('sep-2322'));

    it('covers every scenario of the set', () => {
      expect(required).toHaveLength(sizes[revision]);
      const covered = [...people, ...clientScenarios(revision), ...missing];
      expect(required.filter((scenario) => !covered.includes(scenario))).toEqual([]);
    });

    it.each(people)('passes the scenario %s, without a warning', async (scenario) => {
      const { passed, report } = await runClientScenario({ connector: 'runtime', scenario, revision });
      expect(passed, report).toBe(true);
      const [, done = '0', all = ''] = /Passed: (\d+)\/(\d+), 0 failed, 0 warnings/.exec(report) ?? [];
      expect(done, report).toBe(all);
      expect(Number(done)).toBeGreaterThan(0);
      expect(report).toContain('OVERALL: PASSED');
    });
  },
);
