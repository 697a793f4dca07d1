/** MCP's messages over a `MessagePort`, for either side: plain JSON, and a marker when a side closes. */

import type { JSONRPCMessage, Transport } from './sdk.ts';

/** The marker that a closing side sends: a port has no close event everywhere. */
const closeMark = null;

/**
 * Creates the transport of one side, for a `Client` or a `Server` of the SDK.
 *
 * @example
 * const { port1, port2 } = new MessageChannel(); // port2 goes to the worker, by transfer
 * await new Client({ name: 'page', version: '1' }).connect(messagePortTransport(port1));
 */
export function messagePortTransport(port: MessagePort): Transport {
  let closed = false;
  const end = (): void => {
    if (closed) return;
    closed = true;
    port.close();
    transport.onclose?.();
  };
  const transport: Transport = {
    async start() {
      port.addEventListener('message', ({ data }: MessageEvent<unknown>) => {
        if (data === closeMark) end();
        else transport.onmessage?.(data as JSONRPCMessage); // the SDK validates every message
      });
      port.addEventListener('messageerror', () => transport.onerror?.(new Error('A message could not be read')));
      port.start();
    },
    async send(message) {
      if (closed) throw new Error('Cannot send: the connection is closed');
      // A port also passes values that are not JSON, but peers behind other transports would fail.
      port.postMessage(JSON.parse(JSON.stringify(message)));
    },
    async close() {
      if (closed) return;
      port.postMessage(closeMark);
      end();
    },
  };
  return transport;
}
