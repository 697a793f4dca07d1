/** What an agent may use of all tools, as far as their definitions say: the one rule for runs, the registry and plans. */

import type { ToolDefinition } from '../base/schema.ts';

/** Why an agent cannot use a definition: the first reason that applies. */
export type Unavailable = 'not_allowed' | 'disabled' | 'hidden';

/** The tools that an agent names: by their ids, or by a prefix with `*`. */
export interface Allowlist {
  /** With `mustBeNamed` a bare `*` does not mean the tool. */
  has(toolId: string, mustBeNamed?: boolean): boolean;
  /** The exact ids that `has` was not called with. */
  unmatched(): readonly string[];
}

/** Creates the allowlist of an agent's `entryTools`. */
export function createAllowlist(entryTools: readonly string[]): Allowlist {
  const exact = new Set(exactIds(entryTools));
  const prefixes = entryTools.filter(isPattern).map((pattern) => pattern.slice(0, -1));
  const unmatched = new Set(exact);
  return {
    has(toolId, mustBeNamed = false) {
      if (!exact.has(toolId)) {
        return prefixes.some((prefix) => toolId.startsWith(prefix) && !(mustBeNamed && prefix === ''));
      }
      unmatched.delete(toolId);
      return true;
    },
    unmatched: () => [...unmatched],
  };
}

/** The ids among `entryTools` that name one tool each. */
export function exactIds(entryTools: readonly string[]): readonly string[] {
  return entryTools.filter((entry) => !isPattern(entry));
}

/** Whether an entry is a prefix. */
export function isPattern(entry: string): boolean {
  return entry.endsWith('*');
}

/** Why an agent may not use a tool that is allowed to it, or is not; `undefined`: it may. */
export function unavailability(
  { state, visibility }: Pick<ToolDefinition, 'state' | 'visibility'>,
  isAllowed: boolean,
): Unavailable | undefined {
  if (!isAllowed) return 'not_allowed';
  if (state === 'disabled') return 'disabled';
  return visibility === 'hidden' ? 'hidden' : undefined;
}

/** Those that an agent has in plans alone. */
export const planToolIds = ['create', 'send', 'ask_human', 'plan_revise', 'finish'] as const;

/** All of them. */
export const builtinToolIds: ReadonlySet<string> = new Set([
  'current_time',
  'calculator',
  'code_run',
  'fetch_url',
  'tool_find',
  'tool_describe',
  'tool_load',
  'tool_active',
  'retrieve',
  'remember',
  'forget',
  ...planToolIds,
]);
