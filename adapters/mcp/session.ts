/** What the two MCP libraries have in common, as the connector needs it. */

import type { McpCall } from '../../src/contracts/mcp-connector.ts';
import type { McpFetch } from './mcp-fetch.ts';

/** What a session is opened with. */
export interface OpenOptions {
  readonly url: URL;
  /** The only way out. */
  readonly fetch: McpFetch['fetch'];
  readonly signal: AbortSignal;
}

/** A session with a server. What it rejects with is for {@link toFailure} to read. */
export interface McpSession {
  readonly protocolVersion: string;
  readonly serverInfo: { readonly name: string; readonly version: string };
  readonly instructions: string | undefined;
  /** One page of `tools/list`, or its frame. */
  listPage(cursor: string | undefined, signal: AbortSignal): Promise<unknown>;
  /** The result of `tools/call`, or its frame. */
  call(call: McpCall, signal: AbortSignal): Promise<unknown>;
  /** Takes leave of the server, where the protocol knows that, and lets go of everything. */
  close(): Promise<void>;
}

/** Opens a session. It takes care of what it has opened when it rejects. */
export type OpenSession = (options: OpenOptions) => Promise<McpSession>;

/** Connects; a library looks at the signal in some of its requests, and in others not at all. */
export async function connectUntil(
  { signal, transport, connect }: {
    readonly signal: AbortSignal;
    readonly transport: { readonly close: () => Promise<void> };
    readonly connect: () => Promise<void>;
  },
): Promise<void> {
  const onAbort = (): void => void transport.close();
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    await connect();
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/** Who we are to a server: no version, for it is none of its business. */
export const clientInfo = { name: 'pinnace', version: '0' } as const;

/** Returns what a server says of itself, as text. */
export function serverInfoOf(info: unknown): McpSession['serverInfo'] {
  const { name, version } = (info ?? {}) as { readonly name?: unknown; readonly version?: unknown };
  return { name: typeof name === 'string' ? name : '', version: typeof version === 'string' ? version : '' };
}

/** Returns what a library calls with progress, as a part of its options. The numbers and the text are the server's. */
export function progressOf(
  { onProgress }: McpCall,
): {
  readonly onprogress?: (told: { progress: number; total?: number | undefined; message?: string | undefined }) => void;
} {
  if (onProgress === undefined) return {};
  return {
    onprogress: ({ progress, total, message }) =>
      onProgress({ progress, ...(total !== undefined && { total }), ...(message !== undefined && { message }) }),
  };
}

/** Returns the parameters of `tools/call`. */
export function paramsOf({ name, input, traceparent }: McpCall): {
  readonly name: string;
  readonly arguments: Record<string, unknown>;
  readonly _meta?: { readonly traceparent: string };
} {
  return { name, arguments: { ...input }, ...(traceparent !== undefined && { _meta: { traceparent } }) };
}
