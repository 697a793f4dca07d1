import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../../tools/servers/http-server.ts';

const root = join(import.meta.dirname, '../../..');
let port: number;
let output = '';
let press: (key: string) => void;
let stop: (whom?: 'group' | 'npm') => Promise<void>;

beforeAll(async () => {
  port = await freePort();
  const child = spawn('npm', ['start'], {
    cwd: root,
    detached: true,
    env: { ...process.env, CI: 'true', PINNACE_PORT: String(port) },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  press = (key) => void child.stdin.write(key);
  const exited = once(child, 'exit');
  stop = async (whom = 'group') => {
    const isRunning = child.exitCode === null && child.signalCode === null;
    if (isRunning) process.kill((child.pid ?? 0) * (whom === 'npm' ? 1 : -1), 'SIGTERM');
    await exited;
  };
  await new Promise<void>((resolve, reject) => {
    const read = (chunk: unknown): void => {
      output += String(chunk);
      if (output.includes('Press h for help, q to stop.')) resolve();
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.once('exit', () => reject(new Error(`npm start ended: ${output}`)));
  });
});

afterAll(() => stop());

const said = (pattern: RegExp): string => pattern.exec(output)?.[1] ?? '';

describe('npm start', () => {
  it('prints three lines, and lines to copy when h is pressed', async () => {
    const lines = output.split('\n').filter((line) => /\S/.test(line) && !line.startsWith('>'));
    expect(lines.map((line) => line.trim().split(/ +/)[0])).toEqual(['Playground', 'Endpoint', 'Token', 'Press']);
    press('h');
    await expect.poll(() => output).toContain('In the playground, select');
  });

  it('serves the playground at the address that it prints', async () => {
    const response = await fetch(said(/Playground +(\S+)/));
    expect(response.status).toBe(200);
    expect(await response.text()).toContain('<title>Pinnace</title>');
  });

  it.each(['guides/', 'runs', 'index.htm'])('answers "%s", which is no page, with 404', async (path) => {
    const response = await fetch(new URL(path, said(/Playground +(\S+)/)), { headers: { accept: 'text/html' } });
    expect(response.status).toBe(404);
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

  it('serves no file that the tools of the project keep, and no key', async () => {
    const playground = said(/Playground +(\S+)/).replace(/\/$/, '');
    const kept = join(root, 'node_modules/.cache/pinnace');
    const [file = ''] = readdirSync(kept).filter((name) => name === `ask-${port}.json`);
    const { token } = JSON.parse(readFileSync(join(kept, file), 'utf8')) as { token: string };
    expect(statSync(join(kept, file)).mode & 0o077).toBe(0);
    const paths = [join(kept, file), '/etc/hostname'];
    for (const path of paths) {
      for (const query of ['', '?raw', '?url', '?import&raw', '?inline']) {
        const response = await fetch(`${playground}/@fs${path}${query}`);
        const text = await response.text();
        expect([403, 404], `${path}${query}`).toContain(response.status);
        expect(text).not.toContain(token);
      }
    }
  });

  it('certifies the page alone: it needs the cookie that came with it, and its origin', async () => {
    const playground = said(/Playground +(\S+)/);
    const page = await fetch(playground, { headers: { accept: 'text/html' } });
    const cookie = page.headers.get('set-cookie')?.split(';')[0] ?? '';
    const { publicKey } = await crypto.subtle.generateKey('Ed25519', false, ['sign', 'verify']);
    const { kty, crv, x } = await crypto.subtle.exportKey('jwk', publicKey);
    const ask = async (headers: Record<string, string>): Promise<number> => {
      const init = { method: 'POST', body: JSON.stringify({ kty, crv, x }) };
      const all = { 'content-type': 'application/json', ...headers };
      return (await fetch(new URL('development/certificate', playground), { ...init, headers: all })).status;
    };
    const { origin } = new URL(playground);
    expect(await ask({ origin, cookie })).toBe(200);
    expect(await ask({ origin })).toBe(403);
    expect(await ask({ origin, cookie: `${cookie}x` })).toBe(403);
    expect(await ask({ origin: 'http://127.0.0.1:1', cookie })).toBe(403);
    expect(await ask({ authorization: 'Bearer guessed' })).toBe(403);
    expect(page.headers.get('access-control-allow-origin')).toBeNull();
  });

  it('stops the endpoint too, when npm alone is stopped', async () => {
    const endpoint = said(/Endpoint +(\S+)/);
    const isUp = () => fetch(`${endpoint}/v1/healthz`).then(({ ok }) => ok, () => false);
    expect(await isUp()).toBe(true);
    await stop('npm');
    await expect.poll(isUp, { timeout: 10_000 }).toBe(false);
    await expect.poll(() => existsSync(join(root, `node_modules/.cache/pinnace/ask-${port}.json`))).toBe(false);
  });
});

it('npm start stays without a terminal: with an input that has ended', async () => {
  const env = { ...process.env, CI: '', PINNACE_PORT: String(await freePort()) };
  const child = spawn('npm', ['start'], { cwd: root, detached: true, env, stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  let printed = '';
  child.stdout.on('data', (chunk: unknown) => printed += String(chunk));
  await expect.poll(() => printed).toContain('Press h for help');
  const address = /Playground +(\S+)/.exec(printed)?.[1] ?? '';
  for (let i = 0; i < 20; i++) expect((await fetch(address)).status).toBe(200);
  expect(child.exitCode).toBeNull();
  process.kill(-(child.pid ?? 0), 'SIGTERM');
  await exited;
});
