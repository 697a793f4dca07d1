/**
 * Tools that the provider of a model executes itself, such as web search: the model's own server makes the calls, and the stream only
 * shows them.
 *
 * What must hold:
 *
 * 1. The allowlist is the only way in: nothing is declared to a provider that `entryTools` does not name.
 * 2. Only a provider that asks before it makes a call (`asking`) lets a person or a rule stop it: then its question is decided as any
 *    other, and answered by what is stored alone. Of all other tools, one whose calls must be approved is refused, and one whose calls a
 *    rule denies or wants approved is not declared; the manifest says why.
 * 3. A model of another provider gets no request with such a tool: its package would leave it out without a word.
 * 4. Each call is counted, an event, and an entry of the audit, as one that the provider has executed.
 */

import { PinnaceError } from '../base/errors.ts';
import type { ToolDefinition } from '../base/schema.ts';
import { declaredBy, isOfProvider, providerConfigForm } from './availability.ts';
import { needsApproval } from './availability.ts';
import type { Tool } from './tool.ts';

/** The tools of which providers ask before they make a call, and the setting by which they ask before each. */
const asking: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  'openai.mcp': { requireApproval: 'always' },
};

/**
 * Creates the tool of a definition of the type `provider`.
 *
 * @throws PinnaceError `invalid_argument` where a person must approve calls, and the provider does not ask.
 */
export function createProviderTool(definition: ToolDefinition): Tool {
  const { id } = definition;
  if (!declaredBy(definition)) throw unfit(id, providerConfigForm);
  const tool = providerTool({ ...definition, callers: ['model'] });
  if (!needsApproval(definition)) return tool;
  const asked = askingFirst(tool);
  if (!asked) throw unfit(id, 'its provider executes it without asking, so no person can approve a call');
  return asked;
}

function providerTool(definition: ToolDefinition): Tool {
  const { id } = definition;
  return {
    definition,
    check: (input) => ({ ok: true, input }),
    execute: () => {
      throw new PinnaceError('forbidden', `Cannot call tool "${id}": only the provider of the model executes it`, {
        details: { reason: 'provider_tool' },
      });
    },
  };
}

const askingTools = new WeakMap<Tool, Tool>();

/** The tool, declared so that its provider asks before each call; `undefined` where it cannot. */
export function askingFirst(tool: Tool): Tool | undefined {
  const { definition } = tool;
  const declared = declaredBy(definition);
  const setting = declared && asking[declared.id];
  if (!setting) return undefined;
  const known = askingTools.get(tool); // the same one in each run: what is sent is made of it once
  if (known) return known;
  const asked = providerTool({ ...definition, config: { id: declared.id, args: { ...declared.args, ...setting } } });
  askingTools.set(tool, asked);
  askingTools.set(asked, asked);
  return asked;
}

const ofCalls = new WeakMap<Tool, Map<string, Tool>>();

/**
 * The tool by which a call is judged that a provider asks about: with the id of the declared tool, and the name that the provider uses
 * ("mcp.search" of "openai.mcp"). `undefined` where none is declared, and where several are: the provider does not say which it is of.
 */
export function calledOfProvider(tools: readonly Tool[], name: string): Tool | undefined {
  const [family = ''] = name.split('.', 1);
  if (family === name || name.length > 300) return undefined;
  const [tool, another] = tools.filter(({ definition }) => {
    const id = declaredBy(definition)?.id;
    return id !== undefined && id in asking && id.endsWith(`.${family}`);
  });
  if (!tool || another) return undefined;
  const known = ofCalls.get(tool) ?? new Map<string, Tool>();
  ofCalls.set(tool, known);
  const made = known.get(name) ?? providerTool({
    ...tool.definition,
    name,
    title: name,
    approval: 'always',
    edit: false, // the provider keeps what it has asked about
    paramsSchema: { type: 'object', additionalProperties: true },
  });
  if (known.size < mostEntries) known.set(name, made);
  return made;
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
