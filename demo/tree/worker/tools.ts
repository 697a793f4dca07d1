/** The tree's tools, for agents: each tenant has a tree of its own. */

import { createTree, fromData, type Tool, treeTools } from '../../../src/index.ts';
import type { TreeOutcome } from '../../../src/tree/index.ts';
import { yardTypes } from './yard.ts';

/** Who works with these tools. */
export const treeAgentId = 'bosun';

/** Calls a tool at the tree of a tenant, for one of its principals: view, rate and undo are that principal's. */
export type CallTree = (
  tenant: string,
  call: { readonly tool: string; readonly input: unknown; readonly subject?: string },
) => Promise<TreeOutcome>;

/** Returns the seventeen tools. */
export function sampleTreeTools(callTree: CallTree): Tool[] {
  const { definitions } = treeTools(createTree({ payloadTypes: yardTypes }), { agentId: 'none', role: 'editor' });
  return definitions.map((definition) => ({
    definition: { ...definition, title: titleOf(definition.name) },
    check: (input) => ({ ok: true, input }), // the tree checks for itself
    async execute(input, { principal }) {
      const outcome = await callTree(principal.tenant, {
        tool: definition.name,
        input,
        subject: principal.subject,
      });
      if (outcome.ok) return outcome.output;
      throw fromData(outcome.error);
    },
  }));
}

/** `get_node` in words. */
function titleOf(name: string): string {
  const words = name.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}
