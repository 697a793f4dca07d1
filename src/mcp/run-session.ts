/** The connections of one run: one for each server, opened with the first call, closed with the run. */

import { PinnaceError } from '../base/errors.ts';
import type { McpServer } from '../base/schema.ts';
import type { Secret } from '../base/secret.ts';
import type { McpAuthorization, McpConnection, McpConnector, McpLogMessage } from '../contracts/mcp/mcp-connector.ts';
import type { Emit } from '../events/events.ts';
import { summaryOf } from '../events/payload-summary.ts';
import type { Report } from '../events/report.ts';
import { createTraceId } from '../events/trace-ids.ts';
import { createRedactor, isRedactable } from '../permission/redaction/redactor.ts';
import type { Closable } from '../tools/run-scope.ts';

export interface McpSession extends Closable {
  /** Rejects as the connector does; the next call then tries again. */
  connection(server: McpServer, access: ServerAccess): Promise<McpConnection>;
}

export interface ServerAccess {
  readonly secret: Secret | undefined;
  /** Whether a person can answer questions. */
  readonly questions: boolean;
  readonly authorization?: McpAuthorization;
}

interface McpSessionOptions {
  readonly connector: McpConnector;
  /** Called when a server says that a list has changed. */
  readonly onListChanged: (server: McpServer, kind: 'tools' | 'prompts' | 'resources') => void;
  /** Returns what takes the log of a connection, and its authorization. */
  readonly logOf?: LogOf | undefined;
}

type LogOf = (server: McpServer, access: ServerAccess) => {
  readonly authorization: McpAuthorization | undefined;
  readonly onLog: (message: McpLogMessage) => void;
};

/** Creates a session without connections. */
export function openSession({ connector, onListChanged, logOf }: McpSessionOptions): McpSession {
  const open = new Map<string, Promise<McpConnection>>();
  const closing = new AbortController();
  const connect = async (server: McpServer, access: ServerAccess): Promise<McpConnection> => {
    closing.signal.throwIfAborted();
    const options = {
      ...access,
      ...logOf?.(server, access),
      signal: closing.signal,
      onToolsChanged: () => onListChanged(server, 'tools'),
      onContentChanged: (kind: 'prompts' | 'resources') => onListChanged(server, kind),
    };
    const connection = await connector.connect(server, options);
    if (!closing.signal.aborted) return connection;
    await connection.close();
    throw closing.signal.reason;
  };
  return {
    connection(server, access) {
      const known = open.get(server.id);
      if (known) return known;
      const made = connect(server, access).catch((error: unknown) => {
        open.delete(server.id);
        throw error;
      });
      open.set(server.id, made);
      return made;
    },
    async close() {
      closing.abort(new PinnaceError('cancelled', 'The connection was closed with its run'));
      const closed = [...open.values()].map(async (connection) => {
        await (await connection.catch(() => undefined))?.close();
      });
      open.clear();
      await Promise.allSettled(closed);
    },
  };
}

/** The longest text that is reported, in UTF-16 code units. */
const maxLength = 2000;

class McpServerLog extends Error {
  override readonly name = 'McpServerLog';
}

const reported = new Set(['warning', 'error', 'critical', 'alert', 'emergency']);

/** Watches the secrets of one connection, which no text may contain. */
export function createServerLog(
  server: Pick<McpServer, 'id' | 'alias'>,
  { secret, authorization }: ServerAccess,
  { emit, report }: { readonly emit: Emit; readonly report?: Report | undefined },
): { readonly authorization: McpAuthorization | undefined; readonly onLog: (message: McpLogMessage) => void } {
  const secrets = new Set<Secret>(secret ? [secret] : []);
  const noted = <T extends Secret | undefined>(token: T): T => {
    if (token) secrets.add(token);
    return token;
  };
  return {
    authorization: authorization && {
      token: async () => noted(await authorization.token()),
      refused: async (...given) => noted(await authorization.refused(...given)),
    },
    onLog({ level, logger, data }) {
      const text = typeof data === 'string' ? data : JSON.stringify(data) ?? '';
      emit({
        traceId: createTraceId(),
        actor: { type: 'system', id: 'mcp' },
        action: 'mcp.log',
        target: { type: 'mcp-server', id: server.id },
        status: reported.has(level) ? 'error' : 'ok',
        latency: 0,
        error: null,
        payloadSummary: summaryOf({ level, length: text.length }),
      });
      if (!report || !reported.has(level)) return;
      const known = [...secrets].map((one) => ({ id: one.id, value: one.reveal() }));
      const { text: redact } = createRedactor(known.filter(({ value }) => isRedactable(value)));
      const from = logger === undefined ? '' : `, ${redact(logger)}`;
      const words = redact(text).slice(0, maxLength).toWellFormed();
      report(new McpServerLog(`MCP server "${server.alias}" logs (${level}${from}): ${words}`), {
        kind: 'mcp',
        id: server.id,
      });
    },
  };
}
