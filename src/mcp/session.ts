/** The connections of one run: one for each server, opened with the first call, closed with the run. */

import { PinnaceError } from '../base/errors.ts';
import type { McpAuthorization, McpConnection, McpConnector, McpLogMessage } from '../contracts/mcp/mcp-connector.ts';
import type { McpServer } from '../base/schema.ts';
import type { Secret } from '../base/secret.ts';
import type { Closable } from '../tools/run-scope.ts';

/** The connections of a run. */
export interface McpSession extends Closable {
  /** Rejects as the connector does; the next call then tries again. */
  connection(server: McpServer, access: ServerAccess): Promise<McpConnection>;
}

/** What a server is reached with. */
export interface ServerAccess {
  readonly secret: Secret | undefined;
  /** Whether a person can answer questions. */
  readonly questions: boolean;
  /** The tokens of the first call serve all calls of the run: it has one caller. */
  readonly authorization?: McpAuthorization;
}

/** What sessions are made of. */
export interface McpSessionOptions {
  readonly connector: McpConnector;
  /** Called when a server says that its list of tools has changed. */
  readonly onToolsChanged: (server: McpServer) => void;
  /** The same for its prompts and resources. */
  readonly onContentChanged?: ((server: McpServer, kind: 'prompts' | 'resources') => void) | undefined;
  /** Returns what takes the log of a connection, and its authorization. */
  readonly logOf?: LogOf | undefined;
}

type LogOf = (server: McpServer, access: ServerAccess) => {
  readonly authorization: McpAuthorization | undefined;
  readonly onLog: (message: McpLogMessage) => void;
};

/** Creates a session without connections. */
export function openSession({ connector, onToolsChanged, onContentChanged, logOf }: McpSessionOptions): McpSession {
  const open = new Map<string, Promise<McpConnection>>();
  const closing = new AbortController();
  const connect = async (server: McpServer, access: ServerAccess): Promise<McpConnection> => {
    closing.signal.throwIfAborted();
    const options = {
      ...access,
      ...logOf?.(server, access),
      signal: closing.signal,
      onToolsChanged: () => onToolsChanged(server),
      onContentChanged: (kind: 'prompts' | 'resources') => onContentChanged?.(server, kind),
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
