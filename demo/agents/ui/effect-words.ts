/** What the tools of MCP servers do, as the person who approved them says. */

import type { Effect } from '../state/mcp-check.ts';

export const effectWords: Readonly<Record<Effect, string>> = {
  read: 'read-only',
  write: 'writes',
  destructive: 'destructive',
};
