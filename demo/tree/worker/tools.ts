/** The tree's tools, for agents: each tenant has a tree of its own. */

import * as v from 'valibot';
import { fromData } from '../../../src/base/errors.ts';
import { ToolDefinition } from '../../../src/base/schema.ts';
import type { Tool } from '../../../src/index.ts';
import type { TreeOutcome } from '../../../src/tree/index.ts';
// Recorded, so that the tree's code is loaded with the first call. `npx vitest run --project=dom test/demo/tree -u` records it again.
import definitions from './tool-definitions.json' with { type: 'json' };

export const treeAgentId = 'bosun';

/** Calls a tool at the tree of a tenant, for one of its principals: view, rate and undo are that principal's. */
export type CallTree = (
  tenant: string,
  call: { readonly tool: string; readonly input: unknown; readonly subject?: string },
) => Promise<TreeOutcome>;

export function sampleTreeTools(callTree: CallTree): Tool[] {
  return v.parse(v.array(ToolDefinition), definitions).map((definition) => ({
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
