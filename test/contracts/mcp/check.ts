/** Types and helpers of the connector's checks. */

import { PinnaceError } from '../../../src/base/errors.ts';
import type { McpCall, McpConnection, McpConnector } from '../../../src/contracts/mcp/mcp-connector.ts';
import { parse } from '../../../src/base/parse.ts';
import { McpServer } from '../../../src/base/schema.ts';
import { Secret } from '../../../src/base/secret.ts';
import { assert } from '../assert.ts';
import { type Answer, createPeer, echo, type Era, type Peer } from './peer.ts';

/** A connector to check. Each check receives a fresh one, and opens it once. */
export interface McpConnectorSubject {
  /** The revisions that the server of the check speaks. */
  readonly era: Era;
  /**
   * Returns a connector whose requests, to wherever they go, are answered by this function. The signal of a request aborts when
   * the connector gives it up.
   */
  readonly open: (handle: (request: Request) => Promise<Response>) => Promise<McpConnector>;
}

/** One check, named by the fact that it proves. `run` rejects if the check fails. */
export interface McpConnectorCheck {
  readonly name: string;
  readonly run: (subject: McpConnectorSubject) => Promise<void>;
}

/** Where the server of the checks is. */
export const serverUrl = 'https://tools.example.com/mcp?team=1';

export const secret = new Secret({
  id: 'tools-key',
  version: '1',
  value: 'tools-key-4f9aZ_q-77Kd0Lm2',
  origins: 'any',
});

/** A server record of a catalog. */
export const server = parse(McpServer, { id: 'tools', alias: 'tools', url: serverUrl }, { what: 'server' });

/** A connection, and the server at its end. */
export interface Connected {
  readonly peer: Peer;
  readonly connection: McpConnection;
}

/** Connects to a peer that answers some methods in its own way. */
export async function connect(
  { era, open }: McpConnectorSubject,
  on: Readonly<Record<string, Answer>> = {},
): Promise<Connected> {
  const peer = createPeer(era, on);
  const connector = await open(peer.handle);
  return { peer, connection: await connector.connect(server, { secret, signal: new AbortController().signal }) };
}

/** Returns a call of the tool `echo`. */
export function echoing(text: string, overrides: Partial<McpCall> = {}): McpCall {
  const { signal } = new AbortController();
  return { name: 'echo', input: { text }, definition: echo, signal, timeoutMs: 20_000, ...overrides };
}

export function list(connection: McpConnection): Promise<readonly unknown[]> {
  return connection.listTools({ signal: new AbortController().signal });
}

/** Returns the error that the call rejects with, which must be a `PinnaceError`. */
export async function failureOf(call: () => Promise<unknown>): Promise<PinnaceError> {
  try {
    await call();
  } catch (error) {
    assert(error instanceof PinnaceError, `The error is not a PinnaceError: ${String(error)}`);
    return error;
  }
  throw new Error('The call did not reject');
}

/** Returns code and reason of the error that the call rejects with. */
export async function reasonOf(call: () => Promise<unknown>): Promise<string> {
  const { code, details } = await failureOf(call);
  return `${code}: ${String(details?.['reason'])}`;
}
