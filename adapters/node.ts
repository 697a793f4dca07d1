/** The wiring for Node: state in PostgreSQL, models over guarded connections, the endpoint as a fetch handler and as a listener. */

import process from 'node:process';
import type { Wanted } from '../src/base/check-options.ts';
import { loadOnce } from '../src/base/load-once.ts';
import type { SecretSource } from '../src/contracts/egress.ts';
import type { PlanningRuntime } from '../src/create-runtime.ts';
import { defined, pick } from './composition.ts';
import { denoEgress } from './egress/deno.ts';
import { checkEndpoint, createEndpoint, endpointLog, type EndpointOptions } from './endpoint.ts';
import { type NodeListener, type NodeListenerOptions, toNodeListener } from './node/listener.ts';
import { openPostgres } from './node/postgres-default.ts';
import { nodeSandbox } from './sandbox/node.ts';
import { denoEnvSecrets, type DenoEnvSecretsOptions } from './secrets/deno-env.ts';
import type { Handler } from './transport/http.ts';
import { sweepDue } from './upkeep/due-sweep.ts';

export { type NodeListener, type NodeListenerOptions, toNodeListener } from './node/listener.ts';
export type { SecretSource } from '../src/contracts/egress.ts';

/**
 * The options of an endpoint on Node: those of `createRuntime` and of `createHandler`, and what is new here. Absent, `secrets` are
 * `nodeEnvSecrets()`, `sandbox` is `nodeSandbox()`, `sinks` and `onError` print a line for each run and the cause of each failure (with `NODE_ENV=production`, a line for each failure), and `metricsToken` is the variable `PINNACE_METRICS_TOKEN`.
 */
export interface NodeEndpointOptions extends EndpointOptions {
  /** The address of the PostgreSQL database, without `storage`; the variable `DATABASE_URL` when absent. Takes the package `postgres`. */
  readonly databaseUrl?: string;
}

/** An endpoint on Node. */
export interface NodeEndpoint {
  /** For frameworks that speak Fetch: Hono, Next.js, `@hono/node-server`. */
  readonly handler: Handler;
  /** For `node:http` and Express. */
  readonly listener: (options?: NodeListenerOptions) => NodeListener;
  /** The runtime behind the endpoint, for calls in process. */
  readonly runtime: PlanningRuntime;
  /** Lets runs end for `drainMs` (3,000), hands the others over to other instances, and closes the storage. */
  readonly close: (options?: { readonly drainMs?: number }) => Promise<void>;
}

const ownOptions: Readonly<Record<string, Wanted>> = {
  databaseUrl: ['given?', 'the address of a PostgreSQL database'],
};

/**
 * Creates an endpoint.
 *
 * @throws PinnaceError `invalid_argument` for an unknown option or one of a wrong kind; without a storage: neither `storage`, nor
 * `databaseUrl`, nor `DATABASE_URL`; and without the package `postgres`.
 * @example
 * const endpoint = await createNodeEndpoint({ catalog, tools: [add], authenticator: () => authenticator });
 * createServer(endpoint.listener()).listen(8000);
 */
export async function createNodeEndpoint(options: NodeEndpointOptions): Promise<NodeEndpoint> {
  checkEndpoint(options, ownOptions);
  const storage = options.storage ?? await openPostgres(options.databaseUrl ?? process.env['DATABASE_URL']);
  const [own, sandbox] = [denoEgress(pick(options, ['loopback', 'privateOrigins'])), nodeSandbox()];
  const { handler, runtime, close: closeEndpoint } = createEndpoint(options, {
    storage,
    egress: options.egress ?? own,
    defaults: { secrets: nodeEnvSecrets(), sandbox, ...endpointLog(process.env['NODE_ENV'] === 'production') },
    served: {
      capabilities: loadOnce(async () => ({
        node: process.versions.node,
        pinnedEgress: await own.isReady(),
        sandbox: await sandbox.isReady(),
      })),
      ...defined({ metricsToken: process.env['PINNACE_METRICS_TOKEN'] }),
    },
  });
  const stopSweeping = sweepDue(runtime, { report: runtime.report });
  const close: NodeEndpoint['close'] = async ({ drainMs = 3_000 } = {}) => {
    stopSweeping();
    try {
      await closeEndpoint({ drainMs });
    } finally {
      leaveSignals?.();
    }
  };
  const leaveSignals = options.exitOnStop ?? true ? closeOnSignals(close) : undefined;
  return { handler, runtime, close, listener: (given) => toNodeListener(handler, given) };
}

/**
 * Creates a source of secrets that reads `openai-key` from the variable `PINNACE_SECRET_OPENAI_KEY`. As `denoEnvSecrets`, over
 * `process.env`.
 *
 * @example
 * const secrets = nodeEnvSecrets({ origins: { 'openai-key': ['https://api.openai.com'] } });
 */
export function nodeEnvSecrets(options: Omit<DenoEnvSecretsOptions, 'env'> = {}): SecretSource {
  return denoEnvSecrets({
    ...options,
    env: { get: (name) => process.env[name], delete: (name) => void delete process.env[name] },
  });
}

type Close = () => Promise<void>;

/** The endpoints that are open. One process may have several; it ends when the last has closed. */
const open = new Set<Close>();
const signals = ['SIGINT', 'SIGTERM'] as const;
/** When the process ends at the latest, whatever is still open. */
const exitMs = 4_500;

function stop(): void {
  setTimeout(() => process.exit(0), exitMs).unref();
  void Promise.allSettled(Array.from(open, (close) => close())).finally(() => process.exit(0));
}

/** Closes the endpoint on a signal, and ends the process then. Returns how to leave that to others, as after a close. */
function closeOnSignals(close: Close): () => void {
  if (open.size === 0) { for (const signal of signals) process.once(signal, stop); }
  open.add(close);
  return () => {
    if (!open.delete(close) || open.size > 0) return;
    for (const signal of signals) process.off(signal, stop);
  };
}
