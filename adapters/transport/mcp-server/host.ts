/** What an MCP server is made of: the tools of a caller, and where the loaded ones are remembered. */

import type { Rerank } from '../../../src/discovery/rerank.ts';
import type { Storage } from '../../../src/contracts/storage.ts';
import type { AgentTools } from '../../../src/runtime/resolve/agent-tools.ts';
import type { Principal } from '../../../src/base/principal.ts';
import type { ToolSource } from '../../../src/tools/tool-source.ts';

/** Whose tools a server offers, and which of them it offers unasked. */
export interface McpHost {
  /**
   * Returns what the caller may use today, and the way to call it: `(principal) => runtime.tools('helper', principal)`. Asked for
   * every request. Rejects for whoever may use nothing.
   */
  readonly tools: (principal: Principal) => Promise<AgentTools>;
  /** Where the loaded sets are kept; with the same one, an instance goes on where another has stopped. */
  readonly storage: Storage;
  /** Tools that every caller sees and may call at once, besides those of `tools`, as the tools of a tree. */
  readonly sources?: readonly ToolSource[];
  /** The names of tools of `tools` that are seen and called without loading, or prefixes with `*`; none when absent. */
  readonly listed?: readonly string[];
  /** How the server presents itself. */
  readonly info?: { readonly name: string; readonly version: string };
  /** What a client's model is told of the server as a whole. */
  readonly instructions?: string;
  /** Puts what `tool_find` has found into another order. */
  readonly rerank?: Rerank;
}

/** How a server presents itself where its host says nothing. */
export const defaultInfo = { name: 'pinnace', version: '1' };

/** What a model is told of a server that is asked over HTTP. */
export const statelessInstructions =
  'Find tools with tool_find, load them with tool_load, then call them with tool_call. Pass on the "toolset" that tool_load gave.';

/** What a model is told of a server that remembers its connection. */
export const connectionInstructions =
  'Find tools with tool_find and load them with tool_load: they then stand in the list of tools and can be called.';
