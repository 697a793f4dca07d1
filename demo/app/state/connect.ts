/** Starts the agent worker, and rejects in time when it does not start. */

import { type Endpoint, expose, type Remote, transfer, wrap } from 'comlink';
import type { AgentCard, Control } from '../../control/page-control.ts';
import type { PageCells } from '../worker/page-cells.ts';
import type { EvalsControl } from '../../control/evals-control.ts';
import type { InspectorControl } from '../../control/runs-control.ts';
import type { KnowledgeControl } from '../../control/knowledge-control.ts';
import type { RegistryControl } from '../../control/registry-control.ts';
import type { TreeControl } from '../../control/tree-control.ts';
import type { Transport } from '../../chat/state/run.ts';
import type { RemoteControl } from '../../settings/state/settings.ts';

/** What the page gets from a running agent worker. */
export interface Connection {
  readonly agents: readonly AgentCard[];
  readonly control: RemoteControl;
  readonly transport: Transport;
  /** Gives the worker a port to the browser's own model, which it uses from the next run on. */
  readonly connectBrowserModel: (port: MessagePort) => Promise<void>;
  /** Gives the worker a port to the page's tools, and one through which the page offers an agent's tools to the browser. */
  readonly webmcp: {
    readonly connectPage: (port: MessagePort) => Promise<void>;
    readonly offerAgent: (agentId: string, port: MessagePort) => Promise<void>;
  };
  /** Connects to the tree, which opens on first use. */
  readonly connectTree: () => TreeControl;
  readonly connectRegistry: () => RegistryControl;
  readonly connectKnowledge: () => KnowledgeControl;
  readonly connectInspector: () => InspectorControl;
  readonly connectEvals: () => EvalsControl;
}

interface ConnectOptions {
  /** Makes the page's end of a port into a transport. */
  readonly connectRuntime: (port: MessagePort) => Transport;
  /** The port of a shared worker; a dedicated one has its own. */
  readonly port?: Endpoint;
  readonly timeoutMs?: number;
}

/**
 * Connects to a worker that exposes {@link Control}.
 *
 * Rejects when its script fails, when it has no agent, and when it says nothing in time.
 */
export async function connect(
  worker: Worker | SharedWorker,
  { connectRuntime, port = worker as Worker, timeoutMs = 20_000 }: ConnectOptions,
): Promise<Connection & { readonly close: () => void }> {
  const control = wrap<Control>(port);
  const { promise: failed, reject } = Promise.withResolvers<never>();
  const onError = (event: Event): void => reject(new Error(errorText(event), { cause: event }));
  worker.addEventListener('error', onError);
  const timer = setTimeout(() => reject(new Error('The worker did not answer in time')), timeoutMs);
  try {
    const { port1, port2 } = new MessageChannel();
    const [agents] = await Promise.race([
      Promise.all([control.agents(), control.open(transfer(port1, [port1]))]),
      failed,
    ]);
    if (port !== worker) openCells(control);
    if (agents.length === 0) throw new Error('The worker has no agents');
    return {
      agents,
      control,
      close: () => void control.close(),
      transport: connectRuntime(port2),
      connectBrowserModel: (to) => control.useBrowserModel(transfer(to, [to])),
      webmcp: {
        connectPage: (to) => control.openPageTools(transfer(to, [to])),
        offerAgent: (agentId, to) => control.offerAgentTools(agentId, transfer(to, [to])),
      },
      connectTree: connector<TreeControl>(control, 'openTree'),
      connectRegistry: connector<RegistryControl>(control, 'openRegistry'),
      connectKnowledge: connector<KnowledgeControl>(control, 'openKnowledge'),
      connectInspector: connector<InspectorControl>(control, 'openInspector'),
      connectEvals: connector<EvalsControl>(control, 'openEvals'),
    };
  } finally {
    clearTimeout(timer);
    worker.removeEventListener('error', onError);
  }
}

/** Lets the worker, a shared one, run code tools in this page. */
function openCells(control: Remote<Control>): void {
  const { port1, port2 } = new MessageChannel();
  const load = () => import('./cells.ts');
  const cells: PageCells = {
    start: async (...cell) => await (await load()).startCell(...cell),
    open: (code, port) =>
      void load().then(
        ({ openCell }) => openCell(code, port),
        () =>
          port.postMessage({
            error: { code: 'unavailable', message: 'The page could not load programs', retryable: true },
          }),
      ),
    end: (id) => void load().then(({ endCell }) => endCell(id)),
  };
  expose(cells, port1);
  void control.openCells(transfer(port2, [port2]));
}

/**
 * Returns what connects to one more interface of the worker, on a port of its own. The connection is made once and held: comlink closes
 * the port of a proxy that is no longer referenced, and its open calls would never end.
 */
function connector<C>(
  control: Remote<Control>,
  open: 'openTree' | 'openRegistry' | 'openKnowledge' | 'openInspector' | 'openEvals',
): () => Remote<C> {
  let connection: Remote<C> | undefined;
  return () => {
    if (connection) return connection;
    const { port1, port2 } = new MessageChannel();
    void control[open](transfer(port1, [port1]));
    return connection = wrap<C>(port2);
  };
}

/** The event of a script that was not found has no text. */
function errorText(event: Event): string {
  const text = 'message' in event ? event.message : undefined;
  return typeof text === 'string' && text !== '' ? text : 'Its script could not be loaded';
}
