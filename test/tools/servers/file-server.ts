/** A plain static file server under any path. */

import { readFile, stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join } from 'node:path';
import { closeServer, listen, type TestServer } from './http-server.ts';

interface FileServer extends TestServer {
  /** The methods and paths of requests, relative to the folder. */
  readonly requests: readonly string[];
  /** Serves the files of another folder from now on. */
  serve(folder: string): void;
}

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
};

/** Serves a folder under this path, which ends with a slash. */
export async function startFileServer(
  first: string,
  { path = '/', headers = {} }: { readonly path?: string; readonly headers?: Readonly<Record<string, string>> } = {},
): Promise<FileServer> {
  let folder = first;
  const requests: string[] = [];
  async function find(url: string): Promise<{ readonly name: string; readonly bytes: Uint8Array } | undefined> {
    if (!url.startsWith(path)) return undefined;
    const name = url.slice(path.length) || 'index.html';
    const file = join(folder, name);
    const isFile = await stat(file).then((found) => found.isFile(), () => false);
    return isFile ? { name, bytes: await readFile(file) } : undefined;
  }
  const server = createServer((request, response) => {
    const url = (request.url ?? '').replace(/[?#].*/, '');
    requests.push(`${request.method} ${url.slice(path.length)}`);
    void find(url).then((found) => {
      if (!found) return response.writeHead(404, { 'content-type': 'text/plain' }).end('Not found');
      const type = types[extname(found.name)] ?? 'application/octet-stream';
      return response.writeHead(200, { 'content-type': type, ...headers }).end(found.bytes);
    });
  });
  const origin = await listen(server);
  return { url: origin + path, requests, serve: (other) => void (folder = other), close: () => closeServer(server) };
}
