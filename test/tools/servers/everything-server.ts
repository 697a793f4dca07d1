/**
 * `@modelcontextprotocol/server-everything`: a real MCP server with tools of every kind. It starts when someone first calls it, for
 * most test runs do not.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import process from 'node:process';
import { listen, type TestServer } from './http-server.ts';

const root = join(import.meta.dirname, '../../..');

/** Returns the address of a door to it. */
export async function startEverythingServer(): Promise<TestServer> {
  const sockets = new Set<Socket>();
  let started: Promise<Running> | undefined;
  const door = createServer({ pauseOnConnect: true }, (socket) => {
    sockets.add(socket);
    started ??= start();
    started.then(({ port }) => lead(socket, port), () => socket.destroy());
  });
  return {
    url: await listen(door),
    async close() {
      for (const socket of sockets) socket.destroy();
      door.close();
      await (await started)?.stop();
    },
  };
}

function lead(socket: Socket, port: number): void {
  const server = connect(port, '127.0.0.1');
  socket.on('error', () => server.destroy()).on('close', () => server.destroy());
  server.on('error', () => socket.destroy()).on('close', () => socket.destroy());
  socket.pipe(server).pipe(socket);
}

interface Running {
  readonly port: number;
  readonly stop: () => Promise<void>;
}

/** With nothing of our environment: it has a tool that shows it. */
async function start(): Promise<Running> {
  const script = 'node_modules/@modelcontextprotocol/server-everything/dist/index.js';
  const args = ['--import', join(root, 'test/tools/loopback.ts'), script, 'streamableHttp'];
  const child = spawn(join(root, 'node_modules/.bin/node'), args, {
    cwd: root,
    env: { PORT: '0' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const stopWithUs = (): void => void child.kill();
  process.once('exit', stopWithUs);
  return {
    port: await portOf(child),
    async stop() {
      process.off('exit', stopWithUs);
      const exited = once(child, 'exit');
      if (child.kill()) await exited;
    },
  };
}

async function portOf(child: ChildProcess): Promise<number> {
  let log = '';
  return await new Promise((resolve, reject) => {
    child.stderr?.on('data', (chunk) => {
      log += String(chunk);
      const port = /listening on http:\/\/127\.0\.0\.1:(\d+)/.exec(log)?.[1];
      if (port !== undefined) resolve(Number(port));
    });
    child.once('exit', () => reject(new Error(`The server did not start: ${log}`)));
  });
}
