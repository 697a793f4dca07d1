/**
 * Tools that the provider of a model executes itself, such as web search: the model's own server makes the calls, and the stream only
 * shows them.
 *
 * What must hold:
 *
 * 1. The allowlist is the only way in: nothing is declared to a provider that `entryTools` does not name.
 * 2. No person and no rule can stop a single call, so a tool of which a call must be approved, or whose call a rule denies, is not
 *    declared at all. A request for an approval that a provider makes itself fails the run.
 * 3. A model of another provider gets no request with such a tool: its package would leave it out without a word.
 * 4. Each call is counted, an event, and an entry of the audit, as one that the provider has executed.
 */

import { PinnaceError } from '../base/errors.ts';
import type { ToolDefinition } from '../base/schema.ts';
import { declaredBy, isOfProvider, providerConfigForm } from './availability.ts';
import type { Tool } from './tool.ts';

/** Creates the tool of a definition of the type `provider`. @throws PinnaceError `invalid_argument` where a person would approve calls. */
export function createProviderTool(definition: ToolDefinition): Tool {
  const { id, approval = 'never' } = definition;
  if (!declaredBy(definition)) throw unfit(id, providerConfigForm);
  if (approval !== 'never') throw unfit(id, 'its provider executes it, so no person can approve a call');
  return {
    definition: { ...definition, callers: ['model'] },
    check: () => ({ ok: true, input: {} }),
    execute: () => {
      throw new PinnaceError('forbidden', `Cannot call tool "${id}": only the provider of the model executes it`, {
        details: { reason: 'provider_tool' },
      });
    },
  };
}

const byId = new Map<string, Tool>();

/** The tool that an entry of `entryTools` names by its provider: "anthropic.web_search_20250305" is called `web_search`. */
export function providerToolOf(entry: string): Tool | undefined {
  if (!isOfProvider(entry)) return undefined;
  const known = byId.get(entry);
  if (known) return known;
  const name = (entry.split('.')[1] ?? '').replace(/_\d{8}$/, '');
  const tool = createProviderTool({
    id: entry,
    name,
    type: 'provider',
    version: '0.1.0',
    visibility: 'public',
    state: 'active',
    description: `Runs at the provider: ${entry}`,
    paramsSchema: { type: 'object' },
    keywords: [],
    secrets: [],
    config: { id: entry },
    revision: 1,
  });
  if (byId.size < mostEntries) byId.set(entry, tool);
  return tool;
}

/** Entries are written by authors of agents: none of them fills the memory. */
const mostEntries = 1_000;

export function isProviderTool({ definition: { type } }: Pick<Tool, 'definition'>): boolean {
  return type === 'provider';
}

function unfit(id: string, why: string): PinnaceError {
  return new PinnaceError('invalid_argument', `Cannot use tool "${id}" of a provider: ${why}`, {
    details: { reason: 'provider_tool' },
  });
}
