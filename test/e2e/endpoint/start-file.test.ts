import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { afterAll, describe, expect, it } from 'vitest';
import { freePort } from '../../tools/servers/http-server.ts';

const root = join(import.meta.dirname, '../../..');
const folder = mkdtempSync(join(tmpdir(), 'pinnace, with a comma-'));
const file = join(folder, 'state.kv');
let stopLast = async (): Promise<void> => undefined;

/** Runs `npm start` with the file, and returns how to call the endpoint and how to stop it. */
async function start() {
  const port = await freePort();
  const child = spawn('npm', ['start'], {
    cwd: root,
    detached: true,
    env: { ...process.env, CI: 'true', PINNACE_PORT: String(port), PINNACE_KV: file },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = once(child, 'exit');
  const stop = stopLast = async () => {
    if (child.exitCode === null && child.signalCode === null) process.kill(-(child.pid ?? 0), 'SIGTERM');
    await exited;
  };
  let output = '';
  await new Promise<void>((resolve, reject) => {
    const read = (chunk: unknown): void => {
      output += String(chunk);
      if (output.includes('Press h for help, q to stop.')) resolve();
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.once('exit', () => reject(new Error(`npm start ended: ${output}`)));
  });
  const headers = {
    'authorization': `Bearer ${/Token +(\S+)/.exec(output)?.[1] ?? ''}`,
    'content-type': 'application/json',
  };
  const post = async (path: string, body: unknown) => {
    const init = { method: 'POST', headers, body: JSON.stringify(body) };
    const response = await fetch(`http://127.0.0.1:${port}${path}`, init);
    return { status: response.status, text: await response.text() };
  };
  return { post, stop };
}

afterAll(async () => {
  await stopLast();
  rmSync(folder, { recursive: true, force: true });
});

describe('npm start with PINNACE_KV', () => {
  it('keeps what was stored over a restart, and may write the file and the files beside it alone', async () => {
    const text = '# The ship\n\nThe spare key hangs behind the chart table.';
    const first = await start();
    const ingested = await first.post('/v1/data-sources/knowledge/ingest', { files: [{ name: 'ship.md', text }] });
    expect(ingested.status, ingested.text).toBe(200);
    expect(existsSync(file)).toBe(true);
    await first.stop();
    const second = await start();
    const found = await second.post('/v1/grounding/knowledge/retrieve', { query: 'Where is the spare key?' });
    expect(found.status).toBe(200);
    expect(found.text).toContain('behind the chart table');
    await second.stop();
    expect(readdirSync(folder).filter((name) => !/^state\.kv(-shm|-wal|-journal)?$/.test(name))).toEqual([]);
  }, 240_000);
});
