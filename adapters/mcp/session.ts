/** Sessions with MCP servers, and what the libraries of both protocol eras share. */

import { asRecord } from '../../src/base/is-record.ts';
import type { McpCall, McpReading } from '../../src/contracts/mcp/mcp-connector.ts';
import type { McpFetch } from './mcp-fetch.ts';

export interface OpenOptions {
  readonly url: URL;
  readonly fetch: McpFetch['fetch'];
  readonly questions: boolean;
  readonly apps: boolean;
  readonly onGap?: (() => void) | undefined;
  /** The least level of log messages; absent: the server is not asked for any. */
  readonly logLevel?: LogLevel | undefined;
  readonly signal: AbortSignal;
}

export type LogLevel = 'debug' | 'info' | 'notice' | 'warning' | 'error' | 'critical' | 'alert' | 'emergency';

export type ListMethod = 'tools/list' | 'prompts/list' | 'resources/list' | 'resources/templates/list';

/** A session with a server. `inOurWords` maps its errors. */
export interface McpSession {
  readonly protocolVersion: string;
  readonly serverInfo: { readonly name: string; readonly version: string };
  readonly instructions: string | undefined;
  readonly capabilities: Readonly<Record<string, unknown>>;
  /** Sends a request that only reads. Returns the result, or the key of the held result. */
  request(
    method: McpReading['method'] | ListMethod,
    params: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<unknown>;
  /** The result of `tools/call`, or the key of the held result. A person may have been asked to open URLs before (-32042). */
  call(call: McpCall, signal: AbortSignal): Promise<unknown>;
  /** Ends the session at the server, where the protocol supports it, and releases everything. */
  close(): Promise<void>;
}

/** The client information for servers, without the real version. */
export const clientInfo = { name: 'pinnace', version: '0' } as const;

/** Connects. The libraries observe the signal in some of their requests only. */
export async function connectUntil(
  signal: AbortSignal,
  transport: { readonly close: () => Promise<void> },
  connect: () => Promise<void>,
): Promise<void> {
  const onAbort = (): void => void transport.close();
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    await connect();
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

export function factsOf(client: {
  getServerVersion(): unknown;
  getInstructions(): string | undefined;
  getServerCapabilities(): object | undefined;
}): Pick<McpSession, 'serverInfo' | 'instructions' | 'capabilities'> {
  const { name, version } = asRecord(client.getServerVersion());
  const textOf = (value: unknown): string => typeof value === 'string' ? value : '';
  return {
    serverInfo: { name: textOf(name), version: textOf(version) },
    instructions: client.getInstructions(),
    capabilities: { ...client.getServerCapabilities() },
  };
}

/** Returns the progress callback as a part of a library's options. The numbers and the text are the server's. */
export function progressOf(
  { onProgress }: McpCall,
): {
  readonly onprogress?: (
    progress: { progress: number; total?: number | undefined; message?: string | undefined },
  ) => void;
} {
  if (onProgress === undefined) return {};
  return {
    onprogress: ({ progress, total, message }) =>
      onProgress({ progress, ...(total !== undefined && { total }), ...(message !== undefined && { message }) }),
  };
}

export function paramsOf({ name, input, responses, traceparent }: McpCall, logLevel?: LogLevel): {
  readonly name: string;
  readonly arguments: Record<string, unknown>;
  readonly _meta?: Readonly<Record<string, string>>;
} {
  const meta = {
    ...(traceparent !== undefined && { traceparent }),
    ...(logLevel !== undefined && { 'io.modelcontextprotocol/logLevel': logLevel }),
  };
  return { name, arguments: { ...input }, ...responses, ...(Object.keys(meta).length > 0 && { _meta: meta }) };
}
