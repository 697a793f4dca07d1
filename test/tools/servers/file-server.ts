/** A plain file server, as anybody has one: it knows nothing of the page, and may lie under any path. */

import { readFile, stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join } from 'node:path';
import { closeServer, listen, type TestServer } from './http-server.ts';

/** The server, and what it was asked. */
interface FileServer extends TestServer {
  /** Paths below the folder that were asked for, with their methods. */
  readonly asked: readonly string[];
  /** Gives the files of another folder from now on. */
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
  const asked: string[] = [];
  async function find(url: string): Promise<{ readonly name: string; readonly bytes: Uint8Array } | undefined> {
    if (!url.startsWith(path)) return undefined;
    const name = url.slice(path.length) || 'index.html';
    const file = join(folder, name);
    const isFile = await stat(file).then((found) => found.isFile(), () => false);
    return isFile ? { name, bytes: await readFile(file) } : undefined;
  }
  const server = createServer((request, response) => {
    const url = (request.url ?? '').replace(/[?#].*/, '');
    asked.push(`${request.method} ${url.slice(path.length)}`);
    void find(url).then((found) => {
      if (!found) return response.writeHead(404, { 'content-type': 'text/plain' }).end('Not found');
      const type = types[extname(found.name)] ?? 'application/octet-stream';
      return response.writeHead(200, { 'content-type': type, ...headers }).end(found.bytes);
    });
  });
  const origin = await listen(server);
  return { url: origin + path, asked, serve: (other) => void (folder = other), close: () => closeServer(server) };
}
