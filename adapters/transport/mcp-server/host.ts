/** What an MCP server needs: the tools of a caller, and a storage for the loaded ones. */

import type { Rerank } from '../../../src/discovery/discovery-tools.ts';
import { createReport, type OnError, reportedHook, reportedPort } from '../../../src/events/report.ts';
import type { Storage } from '../../../src/contracts/storage.ts';
import type { AgentTools } from '../../../src/runtime/agent-tools.ts';
import type { Principal } from '../../../src/base/principal.ts';
import type { McpPrompts } from './content/prompt.ts';
import type { McpResources } from './content/resource.ts';
import type { ToolSource } from '../../../src/tools/implement.ts';

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
  /** What clients may list, read and complete; none when absent. */
  readonly resources?: readonly McpResources[];
  /** The prompts that people choose in their clients; none when absent. */
  readonly prompts?: McpPrompts;
  /**
   * `client`: a client whose principal has the scope `tool:approve`, and which `authorize` lets decide (`approval.decide`), is asked
   * whether a call may be made that a person must approve. Trust only clients that show such questions to a person. Absent: such calls
   * are refused as `approval_required`.
   */
  readonly approvals?: 'client';
  /**
   * Sessions for clients of 2025-11-25, over HTTP: with them such a client can be asked, and can subscribe to resources. They are held
   * by this instance: a load balancer must send a session's requests to one instance. None when absent.
   */
  readonly sessions?: McpSessionOptions;
  /** How the server presents itself. */
  readonly info?: { readonly name: string; readonly version: string };
  /** The instructions for a client's model. */
  readonly instructions?: string;
  /** Reorders the results of `tool_find`. */
  readonly rerank?: Rerank;
  /** Receives what the error of a request does not contain: what `tools`, `storage`, `rerank` and tools of `sources` throw. */
  readonly onError?: OnError;
}

/** The limits of sessions. */
export interface McpSessionOptions {
  /** The most sessions of this instance (100). */
  readonly max?: number;
  /** The most sessions of a principal (10). One more closes the one that was not used for the longest time. */
  readonly maxPerPrincipal?: number;
  /** The time without a request after which a session is closed, in milliseconds (1,800,000). */
  readonly idleMs?: number;
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
