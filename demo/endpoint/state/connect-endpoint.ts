/** Connects the page to a Pinnace endpoint, through a worker of its own that holds the key and signs. */

import { proxy, type Remote, transfer, wrap } from 'comlink';
import { fromData } from '../../../src/base/errors.ts';
import type { RemoteEndpoint } from '../../chat/state/transports.ts';
import type { ConsoleControl } from '../../control/server-control.ts';
import type { EndpointControl } from '../../control/page-control.ts';
// oxlint-disable-next-line import/default -- Vite makes this module: it exports the address
import workerUrl from '../worker/endpoint-worker.ts?worker&url';
import { ownScript } from '../../control/trusted.ts';
import type { Transport } from '../../chat/state/run.ts';

interface ConnectEndpointOptions {
  /** Makes the page's end of a port into a transport. */
  readonly connectRuntime: (port: MessagePort) => Transport;
  readonly startWorker?: () => Remote<EndpointControl>;
}

/** Returns what connects to an endpoint by its address. The worker is started with the first. */
export function createEndpointConnector(
  { connectRuntime, startWorker = startEndpointWorker }: ConnectEndpointOptions,
): (endpoint: string) => Promise<RemoteEndpoint> {
  let worker: Remote<EndpointControl> | undefined;
  return async (url) => {
    const control = worker ??= startWorker();
    const { port1, port2 } = new MessageChannel();
    const refusal = await control.open({ url, issuer: issuerUrl() }, transfer(port1, [port1]));
    if (refusal) throw fromData(refusal);
    return {
      ...connectRuntime(port2),
      run(requested, { onNews, signal }) {
        signal.addEventListener('abort', () => void control.leaveRun(), { once: true });
        return control.run(url, requested, proxy(onNews));
      },
      console: () => openConsole(control, url),
    };
  };
}

async function openConsole(control: Remote<EndpointControl>, url: string): Promise<ConsoleControl> {
  const { port1, port2 } = new MessageChannel();
  const refusal = await control.openConsole(url, transfer(port1, [port1]));
  if (refusal) throw fromData(refusal);
  return wrap<ConsoleControl>(port2);
}

function startEndpointWorker(): Remote<EndpointControl> {
  const worker = new Worker(ownScript(workerUrl), { type: 'module', name: 'endpoint' });
  return wrap<EndpointControl>(worker);
}

/** Where `npm start` certifies the keys of its own page. */
function issuerUrl(): string {
  return new URL('development/certificate', document.baseURI).href;
}
