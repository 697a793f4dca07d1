import { describe, expect, it } from 'vitest';
import { discoveryToolNames } from '../../../../src/discovery/discovery-tools.ts';
import { planTools } from '../../../../src/planner/index.ts';
import { builtinToolIds } from '../../../../src/tools/availability.ts';
import { calculatorTool } from '../../../../src/tools/builtin/calculator.ts';
import { currentTimeTool } from '../../../../src/tools/builtin/current-time.ts';
import { fetchUrlTool } from '../../../../src/tools/builtin/fetch-url.ts';

describe('builtinToolIds', () => {
  it('has every tool that comes with the runtime, so that none is registered in its place', () => {
    const egress = { fetch: () => Promise.reject(new Error('Nothing is fetched here')) };
    const definitions = [calculatorTool(), currentTimeTool(), fetchUrlTool({ egress, origins: [] })].map((
      { definition },
    ) => definition);
    const given = [...definitions.map(({ id }) => id), ...discoveryToolNames, ...planTools.map(({ name }) => name)];
    expect(given.filter((id) => !builtinToolIds.has(id))).toEqual([]);
  });
});
