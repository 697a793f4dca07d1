import { describe, expect, it } from 'vitest';
import * as v from 'valibot';
import { createTree, defineTool, localPrincipal, treeTools } from '../../../../src/index.ts';
import { callsTools, says, scriptedModel } from '../../../fixtures/model.ts';
import { readAll, runRequest, testRuntime } from '../../../fixtures/runtime.ts';

function outline() {
  const tree = createTree({
    payloadTypes: { item: { schema: v.strictObject({ name: v.string() }) } },
    rows: [{ nodeId: 'root', parentId: null, payloadType: 'item', payload: { name: 'Plan' } }],
  });
  return treeTools(tree, { agentId: 'helper', role: 'editor' });
}

describe('a tool source in a runtime', () => {
  it('offers its tools to agents, and returns their outcomes to the model', async () => {
    const { model, calls } = scriptedModel(
      callsTools({ tool: 'get_node', input: { nodeId: 'root' } }),
      says('Plan'),
    );
    const runtime = testRuntime({ model, tools: [outline()] });
    const chunks = await readAll(await runtime.run(runRequest(), localPrincipal()));
    expect(calls[0]?.tools?.map(({ name }) => name)).toContain('move_node');
    expect(chunks).toContainEqual(
      expect.objectContaining({
        type: 'tool-output-available',
        output: expect.objectContaining({ version: expect.any(String) }),
      }),
    );
  });

  it('works beside other tools, but takes none of their ids', () => {
    const { model } = scriptedModel(says('Hi'));
    const mine = defineTool({ id: 'get_node', description: 'Mine', input: v.strictObject({}), execute: () => 1 });
    expect(() => testRuntime({ model, tools: [mine, outline()] })).toThrow('two tools have the id "get_node"');
  });
});
