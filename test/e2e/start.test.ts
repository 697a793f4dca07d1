import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import process from 'node:process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../tools/http-server.ts';

const root = join(import.meta.dirname, '../..');
let port: number;
let output = '';
let stop: () => Promise<void>;

beforeAll(async () => {
  port = await freePort();
  const child = spawn('npm', ['start'], {
    cwd: root,
    detached: true,
    env: { ...process.env, CI: 'true', PINNACE_PORT: String(port) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = once(child, 'exit');
  stop = async () => {
    if (child.exitCode === null) process.kill(-(child.pid ?? 0), 'SIGTERM');
    await exited;
  };
  await new Promise<void>((resolve, reject) => {
    const read = (chunk: unknown): void => {
      output += String(chunk);
      if (output.includes('Stop both with Ctrl+C.')) resolve();
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.once('exit', () => reject(new Error(`npm start ended: ${output}`)));
  });
});

afterAll(() => stop());

const said = (pattern: RegExp): string => pattern.exec(output)?.[1] ?? '';

describe('npm start', () => {
  it('serves the playground at the address that it prints', async () => {
    const response = await fetch(said(/Playground +(\S+)/));
    expect(response.status).toBe(200);
    expect(await response.text()).toContain('<title>Pinnace</title>');
  });

  it('serves the endpoint, which answers the curl line that it prints', async () => {
    const headers = [...output.matchAll(/-H '([\w-]+): ([^']+)'/g)].map(([, name = '', value = '']) =>
      [name, value] as const
    );
    const response = await fetch(said(/curl -N (\S+)/), {
      method: 'POST',
      headers: Object.fromEntries(headers),
      body: said(/-d '(.+)'/),
    });
    expect(response.status).toBe(200);
    expect(await response.text()).toContain('"value":42');
  });

  it('answers npm run ask, which signs its request', async () => {
    const child = spawn('npm', ['run', '--silent', 'ask', '--', 'What is 6 * 7?'], {
      cwd: root,
      env: { ...process.env, PINNACE_PORT: String(port) },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let answer = '';
    child.stdout.on('data', (chunk) => (answer += String(chunk)));
    await once(child, 'close');
    expect(child.exitCode).toBe(0);
    expect(answer).toContain('42');
  });
});
