import { describe, expect, it } from 'vitest';
import { sampleTreeTools } from '../../../../demo/tree/worker/tools.ts';
import { createTree, treeTools } from '../../../../src/index.ts';

describe('sampleTreeTools', () => {
  it('have the definitions of the tree, which are recorded', async () => {
    const { definitions } = treeTools(createTree({ payloadTypes: {} }), { agentId: 'none', role: 'editor' });
    const recorded = `${JSON.stringify(definitions, null, 2)}\n`;
    await expect(recorded).toMatchFileSnapshot('../../../../demo/tree/worker/tool-definitions.json');
    const tools = sampleTreeTools(() => Promise.reject(new Error('no call')));
    expect(tools.map(({ definition: { title: _, ...definition } }) => definition)).toEqual(definitions);
  });
});
