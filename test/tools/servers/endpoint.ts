/** Starts the sample endpoint as its users do: `deno serve`, a process of its own, with no more permissions than it needs. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import process from 'node:process';

const root = join(import.meta.dirname, '../../..');

/** An endpoint in a process of its own. */
export interface EndpointProcess {
  readonly url: string;
  readonly token: string;
  /** What it has printed so far. */
  output(): string;
  /** Sends a signal, and does not wait. */
  signal(name: 'SIGSTOP' | 'SIGCONT'): void;
  /** Stops it, or kills it without notice. */
  stop(signal?: 'SIGTERM' | 'SIGKILL'): Promise<void>;
}

/** Starts the endpoint; `script` is the module to serve, `env` is added to its environment, `reaches` to the addresses it may use. */
export async function startEndpoint(
  { script = 'demo/server.ts', env = {}, permissions = [] as readonly string[], reaches = [] as readonly string[] } =
    {},
): Promise<EndpointProcess> {
  const token = crypto.randomUUID();
  const args = [
    'serve',
    '--no-prompt',
    `--allow-net=${['127.0.0.1', ...reaches].join(',')}`,
    '--allow-sys=hostname',
    '--allow-env',
    ...permissions,
    '--host',
    '127.0.0.1',
    '--port',
    '0',
    script,
  ];
  const child = spawn('deno', args, {
    cwd: root,
    detached: true,
    env: { ...process.env, PINNACE_TOKEN: token, PINNACE_KV: ':memory:', ...env },
  });
  // Apart: a line of one is never cut by a line of the other.
  let [printed, log] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text));
  const url = await new Promise<string>((resolve, reject) => {
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      log += text;
      const found = /http:\/\/127\.0\.0\.1:\d+/.exec(log)?.[0];
      if (found) resolve(found);
    });
    child.once('exit', () => reject(new Error(`The endpoint did not start: ${log}`)));
  });
  return {
    url,
    token,
    signal: (name) => void process.kill(-(child.pid ?? 0), name),
    output: () => `${printed}\n${log}`,
    async stop(signal = 'SIGTERM') {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      process.kill(-(child.pid ?? 0), signal); // the group: `deno` may be npm's shim, which hands no signal on
      await exited;
    },
  };
}
