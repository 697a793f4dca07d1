/** The endpoint of a new app, as its start command runs it. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';

const binaries = join(import.meta.dirname, '../../../node_modules/.bin');

/** A running endpoint. */
export interface AppServer {
  readonly url: string;
  readonly token: string;
  readonly stop: () => Promise<void>;
}

/** Starts the app at a free port. */
export async function startApp(
  app: string,
  { runtime, origins = '' }: {
    readonly runtime: 'deno' | 'node';
    readonly origins?: string;
  },
): Promise<AppServer> {
  const [command = '', ...args] = await startCommand(app, runtime);
  const child = spawn(command, args, {
    cwd: app,
    env: {
      ...process.env,
      PATH: `${binaries}:${process.env['PATH']}`,
      PORT: '0',
      ORIGINS: origins,
      KV_PATH: ':memory:',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'close');
  let output = '';
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output += String(chunk);
      const [url] = /http:\/\/127\.0\.0\.1:\d+/.exec(output) ?? [];
      if (url !== undefined) resolve(url);
    });
  }
  void ended.then(() => reject(new Error(`The app did not start:\n${output}`)));
  const env = await readFile(join(app, '.env'), 'utf8');
  return {
    url: await promise,
    token: /^TOKEN=(.*)$/m.exec(env)?.[1] ?? '',
    stop: async () => {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

async function startCommand(
  app: string,
  runtime: 'deno' | 'node',
): Promise<readonly string[]> {
  const file = runtime === 'deno' ? 'deno.json' : 'package.json';
  const { scripts, tasks } = JSON.parse(
    await readFile(join(app, file), 'utf8'),
  ) as Record<
    'scripts' | 'tasks',
    { readonly start: string } | undefined
  >;
  const words = (tasks ?? scripts)?.start.split(' ') ?? [];
  if (runtime === 'node') return words;
  // Of this checkout's packages, without a network.
  return words.map((word) => word === '8000' ? '0' : word).toSpliced(
    2,
    0,
    '--node-modules-dir=manual',
  );
}
