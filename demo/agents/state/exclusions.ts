/** Why a tool is left out, for people. */

const reasons: Readonly<Record<string, string>> = {
  not_allowed: 'not on the allowlist',
  disabled: 'disabled',
  hidden: 'hidden',
  unknown_tool: 'no such tool',
  unknown_mcp_server: 'no such MCP server',
  mcp_not_validated: 'its MCP server is not validated',
  mcp_masked: 'masked',
  mcp_drifted: 'its definition has changed since approval',
  egress_denied: 'its origin is not in the agent’s egress list',
  mcp_app_only: 'only for its server’s apps',
  no_implementation: 'its code is not available here',
  only_in_plans: 'only in plans',
  not_for_programs: 'a guarded agent acts in programs, which cannot call it',
  not_permitted: 'a rule denies its calls',
  approval_unsupported: 'a rule wants its calls approved, and its provider does not ask',
  name_taken: 'another tool has this name',
};

/** Returns the words for a reason of a manifest; an unknown reason is returned as is. */
export function wordsOfExclusion(reason: string): string {
  return Object.hasOwn(reasons, reason) ? reasons[reason] ?? reason : reason.replaceAll('_', ' ');
}
