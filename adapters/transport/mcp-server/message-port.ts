/** MCP's messages over a `MessagePort`, for either side of it: plain JSON goes in, and a mark says that the other side is gone. */

import type { JSONRPCMessage, Transport } from './sdk.ts';

/** What is sent when a side closes: a port does not tell by itself. */
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
        else transport.onmessage?.(data as JSONRPCMessage); // the SDK looks at every message before it believes it
      });
      port.addEventListener('messageerror', () => transport.onerror?.(new Error('A message could not be read')));
      port.start();
    },
    async send(message) {
      if (closed) throw new Error('Cannot send: the connection is closed');
      // What is no JSON would pass a port, and break the peers that are behind something else.
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
