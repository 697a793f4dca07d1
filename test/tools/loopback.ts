/**
 * Keeps a server program of others on this machine: loaded before it (`node --import`), it binds whatever would listen on every
 * address to 127.0.0.1, and prints `listening on <url>` to the standard error.
 */

import { type AddressInfo, Server } from 'node:net';
import process from 'node:process';

/** Safe: Node's own servers take a handle in this way. The handle exists at once, for programs that read their port at once. */
const net = await import('node:net') as unknown as {
  readonly ['_createServerHandle']: (address: string, port: number, family: number) => object | number;
};

type Listen = (this: Server, ...args: unknown[]) => Server;

// oxlint-disable-next-line typescript/unbound-method -- it is called on the server that it was meant for
const listen = Server.prototype.listen as Listen;

/** Safe: it takes what the original takes, and hands it on. */
Server.prototype.listen = function (this: Server, ...args: unknown[]): Server {
  this.once('listening', () => {
    const { port } = this.address() as AddressInfo; // safe: these programs listen on ports
    process.stderr.write(`listening on http://127.0.0.1:${port}\n`);
  });
  const port = barePortOf(args);
  if (port === undefined) return listen.apply(this, args);
  const handle = net['_createServerHandle']('127.0.0.1', port, 4);
  if (typeof handle === 'number') throw new Error(`Cannot listen on 127.0.0.1:${port}: error ${handle}`);
  const last = args.at(-1);
  return listen.apply(this, [{ _handle: handle }, ...(typeof last === 'function' ? [last] : [])]);
} as Server['listen'];

/** The port, where no host is given with it. */
function barePortOf([first, second]: readonly unknown[]): number | undefined {
  if (typeof first === 'number' || typeof first === 'string') {
    return typeof second === 'string' || !/^\d+$/.test(String(first)) ? undefined : Number(first);
  }
  const { port, host, path, fd, _handle } = (first ?? {}) as Readonly<Record<string, unknown>>;
  const isBare = [host, path, fd, _handle].every((place) => place === undefined);
  return isBare && (typeof port === 'number' || typeof port === 'string') ? Number(port) : undefined;
}
