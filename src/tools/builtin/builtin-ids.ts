/** The ids of the tools that come with the runtime: an agent may name them, and nothing else may be called so. */

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
