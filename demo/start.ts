/** What `npm start` does: the playground and the endpoint, side by side, on this machine alone. */

import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import process from 'node:process';
import { createServer } from 'vite';
import {
  askAccessFile,
  developmentAudience,
  developmentIssuer,
  writeAskAccess,
} from './development/development-issuer.ts';
import { developmentIssuerPlugin } from './development/issuer-plugin.ts';
import { helpText, portProblem, readStartOptions } from './development/start-options.ts';

const options = readStartOptions(process.argv.slice(2), process.env);
if (options.type === 'help') {
  console.log(options.text);
  process.exit(0);
}
if (options.type === 'wrong') giveUp(options.text, 2);
const { port, token } = options;
const problem = await portProblem(port);
if (problem !== undefined) giveUp(problem, 1);
const endpoint = `http://127.0.0.1:${port}`;

let isStopping = false;

/** What the endpoint loads besides: see `demo/server.ts`. */
const extension = options.extension === undefined ? [] : [options.extension];

const issuer = await developmentIssuer();
const askToken = crypto.randomUUID();
const vite = await createServer({
  configFile: `${import.meta.dirname}/../vite.config.ts`,
  appType: 'mpa', // a path that is no page is not found; as a page, it would look for its worker there
  logLevel: 'warn',
  plugins: [developmentIssuerPlugin(issuer, { askToken })],
});
await vite.listen();
const playground = vite.resolvedUrls?.local[0] ?? '';
await writeAskAccess(port, { issuer: new URL('development/certificate', playground).href, token: askToken });
process.once('exit', () => rmSync(askAccessFile(port), { force: true }));

/** A file database needs access to the two files that SQLite writes beside it. */
const kvPath = process.env['PINNACE_KV'];
const kvFiles = kvPath === undefined
  ? []
  : ['', '-shm', '-wal', '-journal'].map((end) => `${kvPath}${end}`.replaceAll(',', ',,')); // Deno splits its lists at a comma

const args = [
  'serve',
  '--quiet',
  '--no-prompt',
  '--allow-net',
  '--allow-sys', // the guarded egress reads the machine's interfaces
  '--allow-env',
  '--allow-run', // code tools run in a process without any permission
  `--allow-read=${['/proc', ...extension, ...kvFiles].join(',')}`, // and their memory is measured
  ...(kvFiles.length > 0 ? [`--allow-write=${kvFiles.join(',')}`] : []),
  '--host=127.0.0.1',
  `--port=${port}`,
  'demo/server.ts',
];
const deno = spawn('deno', args, {
  cwd: `${import.meta.dirname}/..`,
  env: {
    ...process.env,
    PINNACE_TOKEN: token,
    PINNACE_ISSUERS: JSON.stringify([issuer.trusted]),
    PINNACE_AUDIENCE: developmentAudience,
    PINNACE_ORIGINS: playground.replace(/\/$/, ''),
    PINNACE_AUTHORITIES: `127.0.0.1:${port},localhost:${port}`,
  },
  stdio: ['ignore', 'inherit', 'inherit'],
  detached: true, // a group of its own: `deno` may be npm's shim, which hands no signal on
});
deno.on('exit', (code) => void stop(code ?? 1));
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => void stop(0));
// npm ends its shell on a signal, and the shell does not pass it on: the parent process has then exited.
const startedBy = process.ppid;
if (process.env['npm_lifecycle_event'] !== undefined) {
  setInterval(() => process.ppid === startedBy || void stop(0), 250).unref();
}
process.once('exit', () => signalEndpoint('SIGKILL')); // already ended, unless this process crashes

await untilServed();
console.log(`
  Playground  ${playground}
  Endpoint    ${endpoint}
  Token       ${token}

  Press h for help, q to stop.
`);
readKeys();
if (process.stdout.isTTY && !process.env['CI']) vite.openBrowser();

/** Reads single keys of a terminal, or what is piped in. */
function readKeys(): void {
  const { stdin } = process;
  if (stdin.isTTY) stdin.setRawMode(true);
  stdin.removeAllListeners('end'); // Vite exits there: without a terminal the input may have ended at the start
  stdin.on('data', (keys) => {
    for (const key of String(keys)) {
      if (key === 'h') console.log(helpText({ playground, endpoint, port, token }));
      if (key === 'q' || key === '\u0003') void stop(0); // a terminal in raw mode sends Ctrl+C as a key
    }
  });
}

async function untilServed(): Promise<void> {
  for (let tries = 0; tries < 300; tries++) {
    const up = await fetch(`${endpoint}/v1/healthz`).then(({ ok }) => ok, () => false);
    if (up) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  console.error(`The endpoint does not answer at ${endpoint} within 30 seconds.`);
  await stop(1);
}

function giveUp(why: string, code: number): never {
  console.error(why);
  process.exit(code);
}

/** Stops both. The endpoint ends its runs first, which takes up to five seconds: then it is killed. */
async function stop(code: number): Promise<void> {
  if (isStopping) return;
  isStopping = true;
  const exited = new Promise<void>((resolve) => {
    if (deno.exitCode !== null || deno.signalCode !== null) resolve();
    else deno.once('exit', () => resolve());
  });
  signalEndpoint('SIGTERM');
  const late = setTimeout(() => signalEndpoint('SIGKILL'), 6_000);
  await Promise.all([vite.close(), exited]);
  clearTimeout(late);
  process.exit(code);
}

/** Signals the endpoint's group; on Windows, which has none, the process. */
function signalEndpoint(signal: 'SIGTERM' | 'SIGKILL'): void {
  try {
    if (process.platform === 'win32') deno.kill(signal);
    else process.kill(-(deno.pid ?? 0), signal);
  } catch {
    // The process has already ended.
  }
}
