/** The transports to the page's worker and to endpoints, each connected on first use. */

import type { AskedRun } from '../../control/page-control.ts';
import type { Found, RunNews, RunRecord } from '../../control/runs-control.ts';
import type { ConsoleControl } from '../../control/server-control.ts';
import type { Transports } from './chat-runs.ts';
import type { Transport } from './run.ts';

/** An endpoint: its agents, the events of their runs, and its console. */
export interface RemoteEndpoint extends Transport {
  /** Returns a run; `onNews` receives its progress until the signal aborts. */
  run(requested: AskedRun, how: { readonly onNews: (news: RunNews) => void; readonly signal: AbortSignal }): Promise<
    Found<RunRecord>
  >;
  console(): Promise<ConsoleControl>;
}

/** The ways, and a try of one. */
export interface ConnectedTransports extends Transports {
  /** Connects to an endpoint. Rejects with a `PinnaceError` when this page cannot be certified for it. */
  connect(endpoint: string): Promise<void>;
  /** Returns a run at an endpoint. Rejects as `connect` does. */
  runAt(endpoint: string, ...args: Parameters<RemoteEndpoint['run']>): ReturnType<RemoteEndpoint['run']>;
  /** The console of an endpoint. Rejects as `connect` does. */
  consoleOf(endpoint: string): Promise<ConsoleControl>;
}

interface TransportsOptions {
  readonly worker: Transport;
  readonly connectEndpoint: (endpoint: string) => Promise<RemoteEndpoint>;
  readonly chosen: () => string | undefined;
}

/** Creates the ways; an endpoint is connected once. */
export function createTransports(
  { worker, connectEndpoint, chosen }: TransportsOptions,
): ConnectedTransports {
  const connections = new Map<string, Promise<RemoteEndpoint>>();

  function connected(endpoint: string): Promise<RemoteEndpoint> {
    const known = connections.get(endpoint);
    if (known) return known;
    const connecting = connectEndpoint(endpoint);
    connections.set(endpoint, connecting);
    connecting.catch(() => connections.delete(endpoint)); // the next use tries again
    return connecting;
  }

  return {
    chosen,
    connect: async (endpoint) => void await connected(endpoint),
    runAt: async (endpoint, ...args) => await (await connected(endpoint)).run(...args),
    consoleOf: async (endpoint) => await (await connected(endpoint)).console(),
    to(endpoint) {
      if (endpoint === undefined) return worker;
      return {
        sendMessages: async (options) => await (await connected(endpoint)).sendMessages(options),
        resume: async (...args) => await (await connected(endpoint)).resume(...args),
        fork: async (...fork) => await (await connected(endpoint)).fork(...fork),
        decide: async (...decision) => await (await connected(endpoint)).decide(...decision),
        send: async (...message) => await (await connected(endpoint)).send(...message),
        reply: async (...reply) => await (await connected(endpoint)).reply(...reply),
        readFile: async (url) => await (await connected(endpoint)).readFile(url),
        mcp: async () => await (await connected(endpoint)).mcp(),
      };
    },
  };
}
