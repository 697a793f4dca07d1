import { describe, expect, it } from 'vitest';
import { clientScenarios, runClientScenario } from '../../tools/conformance.ts';

describe.each([['mcpConnector', '2025', '2025-11-25'], ['mcpConnector2026', '2026', '2026-07-28']])(
  "%s in the MCP project's conformance suite",
  (_name, connector, revision) => {
    it.each(clientScenarios(revision))('passes the scenario %s', async (scenario) => {
      const { passed, report } = await runClientScenario({ connector, scenario, revision });
      expect(passed, report).toBe(true);
      expect(report).toContain('OVERALL: PASSED');
    });
  },
);
