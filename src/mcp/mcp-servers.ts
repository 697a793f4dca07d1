/** The MCP servers of a runtime: the tools of their pins, and what becomes of them when they drift. */

import type { Report } from '../events/report.ts';
import type { McpValidating, McpValidation } from '../contracts/mcp/mcp-validation.ts';
import type { McpConnector } from '../contracts/mcp/mcp-connector.ts';
import type { McpContent } from '../contracts/mcp/content.ts';
import { PinnaceError } from '../base/errors.ts';
import { loadOnce } from '../base/load-once.ts';
import type { McpServer, SecretRef } from '../base/schema.ts';
import type { McpSignIn, McpSignIns } from '../contracts/mcp/sign-in.ts';
import type { AnsweredQuestions } from '../contracts/mcp/answers.ts';
import type { McpPeople, McpPeopleOptions } from './people.ts';
import { noSignIn } from './sign-in-failures.ts';
import type { Tool } from '../tools/tool.ts';
import { PinWatch, recordDrift } from './pin-watch.ts';
import { createMcpTool, type McpToolOptions } from './mcp-tool.ts';
import { type PinnedDefinition, pinnedDefinitions } from './pinned-tools.ts';
import { createServerLog, openSession } from './run-session.ts';

export interface McpServersOptions extends Omit<McpPeopleOptions, 'signIn' | 'sealKey'> {
  /** Without one, the tools are known and cannot be called. */
  readonly connector: McpConnector | undefined;
  /** Signs people in; without one, servers with `auth` cannot be used. */
  readonly signIn?: McpSignIn | undefined;
  /** The key that seals tokens and answers. Without it, questions of servers are not shown. */
  readonly sealKey?: SecretRef | undefined;
  /** How long a comparison with a pin is good for. */
  readonly driftTtlMs?: number;
  readonly timeoutMs?: number;
  readonly maxLength?: number;
  /** Called after the record of a server was written. */
  readonly onWritten: (server: Pick<McpServer, 'id' | 'tenant'>) => void | Promise<void>;
}

export interface KnownMcpTool extends PinnedDefinition {
  readonly tool?: Tool;
}

export type McpServers = ReturnType<typeof createMcpServers>;

const defaultTtlMs = 300_000;

/** Returns the servers. Nothing is connected before a tool is called. */
export function createMcpServers(options: McpServersOptions) {
  const { connector, timeoutMs = 60_000, maxLength = 32_768 } = options;
  const { driftTtlMs: ttlMs = defaultTtlMs, now } = options;
  const watch = new PinWatch({ ttlMs, now, onDrift: (server, drift) => recordDrift(server, drift, options) });
  const people = peopleOf(options);
  const openConnections = connector && (() =>
    openSession({
      connector,
      onListChanged: (server, kind) => watch.flag(server, kind),
      logOf: (server, access) => createServerLog(server, access, options),
    }));
  const toolOptions: McpToolOptions | undefined = openConnections && {
    watch,
    people,
    timeoutMs,
    maxLength,
    openSession: openConnections,
  };
  const made = new WeakMap<object, Promise<readonly KnownMcpTool[]>>();
  return {
    /** The server with what has drifted marked as such. The same object for as long as nothing changes. */
    current: (server: McpServer): McpServer => watch.current(server),
    toolsOf(server: McpServer): Promise<readonly KnownMcpTool[]> {
      const known = made.get(server) ?? knownTools(server, toolOptions, options.report);
      made.set(server, known);
      return known;
    },
    /** Looks at what a server offers, and pins it on approval. Rejects as `validateServer` does. */
    async validate(serverId: string, validation: McpValidating): Promise<McpValidation> {
      const { ownerOf, validateServer } = await import('./validate-server.ts'); // runs do without: the checks are fetched with the first look
      const answer = await validateServer(serverId, validation, { ...options, watch, people });
      if (validation.request.approve) await options.onWritten({ id: serverId, tenant: ownerOf(validation) });
      return answer;
    },
    /** Prompts and resources. @throws PinnaceError `unavailable` without a connector. */
    async content(): Promise<McpContent> {
      if (!openConnections) throw noConnector();
      return (await loadContent()).createMcpContent({ watch, people, timeoutMs, openSession: openConnections });
    },
    /** The sign-ins of callers. @throws PinnaceError `not_found` where the composition has no sign-ins. */
    async signIns(): Promise<McpSignIns> {
      if (!people || !options.signIn) throw noSignIn('not_found');
      return (await people()).signIns;
    },
    async answer(answering: AnsweredQuestions, given: { readonly signal: AbortSignal }): Promise<void> {
      if (!people) throw noSignIn();
      await (await people()).answer(answering, given);
    },
  };
}

const loadContent = /* @__PURE__ */ loadOnce(() => import('./read-content.ts'));

function noConnector(): PinnaceError {
  return new PinnaceError('unavailable', 'Cannot read from MCP servers: this runtime has no way to them', {
    retryable: false,
    details: { reason: 'no_mcp_connector' },
  });
}

function peopleOf({ sealKey, ...options }: McpServersOptions): (() => Promise<McpPeople>) | undefined {
  if (sealKey === undefined) return undefined;
  const { signIn } = options;
  return loadOnce(async () => (await import('./people.ts')).createMcpPeople({ ...options, signIn, sealKey }));
}

async function knownTools(
  server: McpServer,
  options: McpToolOptions | undefined,
  report: Report | undefined,
): Promise<readonly KnownMcpTool[]> {
  const all = await pinnedDefinitions(server);
  return all.map((pinned): KnownMcpTool => {
    const tool = options && pinned.genuine ? implement(server, pinned, { ...options, report }) : undefined;
    return tool ? { ...pinned, tool } : pinned;
  });
}

function implement(
  server: McpServer,
  pinned: PinnedDefinition,
  { report, ...options }: McpToolOptions & { readonly report: Report | undefined },
): Tool | undefined {
  try {
    return createMcpTool(server, pinned, options);
  } catch (error) {
    report?.(error, { kind: 'mcp', id: server.id }); // the manifest only says that there is no implementation
    return undefined;
  }
}
