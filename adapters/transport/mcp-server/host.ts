/** What an MCP server needs: the tools of a caller, and a storage for the loaded ones. */

import type { Rerank } from '../../../src/discovery/rerank.ts';
import { createReport } from '../../../src/events/report.ts';
import { reportedHook, reportedPort } from '../../../src/events/reported-port.ts';
import type { OnError } from '../../../src/events/on-error.ts';
import type { Storage } from '../../../src/contracts/storage.ts';
import type { AgentTools } from '../../../src/runtime/resolve/agent-tools.ts';
import type { Principal } from '../../../src/base/principal.ts';
import type { ToolSource } from '../../../src/tools/tool-source.ts';

/** The tools that a server offers, and which of them it lists at once. */
export interface McpHost {
  /**
   * Returns the tools that the caller may use, and the way to call them: `(principal) => runtime.tools('helper', principal)`.
   * Called for every request. Rejects for a caller that may use none.
   */
  readonly tools: (principal: Principal) => Promise<AgentTools>;
  /** Stores the loaded sets; instances that share it continue each other's sets. */
  readonly storage: Storage;
  /** Tools that every caller may list and call, besides those of `tools`, such as the tools of a tree. */
  readonly sources?: readonly ToolSource[];
  /** The names of tools of `tools` that are listed and called without loading, or prefixes with `*`; none when absent. */
  readonly listed?: readonly string[];
  /** How the server presents itself. */
  readonly info?: { readonly name: string; readonly version: string };
  /** The instructions for a client's model. */
  readonly instructions?: string;
  /** Reorders the results of `tool_find`. */
  readonly rerank?: Rerank;
  /** Receives what the error of a request does not contain: what `tools`, `storage`, `rerank` and tools of `sources` throw. */
  readonly onError?: OnError;
}

/** Returns the host; what its parts throw is reported to its `onError`, since clients receive none of it. */
export function reportedHost(host: McpHost): McpHost {
  const report = createReport(host.onError);
  const { tools } = reportedPort({ tools: host.tools }, report, { kind: 'mcp' });
  const rerank = host.rerank && reportedHook(host.rerank, report, 'rerank');
  const storage = reportedPort(host.storage, report, { kind: 'storage', isRetried: true });
  return { ...host, tools, storage, ...(rerank && { rerank }) };
}

/** The server information of a host that sets none. */
export const defaultInfo = { name: 'pinnace', version: '1' };

/** The instructions of a server over HTTP. */
export const statelessInstructions =
  'Find tools with tool_find, load them with tool_load, then call them with tool_call. Pass on the "toolset" that tool_load gave.';

/** The instructions of a server with a connection. */
export const connectionInstructions =
  'Find tools with tool_find and load them with tool_load: they then stand in the list of tools and can be called.';
