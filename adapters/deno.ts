/** The wiring for Deno: state in Deno KV, models over fetch, events as lines on the console, the endpoint as a fetch handler. */

import type { Wanted } from '../src/base/check-options.ts';
import { PinnaceError } from '../src/base/errors.ts';
import { loadOnce } from '../src/base/load-once.ts';
import { defined, type Observability, pick } from './composition.ts';
import { denoEgress, type PinnedEgress } from './egress/deno.ts';
import { checkEndpoint, type ComposedEndpoint, createEndpoint, endpointLog, type EndpointOptions } from './endpoint.ts';
import { reportTo, sweepOnRequest } from './upkeep/due-sweep.ts';
import { denoSandbox } from './sandbox/deno.ts';
import { lazyOtel } from './sinks/lazy-otel.ts';
import { denoKvStorage } from './storage/deno-kv.ts';
import type { Handler } from './transport/http.ts';
import { cutSenders } from './transport/cut-senders.ts';

export type { Observability };
/** @deprecated Use `Observability`. */
export type Seen = Observability;

/**
 * The options of an endpoint on Deno: those of `createRuntime` and of `createHandler`, and what is new here. Absent, `sandbox` is
 * `denoSandbox()`, and `sinks` and `onError` print as those of `createNodeEndpoint`. Where Deno itself traces, spans and metrics go to OpenTelemetry as well.
 */
export interface DenoEndpointOptions extends EndpointOptions {
  /** The Deno KV database, without `storage`; the platform's own when absent. */
  readonly kvPath?: string;
}

/** How long runs may continue when the platform stops the instance; Deno Deploy kills it after five seconds. */
const drainMs = 3_000;
/** When the process exits at the latest, whatever is still open. */
const exitMs = 4_500;
/** Time for the last events to reach the sockets of their readers. */
const flushMs = 250;
/** How often it is looked what is due, where there is no cron. */
const sweepMs = 15_000;
const ownOptions: Readonly<Record<string, Wanted>> = { kvPath: ['given?', 'the path of a Deno KV database'] };

/**
 * Creates the handler for `Deno.serve`, or for `export default { fetch }` with `deno serve` and Deno Deploy.
 *
 * @throws PinnaceError `invalid_argument` for an unknown option or one of a wrong kind, `unavailable` (reason `no_deno`) outside Deno.
 */
export function createDenoEndpoint(options: DenoEndpointOptions): Handler {
  requireDeno(options);
  const log = endpointLog(isProduction());
  const { kvPath: path, onError = log.onError, sinks = log.sinks } = options;
  const storage = options.storage ?? denoKvStorage(defined({ path, onError }));
  const [egress, sandbox] = [denoEgress(pick(options, ['loopback', 'privateOrigins'])), denoSandbox()];
  const otel = isTraced() ? lazyOtel() : undefined;
  const endpoint = createEndpoint({ ...options, sinks: [...sinks, ...(otel ? [otel.sink] : [])] }, {
    storage,
    egress: options.egress ?? egress,
    defaults: { sandbox, onError },
    served: { capabilities: loadOnce(() => probe({ egress, sandbox })) },
  });
  const { runtime } = endpoint;
  if (otel) runtime.metrics.observe(otel.metrics);
  closeOnSignals(endpoint, options.exitOnStop ?? true);
  const { report } = runtime;
  const sweep = sweepOnRequest(runtime, { report });
  // A failed sweep is left to the next: while the endpoint closes, its storage closes before its cron.
  scheduler()?.('pinnace-plans', '* * * * *', async () => void await runtime.sweep().catch(reportTo(report)));
  if (!scheduler()) Deno.unrefTimer(Number(setInterval(sweep, sweepMs))); // Deno's own server keeps the process alive
  const handler = cutSenders(endpoint.handler);
  return (request, connection) => {
    setTimeout(sweep); // after the answer, which does not wait for the database to open
    return handler(request, connection);
  };
}

function requireDeno(options: DenoEndpointOptions): void {
  if (typeof Deno !== 'undefined') return checkEndpoint(options, ownOptions);
  throw new PinnaceError(
    'unavailable',
    'Cannot create the endpoint: this is not Deno; on Node, use createNodeEndpoint of "pinnace/node"',
    { retryable: false, details: { reason: 'no_deno' } },
  );
}

/** What this platform can do, for `readyz`. */
async function probe({ egress, sandbox }: {
  readonly egress: Pick<PinnedEgress, 'isReady'>;
  readonly sandbox: Pick<ReturnType<typeof denoSandbox>, 'isReady'>;
}): Promise<Record<string, unknown>> {
  return {
    deno: Deno.version.deno,
    kv: typeof Deno.openKv === 'function',
    pinnedEgress: await egress.isReady(),
    sandbox: await sandbox.isReady(),
  };
}

/** Whether Deno itself traces: then it has a provider for OpenTelemetry spans and metrics. */
function isTraced(): boolean {
  return /^(1|true)$/i.test(variable('OTEL_DENO'));
}

/** Deno Deploy names the deployment. */
function isProduction(): boolean {
  return variable('NODE_ENV') === 'production' || variable('DENO_DEPLOYMENT_ID') !== '';
}

/** Empty also without the permission to read it. */
function variable(name: string): string {
  const { state } = Deno.permissions.querySync({ name: 'env', variable: name });
  return state === 'granted' ? Deno.env.get(name) ?? '' : '';
}

/** Deno Deploy has cron, and Deno with `--unstable-cron`; elsewhere a timer and requests wake what is due. */
function scheduler(): ((name: string, schedule: string, work: () => Promise<void>) => void) | undefined {
  return (Deno as { cron?: ReturnType<typeof scheduler> }).cron;
}

/** On a signal, lets runs end, or ends them with an event that their readers can resume from, before the process exits. */
function closeOnSignals(endpoint: Pick<ComposedEndpoint, 'close'>, exits: boolean): void {
  let isClosing = false;
  const close = async (): Promise<void> => {
    if (isClosing) return;
    isClosing = true;
    if (exits) setTimeout(() => Deno.exit(0), exitMs);
    await endpoint.close({ drainMs });
    if (exits) setTimeout(() => Deno.exit(0), flushMs);
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) Deno.addSignalListener(signal, () => void close());
}
