/** How long the endpoint takes from its start to its first answer, bundled and as modules, beside an empty server and one of Hono. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { bundleEndpoint } from '../../../demo/development/bundle-endpoint.ts';
import { median, report, type Row } from '../measure.ts';

const root = join(import.meta.dirname, '../../..');
// Outside the installed packages: Deno compiles no TypeScript there.
const folder = await mkdtemp(join(tmpdir(), 'cold-start-'));
const rounds = 9;

const scripts = {
  'an empty server': join(folder, 'empty.ts'),
  'Hono, bundled': join(folder, 'hono.js'),
  'the bundled endpoint': join(folder, 'endpoint.js'),
  'the endpoint, modules': join(root, 'demo/server.ts'),
};

/** Seconds from the start of the process to the first byte of an answer. */
async function startSeconds(script: string): Promise<number> {
  const start = performance.now();
  const args = ['serve', '--quiet', '--no-prompt', '-A', '--unstable-kv', '--host=127.0.0.1', '--port=8791', script];
  const child = spawn('deno', args, {
    cwd: root,
    stdio: 'ignore',
    env: { ...process.env, PINNACE_KV: ':memory:', PINNACE_TOKEN: 'x'.repeat(20) },
  });
  while (!await fetch('http://127.0.0.1:8791/v1/healthz').then(() => true, () => false)) {
    if (performance.now() - start > 20_000) throw new Error(`${script} does not start`);
    await new Promise((resolve) => setTimeout(resolve, 4));
  }
  const seconds = (performance.now() - start) / 1000;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
  return seconds;
}

await writeFile(scripts['an empty server'], `export default { fetch: () => new Response('ok') };\n`);
await bundleEndpoint(scripts['Hono, bundled'], join(import.meta.dirname, 'hono.ts'));
await bundleEndpoint(scripts['the bundled endpoint']);

const times: Record<string, number[]> = {};
for (let round = 0; round <= rounds; round++) {
  for (const [name, script] of Object.entries(scripts)) {
    const seconds = await startSeconds(script);
    if (round > 0) (times[name] ??= []).push(seconds); // the first warms the caches of code
  }
}
const rows = Object.entries(times).map(([name, seconds]): Row => {
  const value = median(seconds);
  const bar = name.startsWith('the bundled') && { bar: '<= 0.15 s', met: value <= 0.15 };
  return { figure: `Cold start, ${name}`, value: `${value.toFixed(3)} s`, ...bar };
});
report('Cold start on Deno', rows);
await rm(folder, { recursive: true });
process.exit(0);
