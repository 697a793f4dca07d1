/** A server that answers with the reports of simulations in Node, for tests in every runtime. */

import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { closeServer, corsHeaders, listen, type TestServer } from './http-server.ts';

const script = join(import.meta.dirname, '../print-simulation.ts');

/** Starts the server on 127.0.0.1. It simulates at the first request. */
export async function startReportServer(): Promise<TestServer> {
  let reports: Promise<string> | undefined;
  const server = createServer((_, response) => {
    reports ??= promisify(execFile)('node', [script]).then(({ stdout }) => stdout);
    reports.then(
      (text) => response.writeHead(200, corsHeaders).end(text),
      (error: unknown) => response.writeHead(500, corsHeaders).end(String(error)),
    );
  });
  return { url: await listen(server), close: () => closeServer(server) };
}
