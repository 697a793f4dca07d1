import { describe, expect, it } from 'vitest';
import { share } from '../../fixtures/budget.ts';
import { clientScenarios, runClientScenario } from '../../tools/conformance.ts';

describe.each(['2025-11-25', '2026-07-28'])(
  "mcpConnector in the MCP project's conformance suite of %s",
  (revision) => {
    it.each(share(clientScenarios(revision), 2))('passes the scenario %s, without a warning', async (scenario) => {
      const { passed, report } = await runClientScenario({ driver: 'connector', scenario, revision });
      expect(passed, report).toBe(true);
      const [, done = '0', all = ''] = /Passed: (\d+)\/(\d+), 0 failed, 0 warnings/.exec(report) ?? [];
      expect(done, report).toBe(all);
      expect(Number(done)).toBeGreaterThan(0);
      expect(report).toContain('OVERALL: PASSED');
    });
  },
);
